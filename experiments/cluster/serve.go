package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

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
	// Only plays this run and no other; empty means all.
	Only string
	// Played is called after each chunk; it may be nil. It must be safe for concurrent
	// use.
	Played func(leagues int)
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
	id     string
	code   *cache
	cores  chan struct{} // holds a token for each free core
	group  sync.WaitGroup

	leagues atomic.Int64
	mu      sync.Mutex
	runs    map[string]*served
	chunks  map[string]bool // that are being played
	refuses map[string]string
	meter   meter
}

// Serve plays chunks of all runs of a broker until ctx is done, or until the broker
// refuses it for good. No goroutine outlives the call.
func (l *Link) Serve(ctx context.Context, c ServeConfig) error {
	c.MaxTime, c.MaxCode = cmp.Or(c.MaxTime, DefaultMaxTime), cmp.Or(c.MaxCode, DefaultMaxCode)
	s := &workerServer{
		link: l, config: c, id: random(4), code: newCache(l, max(c.MaxCode, MaxJob)), cores: make(chan struct{}, c.Cores),
		runs: make(map[string]*served), chunks: make(map[string]bool), refuses: make(map[string]string),
	}
	for range c.Cores {
		s.cores <- struct{}{}
	}
	ctx, cancel := context.WithCancel(ctx)
	ping, err := l.conn.Subscribe(l.subject("ping"), func(*nats.Msg) { s.tell() })
	if err != nil {
		cancel()
		return l.explain(err)
	}
	s.group.Go(func() { s.announce(ctx) })
	err = s.follow(ctx)
	cancel()
	s.group.Wait()
	_ = ping.Unsubscribe() // the connection may be gone
	return err
}

// announce says every few seconds what this worker does.
func (s *workerServer) announce(ctx context.Context) {
	tick := time.NewTicker(announceEvery)
	defer tick.Stop()
	for {
		s.tell()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *workerServer) tell() {
	s.mu.Lock()
	p := Presence{
		ID: s.id, Name: s.config.Name, Cores: s.config.Cores, Protocol: Protocol, Version: s.config.Version, InFlight: len(s.chunks),
		Chunks: slices.Sorted(maps.Keys(s.chunks)), Leagues: s.leagues.Load(), Refuses: maps.Clone(s.refuses),
	}
	if time.Since(s.meter.at) >= announceEvery/2 {
		s.meter.add(time.Now(), p.Leagues)
	}
	p.Rate = s.meter.rate
	for run, r := range s.runs {
		if r.ready.Load() {
			p.Plays = append(p.Plays, run)
		}
	}
	s.mu.Unlock()
	s.link.tell(p, "worker", s.id)
}

// follow starts and ends the service of runs as they come and go, until ctx is done.
func (s *workerServer) follow(ctx context.Context) error {
	for {
		err := s.followOnce(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-s.link.lost:
			return connectError(s.link.config.URL, cmp.Or(s.link.conn.LastError(), nats.ErrConnectionClosed))
		default:
		}
		if err != nil && !gone(err) && s.link.conn.IsConnected() && permanent(err) {
			return err
		}
		if !pause(ctx, 100*time.Millisecond) {
			return nil
		}
	}
}

// permanent reports whether an error does not end by waiting.
func permanent(err error) bool {
	return errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) ||
		errors.Is(err, nats.ErrPermissionViolation)
}

// followOnce follows the bucket of runs until it, or the connection, is lost.
func (s *workerServer) followOnce(ctx context.Context) error {
	back := s.link.reconnection()
	if err := s.link.prepare(ctx); err != nil {
		return err
	}
	runs, err := s.link.js.KeyValue(ctx, s.link.store("runs"))
	if err != nil {
		return err
	}
	changes, err := runs.WatchAll(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = changes.Stop() }() // the bucket may be gone
	present := make(map[string]bool)
	filled := false // all runs of now have come
	check := time.NewTicker(announceEvery)
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.link.lost:
			return nil
		case <-back: // a broker that was killed has forgotten who watches
			return nil
		case <-check.C:
			// A broker that lost its disk does not say so to a watcher.
			if _, err := runs.Status(ctx); gone(err) {
				return err
			}
		case e, ok := <-changes.Updates():
			switch {
			case !ok:
				return nil
			case e == nil:
				filled = true
				s.keepOnly(present)
			case e.Operation() != jetstream.KeyValuePut:
				s.end(e.Key())
			default:
				var a announcement
				if json.Unmarshal(e.Value(), &a) != nil || a.Run != e.Key() {
					continue
				}
				if !filled {
					present[a.Run] = true
				}
				s.begin(ctx, a)
			}
		}
	}
}

// begin serves a run that was announced, or hears that its announcement has changed.
func (s *workerServer) begin(ctx context.Context, a announcement) {
	if s.config.Only != "" && a.Run != s.config.Only {
		return
	}
	if slices.Contains(a.Aside, s.id) {
		s.end(a.Run)
		s.refuse(a.Run, "its records were impossible")
		s.link.config.Note("run %s has put this worker aside, because its records cannot be right; check the machine and the program", a.Run)
		return
	}
	s.mu.Lock()
	r := s.runs[a.Run]
	if r != nil {
		s.mu.Unlock()
		return
	}
	r = newServed(ctx, s, a)
	s.runs[a.Run] = r
	s.mu.Unlock()
	s.group.Go(r.serve)
}

// end stops the service of a run.
func (s *workerServer) end(run string) {
	s.mu.Lock()
	r := s.runs[run]
	delete(s.runs, run)
	delete(s.refuses, run)
	s.mu.Unlock()
	if r != nil {
		r.cancel()
	}
}

// keepOnly ends the runs that are not among those of the bucket.
func (s *workerServer) keepOnly(present map[string]bool) {
	s.mu.Lock()
	list := slices.Collect(maps.Keys(s.runs))
	s.mu.Unlock()
	for _, run := range list {
		if !present[run] {
			s.end(run)
		}
	}
}

// refuse tells why this worker does not play a run.
func (s *workerServer) refuse(run, why string) {
	s.mu.Lock()
	s.refuses[run] = why
	s.mu.Unlock()
	s.tell()
}

// versionsError says that this worker and a coordinator do not fit each other.
func versionsError(a announcement, own string) error {
	return fmt.Errorf("it speaks version %d of the cluster's protocol (%s), and the experiment version %d (%s); play with one version on all machines",
		Protocol, own, a.Protocol, a.Version)
}
