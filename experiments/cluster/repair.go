package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// gone reports whether an error says that the broker no longer has something.
func gone(err error) bool {
	for _, e := range []error{jetstream.ErrStreamNotFound, jetstream.ErrConsumerNotFound, jetstream.ErrBucketNotFound,
		jetstream.ErrObjectNotFound, jetstream.ErrKeyNotFound, jetstream.ErrMsgNotFound, jetstream.ErrConsumerDoesNotExist} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// watch announces the state of the run, and repairs it when nothing arrives: the broker
// may have lost chunks with its disk, and its advisories are not stored.
func (c *Coordinator) watch(ctx context.Context) {
	tick := time.NewTicker(c.every())
	defer tick.Stop()
	idle := 0 // looks in a row at which nobody had chunks that are waited for
	back := c.link.reconnection()
	for {
		select {
		case <-ctx.Done():
			return
		case <-back:
			back = c.link.reconnection()
			if err := c.announce(ctx); err == nil {
				c.restartRecords(ctx)
			}
			c.link.tell(nil, "ping")
		case <-tick.C:
			c.tell()
			c.drop()
		}
		if !c.quiet() {
			idle = 0
			continue
		}
		switch waiting, err := c.look(ctx); {
		case gone(err): // streams or consumers
			if c.announce(ctx) == nil {
				c.restartRecords(ctx)
			}
			idle = 2
		case err != nil, waiting > 0:
			idle = 0
			continue
		default:
			idle++
		}
		if idle >= 2 { // a message may be on its way at one look
			idle = 0
			c.repair(ctx)
		}
	}
}

// every is the interval of looks at the broker.
func (c *Coordinator) every() time.Duration { return min(announceEvery, c.link.config.AckWait) }

// quiet reports whether chunks are waited for and nothing has arrived lately.
func (c *Coordinator) quiet() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending) > 0 && time.Since(c.heard) > c.every()
}

// look returns the number of chunks and records that the broker still has to deliver or
// to see acknowledged, and keeps the figures for the status.
func (c *Coordinator) look(ctx context.Context) (waiting int, err error) {
	ctx, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	for _, name := range []string{"chunks", "records"} {
		consumer, err := c.link.js.Consumer(ctx, c.link.store(name), c.job.Run)
		if err != nil {
			return 0, err
		}
		info := consumer.CachedInfo()
		waiting += int(info.NumPending) + info.NumAckPending
	}
	return waiting, nil
}

// restartRecords makes the consumer of records again, if the broker has lost it.
func (c *Coordinator) restartRecords(ctx context.Context) {
	old := c.records
	if c.receive(ctx) == nil && old != nil {
		old.Stop()
	}
}

// repair finds chunks that were delivered too often without an advisory, and publishes
// those again that the broker does not have any more.
func (c *Coordinator) repair(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	here := make(map[string]bool)
	err := c.eachChunk(ctx, func(m *jetstream.RawStreamMsg, _ *pending) {
		here[m.Header.Get(headerChunk)] = true
		c.poisoned(m.Sequence)
	})
	if err != nil {
		return
	}
	c.mu.Lock()
	parts := slices.Collect(maps.Keys(c.pending))
	c.heard = time.Now()
	c.mu.Unlock()
	for _, part := range parts {
		if !here[part] {
			c.notify(part, arrival{lost: true})
		}
	}
}

// Recorded tells how many leagues are recorded, for the status of the run.
func (c *Coordinator) Recorded(leagues int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.Leagues = leagues
}

// tell announces the state of the run.
func (c *Coordinator) tell() {
	status := c.Status()
	c.link.tell(status, "run", c.job.Run)
}

// LastStatus returns the state of the run as it was last asked for.
func (c *Coordinator) LastStatus() RunStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

// Status returns the state of the run.
func (c *Coordinator) Status() RunStatus {
	ctx, cancel := context.WithTimeout(context.Background(), announceEvery)
	defer cancel()
	consumer, err := c.link.js.Consumer(ctx, c.link.store("chunks"), c.job.Run)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		info := consumer.CachedInfo()
		c.status.Waiting, c.status.InFlight = int(info.NumPending), info.NumAckPending
		c.status.Redelivered = max(c.status.Redelivered, info.NumRedelivered)
	}
	c.status.Rate = 0
	for _, w := range c.workers {
		if slices.Contains(w.Plays, c.job.Run) {
			c.status.Rate += w.Rate
		}
	}
	return c.status
}

// drop forgets workers from which nothing came for a while. Those of chunks that are
// waited for are kept, to name them.
func (c *Coordinator) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, w := range c.workers {
		waited := slices.ContainsFunc(w.Chunks, func(part string) bool { return c.pending[part] != nil })
		if time.Since(w.Heard) > silentAfter && !waited {
			delete(c.workers, id)
		}
	}
}

// Survey is what a broker and those who are connected to it say about themselves.
type Survey struct {
	Workers []Presence  `json:"workers"`
	Runs    []RunStatus `json:"runs"`
}

// Survey asks everybody, and waits for the answers for a while.
func (l *Link) Survey(ctx context.Context, wait time.Duration) (Survey, error) {
	type answer struct {
		worker *Presence
		run    *RunStatus
	}
	answers := make(chan answer, 1024)
	workers, err := hear(l, func(p Presence) { p.Heard = time.Now(); answers <- answer{worker: &p} }, "worker", "*")
	if err != nil {
		return Survey{}, l.explain(err)
	}
	runs, err := hear(l, func(s RunStatus) { answers <- answer{run: &s} }, "run", "*")
	if err != nil {
		return Survey{}, errors.Join(l.explain(err), workers.Unsubscribe())
	}
	defer func() { _, _ = workers.Unsubscribe(), runs.Unsubscribe() }()
	l.tell(nil, "ping")
	if err := l.conn.FlushTimeout(apiTime); err != nil && !errors.Is(err, nats.ErrTimeout) {
		return Survey{}, fmt.Errorf("ask the cluster: %w", err)
	}
	end := time.NewTimer(wait)
	defer end.Stop()
	seen, played := make(map[string]Presence), make(map[string]RunStatus)
	for {
		select {
		case a := <-answers:
			if a.worker != nil {
				seen[a.worker.ID] = *a.worker
			} else {
				played[a.run.Run] = *a.run
			}
		case <-ctx.Done():
			return Survey{}, context.Cause(ctx)
		case <-end.C:
			var s Survey
			for _, id := range slices.Sorted(maps.Keys(seen)) {
				s.Workers = append(s.Workers, seen[id])
			}
			for _, run := range slices.Sorted(maps.Keys(played)) {
				s.Runs = append(s.Runs, played[run])
			}
			return s, nil
		}
	}
}
