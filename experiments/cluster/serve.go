package cluster

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/strategylab/strategylab/experiments"
)

// ServeConfig is the settings of a worker.
type ServeConfig struct {
	Cores   int    // leagues to play in parallel, at least 1
	Name    string // of this machine, for people
	Version string // of this program, for people
	// Open returns the driver of a job. It fetches code with source, by the SHA-256 in
	// Job.Sources. Its error is the reason that people read. close is called after
	// the last chunk.
	Open func(ctx context.Context, job Job, source func(sha string) ([]byte, error)) (driver experiments.Driver, close func() error, err error)
	// MaxTime bounds the time of one chunk; default DefaultMaxTime.
	MaxTime time.Duration
	// MaxCode bounds the size of one source, in bytes; default DefaultMaxCode.
	MaxCode int
	// Played is called after each chunk; it may be nil. It must be safe for concurrent
	// use.
	Played func(leagues int)

	only *Coordinator // whose run is played, and no other; nil for all
}

// Defaults of ServeConfig.
const (
	DefaultMaxTime = 10 * time.Minute
	DefaultMaxCode = 8 << 20
)

// workerServer is a worker.
type workerServer struct {
	link   *Link
	config ServeConfig
	key    *identity
	code   *cache
	cores  chan struct{} // holds a token for each free core
	group  sync.WaitGroup

	leagues atomic.Int64
	mu      sync.Mutex
	runs    map[string]*served
	over    map[string]bool // runs that have ended: somebody may repeat that they play
	chunks  map[string]bool // that it has, and whether it plays them
	refuses map[string]string
	warned  map[string]bool
	meter   meter
}

// Serve plays chunks of all runs of a broker until ctx is done, or until the broker
// refuses it for good. No goroutine outlives the call.
func (l *Link) Serve(ctx context.Context, c ServeConfig) error {
	c.MaxTime, c.MaxCode, c.Cores = cmp.Or(c.MaxTime, DefaultMaxTime), cmp.Or(c.MaxCode, DefaultMaxCode), min(c.Cores, mostCores)
	s := &workerServer{
		link: l, config: c, key: newIdentity(), code: newCache(l, max(c.MaxCode, MaxJob)), cores: make(chan struct{}, c.Cores),
		runs: make(map[string]*served), over: make(map[string]bool), chunks: make(map[string]bool), refuses: make(map[string]string), warned: make(map[string]bool),
	}
	for range c.Cores {
		s.cores <- struct{}{}
	}
	if own := c.only; own != nil {
		s.code.add(own.code, own.object)
	} else if err := s.prepare(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	err := s.follow(ctx)
	cancel()
	s.group.Wait()
	s.tell(true) // so that others get its chunks at once
	if s.link.conn.IsConnected() {
		_ = s.link.conn.FlushTimeout(time.Second) // they get them later otherwise
	}
	return err
}

// tell says what this worker does.
func (s *workerServer) tell(leaves bool) {
	s.mu.Lock()
	defer s.mu.Unlock() // until it is published, so that messages stay in order
	p := Presence{
		ID: s.key.id, Seq: s.key.seq.Add(1), Name: s.config.Name, Cores: s.config.Cores, Protocol: Protocol, Version: s.config.Version,
		Chunks: slices.Sorted(maps.Keys(s.chunks)), Leagues: s.leagues.Load(), Refuses: s.refuses, Leaves: leaves,
	}
	for part, playing := range s.chunks {
		if playing {
			p.Playing = append(p.Playing, part)
		}
	}
	p.InFlight = len(p.Playing)
	if time.Since(s.meter.at) >= announceEvery/2 {
		s.meter.add(time.Now(), p.Leagues)
	}
	p.Rate = s.meter.rate
	for run, r := range s.runs {
		if r.ready.Load() {
			p.Plays = append(p.Plays, run)
		}
	}
	s.link.tell(s.key, p, "worker", s.key.id)
}

// every is the interval of tell: four times in the shortest AckWait of a run.
func (s *workerServer) every() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := announceEvery
	for _, r := range s.runs {
		d = min(d, max(r.run.AckWait/4, 20*time.Millisecond))
	}
	return d
}

// prepare waits for the broker, and sees to it that it has the buckets. Code that it cannot
// keep keeps this worker from the runs that need it, and from no others.
func (s *workerServer) prepare(ctx context.Context) error {
	for {
		err := patiently(ctx, func() error { return s.link.prepare(ctx) })
		if err == nil || ctx.Err() != nil {
			return nil
		}
		select {
		case <-s.link.lost:
			return connectError(s.link.config.URL, cmp.Or(s.link.conn.LastError(), nats.ErrConnectionClosed))
		default:
		}
		switch connected := s.link.conn.IsConnected(); {
		case connected && permanent(err):
			return err
		case connected:
			s.warn("prepare", "the broker cannot keep plans and scripts now: %s", plain(err.Error(), 2*mostText))
			return nil
		case !pause(ctx, 100*time.Millisecond):
			return nil
		}
	}
}

// follow starts and ends the service of runs as their coordinators come and go, until ctx
// is done.
func (s *workerServer) follow(ctx context.Context) error {
	for words, f := range map[[2]string]func(*nats.Msg){
		{"run", "*"}:       func(m *nats.Msg) { s.hear(ctx, m) },
		{"work", s.key.id}: s.assign,
	} {
		sub, err := s.link.conn.Subscribe(s.link.subject(words[:]...), f)
		if err != nil {
			return s.link.explain(err)
		}
		defer func() { _ = sub.Unsubscribe() }() // the connection may be gone
	}
	asked, ping, err := s.link.pings()
	if err != nil {
		return s.link.explain(err)
	}
	defer func() { _ = ping.Unsubscribe() }()
	s.link.ping() // so that coordinators say what there is
	for told := (time.Time{}); pause(ctx, pingGap); {
		wait := time.NewTimer(time.Until(told.Add(s.every())))
		select {
		case <-ctx.Done():
		case <-asked:
		case <-wait.C:
		case <-s.link.lost:
			return connectError(s.link.config.URL, cmp.Or(s.link.conn.LastError(), nats.ErrConnectionClosed))
		}
		wait.Stop()
		s.expire()
		told = time.Now()
		s.tell(false)
	}
	return nil
}

// hear hears of a run.
func (s *workerServer) hear(ctx context.Context, m *nats.Msg) {
	a, ok := hearRun(m)
	if !ok {
		if _, err := parse(m, &a); err == nil && a.Protocol != Protocol && a.Protocol > 0 {
			s.warn(a.Run, "cannot play run %s: %v", plain(a.Run, mostText), versionsError(a, s.config.Version))
		}
		return
	}
	if own := s.config.only; own != nil && a.Run != own.Run() {
		return
	}
	s.mu.Lock()
	r := s.runs[a.Run]
	switch {
	case r != nil && a.Seq <= r.run.Seq: // somebody repeats what it said before
	case r != nil && a.Over:
		if len(s.over) >= mostMet {
			clear(s.over)
		}
		s.over[a.Run] = true
		s.end(r)
	case r != nil:
		r.run.Seq, r.heard = a.Seq, time.Now()
	case !a.Over && !s.over[a.Run] && s.room():
		r = newServed(ctx, s, a)
		s.runs[a.Run] = r
		s.group.Go(r.serve)
	}
	s.mu.Unlock()
}

// end ends the service of a run. The caller holds mu.
func (s *workerServer) end(r *served) {
	delete(s.runs, r.run.Run)
	delete(s.refuses, r.run.Run)
	r.cancel()
}

// idle is how long a run may be without a chunk before another may have its place.
const idle = 5 * announceEvery

// room reports whether there is a place for another run. If need be, it ends the one that has
// been without a chunk for the longest time. The caller holds mu.
func (s *workerServer) room() bool {
	if len(s.runs) < mostRuns {
		return true
	}
	oldest := slices.MinFunc(slices.Collect(maps.Values(s.runs)), func(a, b *served) int { return a.used.Compare(b.used) })
	if time.Since(oldest.used) < idle {
		return false
	}
	s.end(oldest)
	return true
}

// warn prints a note once for each key, for the first few keys.
func (s *workerServer) warn(key, format string, args ...any) {
	s.mu.Lock()
	tell := !s.warned[key] && len(s.warned) < mostRuns
	if tell {
		s.warned[key] = true
	}
	s.mu.Unlock()
	if tell {
		s.link.config.Note(format, args...)
	}
}

// forgotten is how long a run is kept of which nothing is heard.
const forgotten = 15 * announceEvery

// expire ends runs whose coordinators are gone. It does not count while the broker is away.
func (s *workerServer) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	connected := s.link.conn.IsConnected()
	for _, r := range s.runs {
		switch {
		case !connected:
			r.heard = time.Now()
		case time.Since(r.heard) > forgotten:
			s.end(r)
		}
	}
}

// assign hears of a chunk from a coordinator.
func (s *workerServer) assign(m *nats.Msg) {
	var a assignment
	if _, err := parse(m, &a); err != nil {
		return
	}
	s.mu.Lock()
	r := s.runs[a.Run]
	s.mu.Unlock()
	if r == nil || open(m, idOfRun(a.Run), &a) != nil {
		return // somebody else's
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, has := s.chunks[a.Part]
	if a.Seq <= r.seq || has {
		return
	}
	r.seq, r.used = a.Seq, time.Now()
	if a.Aside != "" {
		s.refuses[a.Run] = "it was put aside"
		r.ready.Store(false)
		s.group.Go(func() {
			s.link.config.Note("run %s has put this worker aside: %s; check the machine and the program", a.Run, plain(a.Aside, 2*mostText))
		})
		r.cancel()
		return
	}
	select {
	case r.queue <- a:
		s.chunks[a.Part] = false
	default: // more than a coordinator sends
	}
}

// refuse tells why this worker does not play a run; empty if it does.
func (s *workerServer) refuse(run, why string) {
	s.mu.Lock()
	if s.refuses[run] = plain(why, 2*mostText); why == "" || s.runs[run] == nil {
		delete(s.refuses, run)
	}
	s.mu.Unlock()
	s.tell(false)
}

// versionsError says that this worker and a coordinator do not fit each other.
func versionsError(a announcement, own string) error {
	return fmt.Errorf("it speaks version %d of the cluster's protocol (%s), and the experiment version %d (%s); play with one version on all machines",
		Protocol, own, a.Protocol, a.Version)
}
