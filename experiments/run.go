// Package experiments plays the leagues of a plan on several workers and hands
// their records on in league order.
//
// It knows no strategies and no messages: whatever plays a league is a Driver.
// The package arena drives leagues directly; others may drive them through the
// agents and their messages. What comes out depends on the plan alone, not on
// workers, on how leagues are grouped, or on how often the run was interrupted
// and resumed (save for faults that depend on the clock; see
// game.Fault.Reproducible).
//
// # Quarantine
//
// A player that overruns its time, its budget or its process in league after
// league would slow a run down beyond use. So after every Checkpoint leagues,
// that is before each league whose index is a multiple of Checkpoint, the
// players are put aside that lost their seat to an overrun (game.FaultTimeout,
// game.FaultBudget or game.FaultCrash) in at least QuarantineAfter of the
// Checkpoint leagues before. The crash of a plugin does not count: it costs all
// leagues that are under way at once, and a plugin is started again only so
// often in a run. From then on they are not called any more: each of
// their matches is lost with game.FaultQuarantined. The rule looks at records
// only, so a resumed run comes to the same decisions.
//
// Workers do not wait for the decision. They play on under the set of players
// they know, and a league that was played under another set than the one that
// turns out to hold is played again.
package experiments

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/strategylab/strategylab/host/results"
)

// Checkpoint is the number of leagues after which decisions are taken that
// depend on what happened before: whom to put aside and, unless Config.Every says
// otherwise, whether to stop.
const Checkpoint = 64

// QuarantineAfter is in how many of the Checkpoint leagues before a player must
// have lost its seat to an overrun to be put aside for the rest of the run.
const QuarantineAfter = Checkpoint / 2

// Driver plays the leagues of a plan. It is safe for concurrent use.
type Driver interface {
	// Block is how many consecutive leagues a worker plays best in one call;
	// at least 1. What is played does not depend on it.
	Block() int
	// NewWorker makes a worker, for one goroutine at a time.
	NewWorker(ctx context.Context) (Worker, error)
}

// Worker plays leagues one call after another and keeps between them what can
// be used again.
type Worker interface {
	// Play plays the leagues first, first+1, ... of the plan, one for each
	// element of out, and fills these in, using their memory again. barred[f]
	// says that the player with field index f is put aside.
	//
	// What goes wrong with a player is in the records. An error means that
	// the leagues could not be played, ctx being done among other reasons;
	// what out holds then is undefined.
	Play(ctx context.Context, first int, out []results.League, barred []bool) error
	// Close gives up what the worker keeps.
	Close() error
}

// Sink takes leagues in league order, from one goroutine at a time. A league
// is valid during the call.
type Sink interface {
	Append(l *results.League) error
}

// Flusher is an optional extension of Sink. Flush is called whenever no
// further league is ready, and at the end.
type Flusher interface {
	Sink
	Flush() error
}

// Tee returns a Sink that hands each league to all the given sinks in turn, up
// to the first that fails.
func Tee(sinks ...Sink) Flusher { return tee(sinks) }

type tee []Sink

func (t tee) Append(l *results.League) error {
	for _, s := range t {
		if err := s.Append(l); err != nil {
			return err
		}
	}
	return nil
}

func (t tee) Flush() error {
	for _, s := range t {
		if err := flush(s); err != nil {
			return err
		}
	}
	return nil
}

func flush(s Sink) error {
	if f, ok := s.(Flusher); ok {
		return f.Flush()
	}
	return nil
}

// Config of a run. The zero value plays all leagues on all processors.
type Config struct {
	// Workers is how many leagues are under way at once, or blocks of leagues
	// where the driver plays such; 0 means runtime.GOMAXPROCS.
	Workers int
	// After holds the leagues that are recorded already; the run begins with
	// the next and adds to it. Nil means that there are none.
	After *Prefix
	// Stop, if not nil, is asked whether the leagues so far are enough, whenever
	// their number is a multiple of Every; the sink has been given exactly them.
	// A resumed run asks again where the earlier one may have been killed before
	// it could.
	Stop func(leagues int) bool
	// Every is how many leagues lie between two questions; 0 means Checkpoint.
	// Where a run stops depends on Stop and Every alone, never on workers or time.
	Every int
}

// Outcome is what a run has come to, leagues recorded earlier included.
type Outcome struct {
	Leagues      int
	Matches      int
	Digest       string // of all leagues; see results.Hasher
	Reproducible bool   // no fault depended on the clock or the machine
	Quarantined  []int  // field indices of players put aside
	Stopped      bool   // Config.Stop said so
}

// Run plays the leagues of a plan that come after opts.After and gives each to
// sink, in league order.
//
// If ctx is done it stops soon and returns the context's cause; if a league
// cannot be played or recorded, that error. In either case the sink has been
// given every league of the contiguous prefix that is complete, and the Outcome
// describes it. No goroutine outlives the call.
func Run(ctx context.Context, plan results.Plan, driver Driver, sink Sink, opts Config) (Outcome, error) {
	prefix := opts.After
	if prefix == nil {
		var err error
		if prefix, err = NewPrefix(plan); err != nil {
			return Outcome{}, err
		}
	}
	if prefix.players != len(plan.Field) || prefix.Leagues() > plan.Runs {
		return Outcome{}, fmt.Errorf("run: %d leagues of %d players do not begin a plan of %d leagues of %d",
			prefix.Leagues(), prefix.players, plan.Runs, len(plan.Field))
	}
	r := newRun(plan, prefix, driver, sink, opts)
	err := r.run(ctx)
	return Outcome{
		Leagues: prefix.Leagues(), Matches: prefix.matches, Digest: prefix.Digest(),
		Reproducible: prefix.reproducible, Quarantined: slices.Clone(prefix.quarantined), Stopped: r.stopped,
	}, err
}

// chunk is a number of consecutive leagues, the unit that workers are given. It
// belongs to the run or to one worker, never to both.
type chunk struct {
	first   int              // index of leagues[0]
	leagues []results.League // memory is kept for the next use
	from    int              // leagues[:from] are recorded
	played  int              // leagues[from:played] are ready
	barred  []bool           // the set that they are played under
	version int              // of the set: how many players are in it
	err     error
}

// run schedules chunks and records what comes back in order. Everything in it
// belongs to the goroutine that called Run; workers see the channels only.
type run struct {
	prefix *Prefix
	driver Driver
	sink   Sink
	stop   func(int) bool
	every  int // leagues from one call of stop to the next
	total  int // leagues in the plan

	workers int
	block   int
	size    int // leagues in a chunk

	next    int            // first league that is not in any chunk
	free    []*chunk       // waiting for leagues
	ready   map[int]*chunk // played, by the first league that is not recorded
	todo    chan *chunk
	done    chan *chunk
	stopped bool // Stop said so
	broken  bool // the sink takes no more
	closed  bool // todo takes no more
}

func newRun(plan results.Plan, prefix *Prefix, driver Driver, sink Sink, opts Config) *run {
	workers := opts.Workers
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	rest, matches := plan.Runs-prefix.Leagues(), len(prefix.schedule)
	r := &run{
		prefix: prefix, driver: driver, sink: sink, stop: opts.Stop, every: opts.Every, total: plan.Runs,
		block: max(1, driver.Block()),
		next:  prefix.Leagues(), ready: make(map[int]*chunk),
	}
	if r.every < 1 {
		r.every = Checkpoint
	}
	r.size = chunkSize(r.block, matches, rest, workers)
	r.workers = max(1, min(workers, (rest+r.size-1)/r.size))
	// Enough chunks that workers need not wait for a slow one, but no more
	// memory than a few large leagues need anyway.
	const most = 64 << 20
	const matchBytes = 8
	slots := min(max(most/(r.size*matches*matchBytes), r.workers+1), 4*r.workers)
	for range slots {
		r.free = append(r.free, &chunk{leagues: make([]results.League, r.size)})
	}
	// Wide enough that nobody ever waits to send: each chunk is in one place.
	r.todo = make(chan *chunk, slots)
	r.done = make(chan *chunk, slots+r.workers)
	return r
}

// chunkSize weighs the cost of handing a chunk over, about that of ten matches,
// against workers that run out of work before the others, and against what an
// interruption throws away.
func chunkSize(block, matches, rest, workers int) int {
	share := max(1, rest/workers)
	if block > 1 {
		return min(block, share)
	}
	const worthwhile = 2048 // matches
	return max(1, min(worthwhile/matches, share/4, Checkpoint))
}

// run plays and records until the run is over or there is a reason to stop, and
// then records what is complete already.
func (r *run) run(ctx context.Context) error {
	if r.stopped = r.asksToStop(); r.over() {
		return flush(r.sink)
	}
	workCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	var workers errgroup.Group
	for range r.workers {
		workers.Go(func() error { return r.work(workCtx) })
	}
	err := r.schedule(ctx)
	cancel()
	r.closed = true
	close(r.todo)
	closeErr := workers.Wait()
	if err != nil && !r.broken {
		err = r.drain(err)
	}
	return cmp.Or(err, closeErr)
}

// work is the life of one worker.
func (r *run) work(ctx context.Context) (err error) {
	w, err := r.driver.NewWorker(ctx)
	if err != nil {
		r.done <- &chunk{err: fmt.Errorf("start worker: %w", err)}
		return nil
	}
	defer func() {
		if cerr := w.Close(); cerr != nil {
			err = fmt.Errorf("stop worker: %w", cerr)
		}
	}()
	for c := range r.todo {
		c.play(ctx, w, r.block)
		r.done <- c
	}
	return nil
}

func (c *chunk) play(ctx context.Context, w Worker, block int) {
	for c.played < len(c.leagues) {
		first, end := c.first+c.played, min(c.played+block, len(c.leagues))
		if c.err = ctx.Err(); c.err != nil {
			return
		}
		if err := w.Play(ctx, first, c.leagues[c.played:end], c.barred); err != nil {
			c.err = fmt.Errorf("play league %d: %w", first, err)
			return
		}
		c.played = end
	}
}
