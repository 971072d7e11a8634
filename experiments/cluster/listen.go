package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// failure is what a worker says about a chunk that it cannot play. It is not stored.
type failure struct{ Worker, Chunk, Error string }

// listen starts to receive records, and what workers and the broker say.
func (c *Coordinator) listen(ctx context.Context) error {
	if err := c.receive(ctx); err != nil {
		return err
	}
	subscribe := func(s *nats.Subscription, err error) error {
		if err == nil {
			c.subs = append(c.subs, s)
		}
		return err
	}
	advisory := "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES." + c.link.store("chunks") + "." + c.job.Run
	err := errors.Join(
		subscribe(hear(c.link, c.meet, "worker", "*")),
		subscribe(hear(c.link, c.failed, "run", c.job.Run, "failed")),
		subscribe(c.link.conn.Subscribe(advisory, func(m *nats.Msg) {
			var a struct {
				Seq uint64 `json:"stream_seq"`
			}
			if json.Unmarshal(m.Data, &a) == nil {
				c.poisoned(a.Seq)
			}
		})),
		subscribe(c.link.conn.Subscribe(c.link.subject("ping"), func(*nats.Msg) { c.tell() })),
	)
	if err != nil {
		return err
	}
	c.link.tell(nil, "ping") // so that workers say who they are
	watching, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.watcher.Go(func() { c.watch(watching) })
	return nil
}

// receive starts the consumer of records.
func (c *Coordinator) receive(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	consumer, err := c.link.js.CreateOrUpdateConsumer(ctx, c.link.store("records"), jetstream.ConsumerConfig{
		Durable: c.job.Run, FilterSubject: c.link.subject("records", c.job.Run), AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: c.link.config.AckWait, MaxAckPending: 4 * MaxChunks,
	})
	if err != nil {
		return c.link.explain(err)
	}
	records, err := consumer.Consume(c.arrive, jetstream.PullMaxMessages(256), jetstream.PullExpiry(10*time.Second), jetstream.PullHeartbeat(time.Second), jetstream.ConsumeErrHandler(func(jetstream.ConsumeContext, error) {}))
	if err != nil {
		return c.link.explain(err)
	}
	c.records = records
	return nil
}

// arrive hands records to the call of Play that waits for them. Others came before.
func (c *Coordinator) arrive(m jetstream.Msg) {
	part, worker := m.Headers().Get(headerChunk), m.Headers().Get(headerWorker)
	count, _ := strconv.Atoi(m.Headers().Get(headerCount)) // checked by the call of Play
	took, _ := strconv.ParseFloat(m.Headers().Get(headerTook), 64)
	c.mu.Lock()
	p := c.pending[part]
	if p != nil {
		c.heard = time.Now()
		if !c.aside[worker] {
			c.credit(worker, count, took)
		}
	}
	c.mu.Unlock()
	if p == nil {
		_ = m.Ack() // it comes again otherwise, and is dropped again
		return
	}
	select {
	case p.inbox <- arrival{message: m}:
	default: // more messages than a chunk has: this one comes again
	}
}

// credit counts leagues of a worker. The caller holds mu.
func (c *Coordinator) credit(worker string, count int, took float64) {
	if count < 1 {
		return
	}
	if seconds := took / float64(count); took > 0 {
		if c.took == 0 {
			c.took = seconds
		}
		c.took += (seconds - c.took) / 4
	}
	s := c.shares[worker]
	if s == nil {
		w := c.workers[worker]
		s = &Share{Worker: nameOf(w, worker), Cores: w.Cores, Version: w.Version}
		c.shares[worker] = s
	}
	s.Chunks, s.Leagues = s.Chunks+1, s.Leagues+count
}

func nameOf(w Presence, id string) string {
	if w.Name == "" {
		return id
	}
	return w.Name + " (" + id + ")"
}

func (c *Coordinator) nameOf(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return nameOf(c.workers[id], id)
}

func sortedShares(all map[string]*Share) []Share {
	var list []Share
	for _, id := range slices.Sorted(maps.Keys(all)) {
		list = append(list, *all[id])
	}
	slices.SortStableFunc(list, func(a, b Share) int { return cmp.Compare(b.Leagues, a.Leagues) })
	return list
}

// meet hears of a worker.
func (c *Coordinator) meet(w Presence) {
	w.Heard = time.Now()
	why := w.Refuses[c.job.Run]
	c.mu.Lock()
	c.workers[w.ID] = w
	key := w.ID + " " + why
	note := why != "" && !c.told[key]
	c.told[key] = true
	c.mu.Unlock()
	if note {
		c.link.config.Note("worker %s cannot play this run: %s", nameOf(w, w.ID), why)
	}
}

// Workers returns the workers that were heard of lately, by name.
func (c *Coordinator) Workers() []Presence {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := slices.Collect(maps.Values(c.workers))
	slices.SortFunc(list, func(a, b Presence) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return list
}

// hasOther reports whether another worker than one can play the run.
func (c *Coordinator) hasOther(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.workers {
		if w.ID != id && w.Refuses[c.job.Run] == "" && !c.aside[w.ID] {
			return true
		}
	}
	return false
}

func (c *Coordinator) mistrusts(worker string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.aside[worker]
}

// distrust puts a worker aside whose records are impossible.
func (c *Coordinator) distrust(ctx context.Context, worker string, why error) {
	c.mu.Lock()
	c.aside[worker] = true
	c.mu.Unlock()
	c.link.config.Note("worker %s is put aside, because its records cannot be right: %v", c.nameOf(worker), why)
	_ = c.publishAnnouncement(ctx) // it tells honest workers; records of others are dropped anyway
}

// failed hears that a worker could not play a chunk.
func (c *Coordinator) failed(f failure) {
	c.mu.Lock()
	p := c.pending[f.Chunk]
	if p != nil {
		p.tried = append(p.tried, nameOf(c.workers[f.Worker], f.Worker)+": "+f.Error)
	}
	key := "failed " + f.Worker + f.Error
	note := p != nil && !c.told[key]
	c.told[key] = true
	c.mu.Unlock()
	if note {
		c.link.config.Note("worker %s could not play leagues: %s", c.nameOf(f.Worker), f.Error)
	}
}

// poisoned hears that a chunk has been delivered too often. The broker keeps it, so it
// is deleted.
func (c *Coordinator) poisoned(seq uint64) {
	ctx, cancel := context.WithTimeout(context.Background(), apiTime)
	defer cancel()
	m, err := c.chunks.GetMsg(ctx, seq)
	if err != nil {
		return // somebody has played it after all, or watch finds it
	}
	_ = c.chunks.DeleteMsg(ctx, seq) // if it stays, watch finds it
	part := m.Header.Get(headerChunk)
	c.mu.Lock()
	if p := c.pending[part]; p != nil {
		for id, w := range c.workers {
			if slices.Contains(w.Chunks, part) {
				p.holders = append(p.holders, id)
			}
		}
	}
	c.mu.Unlock()
	c.notify(part, arrival{poisoned: true})
}

// notify tells the call of Play that waits for a chunk what has happened to it.
func (c *Coordinator) notify(part string, a arrival) {
	c.mu.Lock()
	p := c.pending[part]
	c.mu.Unlock()
	if p == nil {
		return
	}
	select {
	case p.inbox <- a:
	default: // watch tells it again
	}
}
