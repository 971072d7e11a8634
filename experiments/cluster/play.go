package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/chunk"
	"github.com/strategylab/strategylab/host/results"
)

// served is a run that a worker plays.
type served struct {
	server *workerServer
	run    announcement
	ctx    context.Context
	cancel context.CancelFunc
	ready  atomic.Bool

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
	r := &served{server: s, run: a}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r
}

// serve opens the job and plays its chunks until the run ends.
func (r *served) serve() {
	defer r.cancel()
	close, err := r.open()
	if err != nil {
		if r.ctx.Err() == nil {
			r.server.link.config.Note("cannot play run %s: %v", r.run.Run, err)
			r.server.refuse(r.run.Run, err.Error())
		}
		return
	}
	r.ready.Store(true)
	r.server.tell()
	// One more than there are cores, so that the next chunk is here when a core is free.
	var fetchers sync.WaitGroup
	for range r.server.config.Cores + 1 + r.server.config.Cores/4 {
		fetchers.Go(r.fetch)
	}
	fetchers.Wait()
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

// fetch takes chunks and plays them, one after the other.
func (r *served) fetch() {
	l := r.server.link
	var consumer jetstream.Consumer
	for r.ctx.Err() == nil {
		var err error
		if consumer == nil {
			ctx, cancel := context.WithTimeout(r.ctx, apiTime)
			consumer, err = l.js.Consumer(ctx, l.store("chunks"), r.run.Run)
			cancel()
			if err != nil {
				consumer = nil
				pause(r.ctx, time.Second)
				continue
			}
		}
		ctx, cancel := context.WithTimeout(r.ctx, 5*time.Second)
		batch, err := consumer.Fetch(1, jetstream.FetchContext(ctx), jetstream.FetchHeartbeat(min(time.Second, r.run.AckWait))) // a broker that was killed has forgotten the request
		if err == nil {
			for m := range batch.Messages() {
				r.handle(m)
			}
			err = batch.Error()
		}
		timedOut := ctx.Err() != nil
		cancel()
		if err != nil && !timedOut && !errors.Is(err, nats.ErrTimeout) {
			consumer = nil // the broker may have lost it
			pause(r.ctx, 250*time.Millisecond)
		}
	}
}

// handle plays a chunk and acknowledges it when its records are stored. Without an
// acknowledgement another worker gets it.
func (r *served) handle(m jetstream.Msg) {
	s := r.server
	name := m.Headers().Get(headerChunk)
	ctx, cancel := context.WithCancel(r.ctx)
	var beats sync.WaitGroup
	beats.Go(func() { beat(ctx, m, max(r.run.AckWait/4, 50*time.Millisecond)) })
	defer beats.Wait()
	defer cancel()
	if m.Headers().Get(headerNot) == s.id {
		if r.send(ctx, name, part{}, true) == nil {
			r.acknowledge(ctx, m) // it is delivered again otherwise, and declined again
		}
		return
	}
	select {
	case <-ctx.Done():
		_ = m.Nak() // another worker may have it at once
		return
	case <-s.cores:
	}
	s.set(name, true)
	defer s.set(name, false)
	if meta, err := m.Metadata(); err == nil && meta.NumDelivered > 1 {
		s.tell() // if this chunk ends workers, this one is to be named
		_ = s.link.conn.FlushTimeout(r.run.AckWait)
	}
	var request chunk.Request
	err := json.Unmarshal(m.Data(), &request)
	var parts []part
	if err == nil {
		parts, err = r.play(ctx, request)
	}
	s.cores <- struct{}{}
	if err != nil {
		if r.ctx.Err() == nil {
			s.link.tell(failure{Worker: s.id, Chunk: name, Error: err.Error()}, "run", r.run.Run, "failed")
			_ = m.NakWithDelay(r.run.AckWait / 5) // it is delivered again without it, too, only later
		} else {
			_ = m.Nak() // likewise
		}
		return
	}
	if r.sendAll(ctx, name, parts) == nil {
		r.acknowledge(ctx, m) // another worker plays it again otherwise
		s.leagues.Add(int64(request.Count))
		if s.config.Played != nil {
			s.config.Played(request.Count)
		}
	}
}

// acknowledge tells the broker that a chunk is done, and waits until it knows, or until it
// has given the chunk to another worker: a broker that was killed does not answer.
func (r *served) acknowledge(ctx context.Context, m jetstream.Msg) {
	ctx, cancel := context.WithTimeout(ctx, r.run.AckWait)
	defer cancel()
	_ = m.DoubleAck(ctx) // the callers say what happens otherwise
}

func (s *workerServer) set(part string, playing bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if playing {
		s.chunks[part] = true
	} else {
		delete(s.chunks, part)
	}
}

// beat tells the broker that a chunk is still being played.
func beat(ctx context.Context, m jetstream.Msg, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = m.InProgress() // a broker that is away delivers it again
		}
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
	if request.First < first || request.Count < 1 || request.Count > mostLeagues || request.First+request.Count > end || len(request.Quarantined) != len(r.plan.Field) {
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

// sendAll publishes the records of a chunk.
func (r *served) sendAll(ctx context.Context, name string, parts []part) error {
	for _, p := range parts {
		if err := r.send(ctx, name, p, false); err != nil {
			return err
		}
	}
	return nil
}

// send publishes records of a chunk, or that this worker must not play it.
func (r *served) send(ctx context.Context, name string, p part, passes bool) error {
	l := r.server.link
	m := nats.NewMsg(l.subject("records", r.run.Run))
	m.Data = p.records
	m.Header.Set(headerChunk, name)
	m.Header.Set(headerWorker, r.server.id)
	m.Header.Set(headerFirst, strconv.Itoa(p.first))
	m.Header.Set(headerCount, strconv.Itoa(p.count))
	m.Header.Set(headerTook, strconv.FormatFloat(p.took.Seconds(), 'g', -1, 64))
	if passes {
		m.Header.Set(headerPasses, "yes")
	}
	return l.deliver(ctx, m, fmt.Sprintf("%s.%s.%d", r.run.Run, name, p.first))
}
