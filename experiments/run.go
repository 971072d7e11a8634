// Package experiments plays the leagues of a plan on several workers and passes
// their records on in league order.
//
// It does not import strategies or messages: a Driver plays a league. Package
// arena plays leagues directly; package host plays them with agents. The records
// depend on the plan alone, not on workers, the grouping of leagues, or
// interruptions (except for faults that depend on the clock; see
// game.Fault.Reproducible).
//
// # Quarantine
//
// A player that exceeds its limits in league after league would make a run
// unusably slow. So after 4, 8, 16, 32, 64 leagues and then after every 64
// (Checkpoint), the run quarantines the players that lost their seat to
// game.FaultTimeout, game.FaultBudget or game.FaultCrash in at least half of the
// leagues since the last such decision. The crash of a plugin does not count: it
// affects all leagues in progress, and the number of its restarts is limited. A
// quarantined player loses every match with game.FaultQuarantined and is not
// called again. Since results.PlanSchema it also quarantines those that cost more than a
// league may cost, on the average of the leagues since the last decision
// (results.Cost). The rule depends on records only, so a resumed run makes the same
// decisions. The exception is time: it is recorded where it decides, so a run that was
// interrupted since the last decision forgets what it had measured. A run of
// results.PlanSchema1 decides after every 64 leagues only.
//
// A driver may quarantine a player, too, that it cannot play with: by a note of
// game.FaultQuarantined in the first league in which it lets that player lose every
// match so. The run then quarantines it at once, and is not reproducible.
//
// Workers do not wait for the decision. They continue with the quarantine they
// know, each with the league or block that it plays at that moment, and a league
// that was played with an outdated one is played again.
package experiments

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/strategylab/strategylab/host/results"
)

// Checkpoint is the interval, in leagues, of decisions that depend on earlier
// leagues: whom to quarantine, if not sooner, and, unless Config.Every is set,
// whether to stop.
const Checkpoint = 64

// firstCheckpoint is the number of leagues before the first decision about
// quarantine. It doubles up to Checkpoint: a script that hangs in every call costs
// four leagues.
const firstCheckpoint = 4

// Driver plays the leagues of a plan. It is safe for concurrent use.
type Driver interface {
	// Block is the best number of consecutive leagues for one call of Play, at
	// least 1. Records do not depend on it.
	Block() int
	// NewWorker makes a worker for one goroutine at a time.
	NewWorker(ctx context.Context) (Worker, error)
}

// Worker plays leagues and reuses memory between calls.
type Worker interface {
	// Play plays the leagues first, first+1, ... of the plan into the elements
	// of out, reusing their memory. quarantined[f] reports that the player with
	// field index f is quarantined.
	//
	// Failures of players are in the records. An error means that the leagues
	// could not be played, for example because ctx is done; out is then
	// undefined.
	Play(ctx context.Context, first int, out []results.League, quarantined []bool) error
	// Close releases the resources of the worker.
	Close() error
}

// Sink receives leagues in league order, from one goroutine at a time. A league is
// valid during the call.
type Sink interface {
	Append(l *results.League) error
}

// Flusher is an optional extension of Sink. Run calls Flush when no further league
// is ready, and at the end.
type Flusher interface {
	Sink
	Flush() error
}

// Tee returns a Sink that passes each league to all sinks in turn, up to the first
// that fails.
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
	// Workers is the number of leagues, or blocks of leagues, played in
	// parallel; 0 means runtime.GOMAXPROCS.
	Workers int
	// After holds the leagues recorded already; the run continues with the next
	// and adds to it. Nil means none.
	After *Prefix
	// Stop, if not nil, reports whether the leagues so far are enough. Run calls
	// it when their number is a multiple of Every, after the sink has received
	// them. A resumed run asks again, because the earlier one may have been
	// killed before it asked.
	Stop func(leagues int) bool
	// Every is the interval of Stop, in leagues; 0 means Checkpoint. Where a run
	// stops depends on Stop and Every alone, never on workers or time.
	Every int
}

// Outcome is the result of a run, including leagues recorded earlier.
type Outcome struct {
	Leagues      int
	Matches      int
	Digest       string // of all leagues; see results.Hasher
	Reproducible bool   // no fault depended on the clock or the machine
	Quarantined  []int  // field indices of quarantined players
	Stopped      bool   // by Config.Stop
}

// Run plays the leagues of a plan, or of its shard, after config.After and passes each
// to sink, in league order.
//
// If ctx is done, Run stops soon and returns the context's cause. If a league
// cannot be played or recorded, it returns that error. In both cases the sink has
// received the complete leagues of a contiguous prefix, which the Outcome
// describes. No goroutine outlives the call.
func Run(ctx context.Context, plan results.Plan, driver Driver, sink Sink, config Config) (Outcome, error) {
	prefix := config.After
	if prefix == nil {
		var err error
		if prefix, err = NewPrefix(plan); err != nil {
			return Outcome{}, err
		}
	}
	if _, end := plan.Span(); prefix.players != len(plan.Field) || prefix.Leagues() > end {
		return Outcome{}, fmt.Errorf("run: %d leagues of %d players do not begin a plan of %d leagues of %d",
			prefix.Leagues(), prefix.players, end, len(plan.Field))
	}
	r := newRun(plan, prefix, driver, sink, config)
	err := r.run(ctx)
	out := prefix.outcome()
	out.Stopped = r.stopped
	return out, err
}

func (p *Prefix) outcome() Outcome {
	return Outcome{
		Leagues: p.Leagues() - p.first, Matches: p.matches, Digest: p.Digest(),
		Reproducible: p.reproducible, Quarantined: slices.Clone(p.quarantineOrder),
	}
}

// chunk is a number of consecutive leagues, the unit of work. It belongs to the run
// or to one worker, never to both.
type chunk struct {
	first       int              // index of leagues[0]
	leagues     []results.League // memory is kept for the next use
	from        int              // leagues[:from] are recorded
	played      int              // leagues[from:played] are ready
	quarantined []bool           // the quarantine it is played with
	version     int64            // of the quarantine: its number of players
	err         error
}

// run schedules chunks and records their leagues in order. It belongs to the
// goroutine that called Run; workers use the channels only.
type run struct {
	prefix *Prefix
	driver Driver
	sink   Sink
	stop   func(int) bool
	every  int // leagues from one call of stop to the next
	total  int // index after the last league

	workers int
	block   int
	size    int // leagues in a chunk

	elastic Elastic // the driver, if it is one; else nil
	ahead   int     // leagues that may be played before an earlier one is; for elastic

	version atomic.Int64   // of the quarantine; written by the run
	next    int            // first league not yet in a chunk
	free    []*chunk       // waiting for leagues
	ready   map[int]*chunk // played, by the first unrecorded league
	todo    chan *chunk
	done    chan *chunk
	stopped bool // by Stop
	broken  bool // the sink has failed
	closed  bool // todo is closed
}

func newRun(plan results.Plan, prefix *Prefix, driver Driver, sink Sink, config Config) *run {
	workers := config.Workers
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	_, end := plan.Span()
	rest, matches := end-prefix.Leagues(), len(prefix.schedule)
	r := &run{
		prefix: prefix, driver: driver, sink: sink, stop: config.Stop, every: config.Every, total: end,
		block: max(1, driver.Block()),
		next:  prefix.Leagues(), ready: make(map[int]*chunk),
	}
	if r.every < 1 {
		r.every = Checkpoint
	}
	r.version.Store(int64(len(prefix.quarantineOrder)))
	r.size = chunkSize(r.block, matches, rest, workers)
	r.workers = max(1, min(workers, (rest+r.size-1)/r.size))
	if elastic, ok := driver.(Elastic); ok {
		r.elastic, r.ahead, r.size, r.workers = elastic, max(elasticMemory/LeagueBytes(len(plan.Field), plan.Legs), Checkpoint), r.block, workers
	}
	// Enough chunks that workers do not wait for a slow one, within a bound on
	// memory.
	const most = 64 << 20
	slots := min(max(most/(r.size*matches*matchBytes), r.workers+1), 4*r.workers)
	for range slots {
		r.free = append(r.free, new(chunk))
	}
	// Large enough that sending never blocks: each chunk is in one place.
	r.todo = make(chan *chunk, slots)
	r.done = make(chan *chunk, slots+r.workers)
	return r
}

// matchBytes is the memory of a match in a league.
const matchBytes = 8

// chunkSize balances the cost of passing a chunk on, about that of ten matches,
// against idle workers at the end and work lost by an interruption.
func chunkSize(block, matches, rest, workers int) int {
	share := max(1, rest/workers)
	if block > 1 {
		return min(block, share)
	}
	const worthwhile = 2048 // matches
	return max(1, min(worthwhile/matches, share/4, Checkpoint))
}

// run plays and records until the run is over, fails or is canceled, and then
// records the complete leagues.
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
		c.play(ctx, w, r)
		r.done <- c
	}
	return nil
}

// play plays the rest of the chunk, as long as its quarantine holds.
func (c *chunk) play(ctx context.Context, w Worker, r *run) {
	for c.played < len(c.leagues) && !r.stale(c) {
		first, end := c.first+c.played, min(c.played+r.block, len(c.leagues))
		if c.err = ctx.Err(); c.err != nil {
			return
		}
		if err := w.Play(ctx, first, c.leagues[c.played:end], c.quarantined); err != nil {
			c.err = fmt.Errorf("play league %d: %w", first, err)
			return
		}
		c.played = end
	}
}
