package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/chunk"
	"github.com/strategylab/strategylab/host/results"
)

// served is a run that a worker plays.
type served struct {
	server *workerServer
	run    announcement // its Seq, heard, used and seq are guarded by the server
	heard  time.Time
	used   time.Time // when it was announced first, or a chunk came
	seq    int64     // of the last assignment
	ctx    context.Context
	cancel context.CancelFunc
	ready  atomic.Bool
	queue  chan assignment

	driver experiments.Driver
	plan   results.Plan

	mu   sync.Mutex
	idle []*player
}

// player plays one chunk at a time.
type player struct {
	worker  experiments.Worker
	encoder *chunk.Encoder
	leagues []results.League
}

func newServed(ctx context.Context, s *workerServer, a announcement) *served {
	r := &served{server: s, run: a, heard: time.Now(), used: time.Now(), queue: make(chan assignment, 4*s.config.Cores+16)}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r
}

// serve opens the job and plays its chunks until the run ends.
func (r *served) serve() {
	defer r.cancel()
	close, err := r.open()
	for wait := announceEvery / 2; err != nil; close, err = r.open() {
		if r.ctx.Err() != nil {
			return
		}
		r.server.warn(r.run.Run+err.Error(), "cannot play run %s: %s", r.run.Run, plain(err.Error(), 2*mostText))
		r.server.refuse(r.run.Run, err.Error())
		wait = min(2*wait, forgotten) // code may be stored again, and a plugin copied
		if !pause(r.ctx, wait) {
			return
		}
	}
	r.ready.Store(true)
	r.server.refuse(r.run.Run, "")
	var players sync.WaitGroup
	for range r.server.config.Cores {
		players.Go(r.work)
	}
	players.Wait()
	for _, p := range r.idle {
		err = errors.Join(err, p.worker.Close())
	}
	if err = errors.Join(err, close()); err != nil {
		r.server.link.config.Note("end of run %s: %v", r.run.Run, err)
	}
}

// open fetches the job and makes its driver.
func (r *served) open() (func() error, error) {
	s := r.server
	if r.run.Protocol != Protocol {
		return nil, versionsError(r.run, s.config.Version)
	}
	content, err := s.code.get(r.ctx, r.run.Job)
	if err != nil {
		return nil, err
	}
	var job Job
	if err := json.Unmarshal(content, &job); err != nil {
		return nil, fmt.Errorf("read the job: %w", err)
	}
	if job.Run != r.run.Run || len(job.Sources) != len(job.Plan.Field) {
		return nil, errors.New("read the job: it is that of another run")
	}
	if err := job.Plan.Validate(); err != nil {
		return nil, fmt.Errorf("read the job: %w", err)
	}
	r.plan = job.Plan
	driver, close, err := s.config.Open(r.ctx, job, func(sha string) ([]byte, error) { return s.code.get(r.ctx, sha) })
	r.driver = driver
	return close, err
}

// work plays chunks, one after the other.
func (r *served) work() {
	for {
		select {
		case <-r.ctx.Done():
			return
		case a := <-r.queue:
			r.handle(a)
		}
	}
}

// handle plays a chunk and sends its records, or says why it cannot.
func (r *served) handle(a assignment) {
	s := r.server
	defer s.set(a.Part, false, true)
	select {
	case <-r.ctx.Done():
		return
	case <-s.cores:
	}
	s.set(a.Part, true, false)
	if a.Again {
		s.tell(false) // if this chunk ends workers, this one is to be named
		_ = s.link.conn.FlushTimeout(r.run.AckWait)
	}
	parts, err := r.play(r.ctx, a.Request)
	s.cores <- struct{}{}
	if r.ctx.Err() != nil {
		return
	}
	if err != nil {
		r.send(report{Part: a.Part, First: a.Request.First, Count: a.Request.Count, Error: plain(err.Error(), 2*mostText)}, nil)
		return
	}
	for _, p := range parts {
		r.send(report{Part: a.Part, First: p.first, Count: p.count, Took: p.took.Seconds()}, p.records)
	}
	s.leagues.Add(int64(a.Request.Count))
	if s.config.Played != nil {
		s.config.Played(a.Request.Count)
	}
}

// send publishes a report, when there is a connection. What is lost all the same is played
// again.
func (r *served) send(x report, records []byte) {
	l := r.server.link
	m, err := r.server.key.seal(l.subject("records", r.run.Run), x, records)
	for err == nil && !l.conn.IsConnected() && pause(r.ctx, 50*time.Millisecond) {
	}
	if err == nil {
		err = l.conn.PublishMsg(m)
	}
	if err != nil && r.ctx.Err() == nil {
		r.server.warn("send "+r.run.Run, "cannot send records of run %s: %v", r.run.Run, err)
	}
}

// set notes that a chunk is played, or is done.
func (s *workerServer) set(part string, playing, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.chunks[part] = playing; done {
		delete(s.chunks, part)
	}
}

// part is the records of some leagues of a chunk, for one message.
type part struct {
	first, count int
	records      []byte
	took         time.Duration // to play them
}

// play plays a chunk and returns its records. No player is in use afterwards: while
// they are sent, the next chunk on this core continues with the same one, whose
// processes have warm caches and a grown heap.
func (r *served) play(ctx context.Context, request chunk.Request) ([]part, error) {
	first, end := r.plan.Span()
	room := max(1, memory/experiments.LeagueBytes(len(r.plan.Field), r.plan.Legs))
	if request.First < first || request.Count < 1 || request.Count > min(mostLeagues, room) || request.First+request.Count > end || len(request.Quarantined) != len(r.plan.Field) {
		return nil, fmt.Errorf("chunk of leagues %d to %d with %d players does not belong to this run", request.First, request.First+request.Count-1, len(request.Quarantined))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.server.config.MaxTime, fmt.Errorf("leagues %d to %d took longer than %v, the limit of this worker",
		request.First, request.First+request.Count-1, r.server.config.MaxTime))
	defer cancel()
	began := time.Now()
	p, err := r.take(ctx)
	if err != nil {
		return nil, err
	}
	leagues, err := p.play(ctx, request, max(1, r.driver.Block()))
	if err != nil {
		return nil, errors.Join(err, p.worker.Close())
	}
	defer r.give(p)
	return p.encode(leagues, int(r.server.link.conn.MaxPayload())*3/4, time.Since(began))
}

// play plays a chunk, a block of leagues at a time. They are valid until the next call.
func (p *player) play(ctx context.Context, request chunk.Request, block int) ([]results.League, error) {
	for len(p.leagues) < request.Count {
		p.leagues = append(p.leagues, results.League{})
	}
	for at := 0; at < request.Count; at += block {
		out := p.leagues[at:min(at+block, request.Count)]
		if err := p.worker.Play(ctx, request.First+at, out, request.Quarantined); err != nil {
			return nil, fmt.Errorf("leagues %d to %d: %w", request.First+at, request.First+at+len(out)-1, err)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return p.leagues[:request.Count], nil
}

// encode returns the records of leagues in parts of at most the given number of bytes,
// unless one league has more. took is how long all of them were played.
func (p *player) encode(leagues []results.League, most int, took time.Duration) ([]part, error) {
	took /= time.Duration(len(leagues))
	var parts []part
	for len(leagues) > 0 {
		n := len(leagues)
		records, err := p.encoder.Encode(leagues)
		for err == nil && len(records) > most && n > 1 {
			n /= 2
			records, err = p.encoder.Encode(leagues[:n])
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{leagues[0].Index, n, bytes.Clone(records), took * time.Duration(n)})
		leagues = leagues[n:]
	}
	return parts, nil
}

func (r *served) take(ctx context.Context) (*player, error) {
	r.mu.Lock()
	if n := len(r.idle); n > 0 {
		p := r.idle[n-1]
		r.idle = r.idle[:n-1]
		r.mu.Unlock()
		return p, nil
	}
	r.mu.Unlock()
	encoder, err := chunk.NewEncoder(r.plan)
	if err != nil {
		return nil, err
	}
	w, err := r.driver.NewWorker(ctx)
	return &player{worker: w, encoder: encoder}, err
}

func (r *served) give(p *player) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = append(r.idle, p)
}
