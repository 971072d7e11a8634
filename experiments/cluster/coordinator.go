package cluster

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/chunk"
	"github.com/strategylab/strategylab/host/results"
)

const (
	// MaxDeliver is the number of times that a chunk may end or fail a worker.
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
	// Own plays leagues in this process, to decide which of two workers is right, and to
	// verify one that is alone. Without it, both are put aside, and one that is alone is
	// not verified.
	Own experiments.Driver
	// Ledger keeps who has played which leagues; nil for nobody.
	Ledger *Ledger
}

// Coordinator is the driver of a run that workers of a cluster play. It is safe for
// concurrent use. Close it after the run.
type Coordinator struct {
	link   *Link
	config RunConfig
	job    Job
	most   int // leagues of a chunk
	key    *identity
	// send gives a chunk to a worker; tests replace it.
	send func(worker string, a assignment)

	subs    []*nats.Subscription
	cancel  context.CancelFunc
	watcher sync.WaitGroup
	readers sync.Pool     // of *reader
	rescue  chan struct{} // holds a token while a chunk is rescued

	deciding chan struct{} // holds one while this process plays a chunk to decide who is right

	mu      sync.Mutex
	owed    map[string]*owed // by chunk
	waiting []*owed          // that no worker plays, by their first league
	serial  int              // of the next chunk
	took    float64          // seconds a league takes a worker; 0 while unknown
	members map[string]*member
	aside   map[string]string // workers that get no more chunks, and why
	poison  map[int]int       // players that end workers: field index to the first such league
	spans   map[int]span      // who has played the leagues that are not recorded, by their first
	shares  map[string]*Share
	notes   map[string]int // by kind
	told    map[string]bool
	kept    atomic.Int64 // bytes of records that wait for the others of their chunk
	outbox  []string     // notes to print when mu is unlocked
	refused bool         // a worker could not begin since guard last looked
	status  RunStatus
	heard   time.Time // of the last right records
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
	Aside   string `json:"aside,omitempty"` // why it got no more chunks
	// Replayed is the number of recorded leagues that were played again because of it.
	Replayed int `json:"replayed,omitempty"`
}

// Coordinate announces a run to the workers of a broker.
func (l *Link) Coordinate(ctx context.Context, config RunConfig) (*Coordinator, error) {
	c := newCoordinator(l, config)
	matches := config.Plan.Legs * len(config.Plan.Field) * (len(config.Plan.Field) - 1) / 2
	// Records have a byte a match and two a seat unless there are faults, which a
	// worker sends in several messages.
	c.most = max(1, min(mostLeagues, int(l.conn.MaxPayload())/2/(matches+2*len(config.Plan.Field)+16)))
	var err error
	if c.object, err = json.Marshal(c.job); err != nil {
		return nil, fmt.Errorf("announce run: %w", err)
	}
	if len(c.object) > MaxJob {
		return nil, fmt.Errorf("announce run: its plan has %d bytes, more than %d", len(c.object), MaxJob)
	}
	c.code = sum(c.object)
	err = patiently(ctx, func() error {
		_, err := c.store(ctx, false)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case permanent(err):
		return nil, fmt.Errorf("announce run: %w", err)
	case err != nil:
		c.unkept(err)
	}
	if err := c.listen(); err != nil {
		c.stop()
		return nil, fmt.Errorf("announce run: %w", l.explain(err))
	}
	return c, nil
}

// Serve has this process play chunks of the run, until ctx is done. It needs nothing that a
// broker keeps.
func (c *Coordinator) Serve(ctx context.Context, config ServeConfig) error {
	config.only = c
	return c.link.Serve(ctx, config)
}

// newCoordinator returns a coordinator that nobody has heard of.
func newCoordinator(l *Link, config RunConfig) *Coordinator {
	players := len(config.Plan.Field)
	c := &Coordinator{
		link: l, config: config, key: newIdentity(), owed: make(map[string]*owed), members: make(map[string]*member), aside: make(map[string]string),
		poison: make(map[int]int), spans: make(map[int]span), shares: make(map[string]*Share), notes: make(map[string]int), told: make(map[string]bool),
		rescue: make(chan struct{}, 1), deciding: make(chan struct{}, 1), heard: time.Now(),
	}
	c.send = c.post
	c.job = Job{Run: nameOfRun(config.Plan) + c.key.id, Plan: config.Plan, Settings: config.Settings, Sources: make([]string, players)}
	c.status = RunStatus{Run: c.job.Run, Version: config.Version, Of: config.Plan.Runs}
	for field, source := range config.Sources {
		c.job.Sources[field] = sum(source)
	}
	if config.Ledger != nil {
		for id, caught := range config.Ledger.caught {
			c.aside[id] = caught.Why
			c.shares[id] = &Share{Worker: caught.Name, Aside: caught.Why, Replayed: caught.Replayed}
		}
	}
	return c
}

// nameOfRun returns what the names of all runs of a plan begin with.
func nameOfRun(plan results.Plan) string {
	hash := plan.Hash()
	return hex.EncodeToString(hash[:8]) + "-"
}

// Run returns the name of the run on the broker.
func (c *Coordinator) Run() string { return c.job.Run }

// store makes sure that the broker has all that workers need to begin, and reports
// whether something was missing. overwrite stores code in any case.
func (c *Coordinator) store(ctx context.Context, overwrite bool) (missing bool, err error) {
	if err := c.link.prepare(ctx); err != nil {
		return false, err
	}
	for _, source := range c.config.Sources {
		if err := c.link.put(ctx, source, overwrite, &missing); err != nil {
			return false, err
		}
	}
	if err := c.link.put(ctx, c.object, overwrite, &missing); err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	runs, err := c.link.js.KeyValue(ctx, c.link.store("runs"))
	if err != nil {
		return false, c.link.explain(err)
	}
	var a announcement
	if kept, err := runs.Get(ctx, c.job.Run); err == nil && json.Unmarshal(kept.Value(), &a) == nil && a.Job == c.code {
		return missing, nil
	}
	value, err := json.Marshal(c.announcement())
	if err != nil {
		return false, err
	}
	if _, err := runs.Put(ctx, c.job.Run, value); err != nil {
		return false, c.link.explain(err)
	}
	return true, nil
}

// announcement returns what workers hear of the run.
func (c *Coordinator) announcement() announcement {
	return announcement{Run: c.job.Run, Protocol: Protocol, Version: c.config.Version, Job: c.code, AckWait: c.link.config.AckWait,
		Seq: c.key.seq.Add(1), Status: c.LastStatus()}
}

// Block implements experiments.Driver: the largest chunk.
func (c *Coordinator) Block() int { return c.most }

// Next implements experiments.Elastic: chunks that take a fraction of a second, and two
// for each core, so that a worker has the next one when it has played one.
func (c *Coordinator) Next(left int) (leagues, chunks int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.members {
		if c.plays(m) {
			chunks += m.window()
		}
	}
	chunks = min(max(chunks, 2)+2, MaxChunks)
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

// reader returns one that nobody uses. The caller puts it back.
func (c *Coordinator) reader() (r *reader, err error) {
	if r, ok := c.readers.Get().(*reader); ok {
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

// Play implements experiments.Worker: it has workers play a chunk.
func (w *waiter) Play(ctx context.Context, first int, out []results.League, quarantined []bool) error {
	r := chunk.Request{First: first, Count: len(out), Quarantined: quarantined}
	w.quarantined = quarantined
	by, err := w.part(ctx, &owed{request: r}, out)
	if err != nil || !w.coordinator.samples(first) {
		return err
	}
	return w.verify(ctx, r, by, out)
}

// Shares returns what each worker has played, the most first.
func (c *Coordinator) Shares() []Share {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []Share
	for _, id := range slices.Sorted(maps.Keys(c.shares)) {
		list = append(list, *c.shares[id])
	}
	slices.SortStableFunc(list, func(a, b Share) int { return cmp.Compare(b.Leagues, a.Leagues) })
	return list
}

// Close takes the run off the broker, and waits for what this coordinator has started. What
// the broker does not remove is no error: the leagues are complete without it.
func (c *Coordinator) Close() error {
	c.stop()
	over := c.announcement()
	over.Over = true
	c.link.tell(c.key, over, "run", c.job.Run)
	ctx, cancel := context.WithTimeout(context.Background(), apiTime)
	defer cancel()
	if err := c.link.remove(ctx, c.job.Run, c.code); err != nil {
		c.note("remove", "%s", plain(err.Error(), 2*mostText))
	}
	return nil
}

// stop ends what this coordinator has started.
func (c *Coordinator) stop() {
	if c.cancel != nil {
		c.cancel()
	}
	c.watcher.Wait()
	for _, s := range c.subs {
		_ = s.Unsubscribe() // the connection may be gone
	}
}

// Remove takes a run off the broker whose coordinator was killed. The error is an
// *UnknownRunError if it is not there.
func (l *Link) Remove(ctx context.Context, run string) error {
	a, err := l.announced(ctx, run)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	return l.remove(ctx, run, a.Job)
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
	if store, err := l.js.ObjectStore(ctx, l.store("code")); err == nil && code != "" {
		keep(store.Delete(ctx, code))
	}
	return first
}
