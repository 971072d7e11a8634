package cluster

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/bits"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/chunk"
	"github.com/strategylab/strategylab/host/results"
)

const (
	// MaxDeliver is the number of times that a chunk goes to a worker.
	MaxDeliver = 5
	// MaxChunks is the largest number of chunks in progress.
	MaxChunks = 4096

	chunkTime   = 200 * time.Millisecond // that a chunk should take
	mostLeagues = 8192                   // in a chunk
	memory      = 128 << 20              // bytes of the chunks in progress
)

// RunConfig is the settings of a coordinator.
type RunConfig struct {
	Plan     results.Plan
	Settings json.RawMessage
	Sources  map[int][]byte // code to send, by field index
	Version  string         // of this program, for people
	// Verify is the share of chunks, from 0 to 1, that two workers play.
	Verify float64
	// Suspects are the players that may be the reason if workers die.
	Suspects []string
}

// Coordinator is the driver of a run that workers of a cluster play. It is safe for
// concurrent use. Close it after the run.
type Coordinator struct {
	link   *Link
	config RunConfig
	job    Job
	most   int // leagues of a chunk

	chunks  jetstream.Stream
	records jetstream.ConsumeContext
	subs    []*nats.Subscription
	cancel  context.CancelFunc
	watcher sync.WaitGroup
	readers []*reader     // that nobody uses; guarded by mu
	rescue  chan struct{} // holds a token while a chunk is rescued

	mu      sync.Mutex
	pending map[string]*pending // by chunk
	serial  int                 // of the next chunk
	took    float64             // seconds a league takes a worker; 0 while unknown
	aside   map[string]bool     // workers whose records were impossible
	poison  map[int]int         // players that end workers: field index to the first such league
	workers map[string]Presence
	shares  map[string]*Share
	told    map[string]bool // refusals that were noted
	status  RunStatus
	heard   time.Time // of the last records, or of the last repair
	object  []byte    // the job
	code    string    // its SHA-256
}

var _ experiments.Elastic = (*Coordinator)(nil)

// Share is what one worker has played of a run.
type Share struct {
	Worker  string `json:"worker"` // name of its machine, and its id
	Cores   int    `json:"cores"`
	Version string `json:"version"`
	Chunks  int    `json:"chunks"`
	Leagues int    `json:"leagues"`
}

// Coordinate announces a run to the workers of a broker.
func (l *Link) Coordinate(ctx context.Context, config RunConfig) (*Coordinator, error) {
	hash := config.Plan.Hash()
	c := &Coordinator{
		link: l, config: config, pending: make(map[string]*pending), aside: make(map[string]bool), poison: make(map[int]int),
		workers: make(map[string]Presence), shares: make(map[string]*Share), told: make(map[string]bool), rescue: make(chan struct{}, 1), heard: time.Now(),
	}
	players := len(config.Plan.Field)
	matches := config.Plan.Legs * players * (players - 1) / 2
	// Records have a byte a match and two a seat unless there are faults, which a
	// worker sends in several messages.
	c.most = max(1, min(mostLeagues, int(l.conn.MaxPayload())/2/(matches+2*players+16)))
	c.job = Job{Run: hex.EncodeToString(hash[:4]) + "-" + random(4), Plan: config.Plan, Settings: config.Settings, Sources: make([]string, players)}
	c.status = RunStatus{Run: c.job.Run, Version: config.Version, Of: config.Plan.Runs}
	for field, source := range config.Sources {
		c.job.Sources[field] = sum(source)
	}
	var err error
	if c.object, err = json.Marshal(c.job); err != nil {
		return nil, fmt.Errorf("announce run: %w", err)
	}
	if len(c.object) > MaxJob {
		return nil, fmt.Errorf("announce run: its plan has %d bytes, more than %d", len(c.object), MaxJob)
	}
	c.code = sum(c.object)
	if err := c.announce(ctx); err != nil {
		return nil, fmt.Errorf("announce run: %w", err)
	}
	if err := c.listen(ctx); err != nil {
		c.stop()
		return nil, fmt.Errorf("announce run: %w", err)
	}
	return c, nil
}

// Run returns the name of the run on the broker.
func (c *Coordinator) Run() string { return c.job.Run }

// announce makes sure that the broker has all that workers need. It can be repeated.
func (c *Coordinator) announce(ctx context.Context) error {
	if err := c.link.prepare(ctx); err != nil {
		return err
	}
	for _, source := range c.config.Sources {
		if _, err := c.link.put(ctx, source); err != nil {
			return err
		}
	}
	if _, err := c.link.put(ctx, c.object); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	chunks, err := c.link.js.Stream(ctx, c.link.store("chunks"))
	if err != nil {
		return c.link.explain(err)
	}
	if c.chunks == nil { // later ones are the same
		c.chunks = chunks
	}
	if _, err := chunks.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: c.job.Run, FilterSubject: c.link.subject("chunk", c.job.Run), AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: c.link.config.AckWait, MaxDeliver: MaxDeliver, MaxAckPending: 4 * MaxChunks,
	}); err != nil {
		return c.link.explain(err)
	}
	return c.publishAnnouncement(ctx)
}

func (c *Coordinator) publishAnnouncement(ctx context.Context) error {
	c.mu.Lock()
	a := announcement{Run: c.job.Run, Protocol: Protocol, Version: c.config.Version, Job: c.code, AckWait: c.link.config.AckWait}
	for id := range c.aside {
		a.Aside = append(a.Aside, id)
	}
	c.mu.Unlock()
	value, err := json.Marshal(a)
	if err != nil {
		return err
	}
	runs, err := c.link.js.KeyValue(ctx, c.link.store("runs"))
	if err == nil {
		_, err = runs.Put(ctx, c.job.Run, value)
	}
	if err != nil {
		return c.link.explain(err)
	}
	return nil
}

// Block implements experiments.Driver: the largest chunk.
func (c *Coordinator) Block() int { return c.most }

// Next implements experiments.Elastic: chunks that take a fraction of a second, and two
// for each core, so that a worker has the next one when it has played one.
func (c *Coordinator) Next(left int) (leagues, chunks int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cores := 0
	for _, w := range c.workers {
		if w.Refuses[c.job.Run] == "" && !c.aside[w.ID] {
			cores += w.Cores
		}
	}
	chunks = min(2*max(cores, 1)+2, MaxChunks)
	if c.took <= 0 {
		return 1, chunks
	}
	leagues = int(chunkTime.Seconds() / c.took)
	players := len(c.job.Plan.Field)
	room := memory / chunks / experiments.LeagueBytes(players, c.job.Plan.Legs)
	leagues = max(1, min(leagues, left/chunks, room, c.most))
	return 1 << (bits.Len(uint(leagues)) - 1), chunks
}

// NewWorker implements experiments.Driver. Its workers wait for records.
func (c *Coordinator) NewWorker(context.Context) (experiments.Worker, error) {
	return &waiter{coordinator: c}, nil
}

// waiter waits for the records of one chunk at a time. There may be thousands, so what
// reads records belongs to the coordinator.
type waiter struct {
	coordinator *Coordinator
	quarantined []bool // by the run, in the current call of Play
	rescues     bool   // it has a token of Coordinator.rescue
}

// Close implements experiments.Worker.
func (*waiter) Close() error { return nil }

// reader reads and judges records. It is not safe for concurrent use.
type reader struct {
	decoder *chunk.Decoder
	encoder *chunk.Encoder
	checker *experiments.Checker
	scratch []results.League
}

// reader returns one that nobody uses. The caller gives it back.
func (c *Coordinator) reader() (r *reader, err error) {
	c.mu.Lock()
	if n := len(c.readers); n > 0 {
		r = c.readers[n-1]
		c.readers = c.readers[:n-1]
	}
	c.mu.Unlock()
	if r != nil {
		return r, nil
	}
	r = new(reader)
	if r.encoder, err = chunk.NewEncoder(c.job.Plan); err != nil {
		return nil, err
	}
	if r.checker, err = experiments.NewChecker(c.job.Plan); err != nil {
		return nil, err
	}
	r.decoder, err = chunk.NewDecoder(c.job.Plan)
	return r, err
}

func (c *Coordinator) give(r *reader) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readers = append(c.readers, r)
}

// Play implements experiments.Worker: it publishes a chunk and waits for its records.
func (w *waiter) Play(ctx context.Context, first int, out []results.League, quarantined []bool) error {
	r := chunk.Request{First: first, Count: len(out), Quarantined: quarantined}
	w.quarantined = quarantined
	by, err := w.part(ctx, &pending{request: r}, out, "")
	if err != nil || !w.coordinator.samples(first) {
		return err
	}
	return w.verify(ctx, r, by, out)
}

// Shares returns what each worker has played, the most first.
func (c *Coordinator) Shares() []Share {
	c.mu.Lock()
	defer c.mu.Unlock()
	return sortedShares(c.shares)
}

// Close takes the run off the broker, and waits for what this coordinator has started.
func (c *Coordinator) Close() error {
	c.stop()
	ctx, cancel := context.WithTimeout(context.Background(), apiTime)
	defer cancel()
	return c.link.remove(ctx, c.job.Run, c.code)
}

// stop ends what this coordinator has started.
func (c *Coordinator) stop() {
	if c.cancel != nil {
		c.cancel()
	}
	c.watcher.Wait()
	if c.records != nil {
		c.records.Stop()
		<-c.records.Closed()
	}
	for _, s := range c.subs {
		_ = s.Unsubscribe() // the connection may be gone
	}
}

// Remove takes a run off the broker whose coordinator was killed.
func (l *Link) Remove(ctx context.Context, run string) error {
	ctx, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	return l.remove(ctx, run, "")
}

// remove takes a run off the broker: it will not be played any more. What is gone
// already is no error.
func (l *Link) remove(ctx context.Context, run, code string) error {
	if !l.conn.IsConnected() {
		return nil // what the broker keeps of the run expires
	}
	var first error
	keep := func(err error) {
		if err != nil && first == nil && !gone(err) {
			first = fmt.Errorf("remove run %s from the broker: %w", run, err)
		}
	}
	if runs, err := l.js.KeyValue(ctx, l.store("runs")); err == nil {
		keep(runs.Purge(ctx, run))
	}
	for name, word := range map[string]string{"chunks": "chunk", "records": "records"} {
		stream, err := l.js.Stream(ctx, l.store(name))
		if err != nil {
			keep(err)
			continue
		}
		keep(stream.DeleteConsumer(ctx, run))
		keep(stream.Purge(ctx, jetstream.WithPurgeSubject(l.subject(word, run))))
	}
	if store, err := l.js.ObjectStore(ctx, l.store("code")); err == nil && code != "" {
		keep(store.Delete(ctx, code))
	}
	return first
}
