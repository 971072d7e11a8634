// Package budget bounds how long one call into a script may take.
//
// A Watchdog is one goroutine for all seats of a factory. It checks them every few
// milliseconds and interrupts calls that exceed their limits. An honest call pays
// two uncontended locks instead of a timer. The lock also keeps an interrupt from
// hitting a later call: Leave does not return during an interrupt.
//
// The watchdog also adds up how long the calls of a seat have taken; see Total.
//
// An interrupt takes effect where the interpreter checks for one, which is not inside
// built-in functions. Only the end of the process stops a call that continues after its
// interrupt; Limits.Stuck reports it.
package budget

import (
	"context"
	"maps"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Limits bound one call of a script's hook. Zero fields mean the defaults.
type Limits struct {
	// Time is the time limit; default DefaultTime. It depends on the machine, so it is far above
	// the time of an honest call. Time in which the whole process does not run does not count.
	Time time.Duration
	// Instructions is the number of VM instructions, if the runtime counts them;
	// default DefaultInstructions. It does not depend on the machine.
	Instructions int64
	// Stuck, if not nil, receives when a call continues for Grace after its
	// interrupt; the receiver should end the process. It needs room for one.
	Stuck chan<- struct{} `json:"-"`
}

// Grace is the time that a call has to return after its interrupt in a process that ends with it,
// unless its limit is shorter: then it has as long as the limit again, but not less than 100 ms.
const Grace = 250 * time.Millisecond

// Memory is the memory that a process has for scripts, in bytes, whether it is there for one or for
// all scripts of a league: what one of them gets away with among others it gets away with alone.
const Memory = 256 << 20

// Default limits. An honest script takes microseconds and hundreds of instructions.
const (
	DefaultTime         = time.Second
	DefaultInstructions = 5_000_000
)

// An endless call uses its whole time in league after league. So every exceeded time limit halves
// the time of later calls, down to a sixteenth, but not below leastTime.
const (
	mostHalvings = 4
	leastTime    = 20 * time.Millisecond
	leastGrace   = 100 * time.Millisecond
)

// preemption is how long Go leaves the processor to a busy call, and a look may come late for that.
// If it comes later, a call that did not run at the look before may have just begun, on a busy machine,
// or may have kept the only processor. Once the seat has the benefit of the doubt.
const preemption = 10 * time.Millisecond

// Halved returns the time limit of a call after a number of calls that exceeded theirs.
func Halved(limit time.Duration, exceeded int) time.Duration {
	return max(limit>>min(exceeded, mostHalvings), min(limit, leastTime))
}

// OrDefaults replaces limits that are not positive by the defaults.
func (l Limits) OrDefaults() Limits {
	if l.Time <= 0 {
		l.Time = DefaultTime
	}
	if l.Instructions <= 0 {
		l.Instructions = DefaultInstructions
	}
	return l
}

// Watchdog interrupts calls that exceed their limits. It is safe for concurrent use.
// Its goroutine runs from the first Guard to Close.
type Watchdog struct {
	tick  time.Duration
	limit time.Duration // of a call, before any is halved
	grace int           // ticks that a call may take to return after an interrupt
	stuck chan<- struct{}
	over  int // calls that exceeded their time; used by the goroutine only

	busy atomic.Int64 // nanoseconds, by calls of all guards

	mu     sync.Mutex
	guards map[*Guard]struct{}
	stop   chan struct{} // nil while the goroutine does not run
	done   chan struct{}
}

// NewWatchdog returns a watchdog that gives each call the time limit of l. It notices an exceeded
// limit at most two of its ticks late: a quarter of the limit or 10 ms; where Go may use one
// processor only, which the call occupies, half the limit or 40 ms. A limit that was halved may be
// exceeded by a third tick.
//
// It counts the ticks it receives, so time in which the process has no processor does not count.
func NewWatchdog(l Limits) *Watchdog {
	limit := l.OrDefaults().Time
	tick := min(max(limit/8, time.Millisecond), 5*time.Millisecond)
	if runtime.GOMAXPROCS(0) == 1 {
		// Go takes the processor from a busy call about every 20 ms. Shorter ticks
		// would be dropped, and the limit would be several times as long.
		tick = min(max(limit/4, time.Millisecond), 20*time.Millisecond)
	}
	w := &Watchdog{tick: tick, limit: limit, stuck: l.Stuck, guards: make(map[*Guard]struct{})}
	w.grace = w.ticks(min(Grace, max(limit, leastGrace)))
	return w
}

// ticks returns a duration in ticks.
func (w *Watchdog) ticks(d time.Duration) int { return int((d + w.tick - 1) / w.tick) }

// Guard registers one seat. interrupt makes the current call return soon; the
// watchdog calls it at most once per call, on a goroutine that Leave waits for. It
// must not call the Guard. Release ends the registration. If most is positive, the
// watchdog also interrupts the call with which the seat's calls exceed that together.
func (w *Watchdog) Guard(interrupt func(), most time.Duration) *Guard {
	g := &Guard{dog: w, interrupt: interrupt, most: most}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.guards[g] = struct{}{}
	if w.stop == nil {
		w.stop, w.done = make(chan struct{}), make(chan struct{})
		go w.watch(w.stop, w.done)
	}
	return g
}

// Close stops the goroutine and waits for it. Calls in progress are no longer bounded.
func (w *Watchdog) Close() {
	w.mu.Lock()
	stop, done := w.stop, w.done
	w.stop = nil
	w.mu.Unlock()
	if stop != nil {
		close(stop)
		<-done
	}
}

func (w *Watchdog) watch(stop, done chan struct{}) {
	defer close(done)
	tick := time.NewTicker(w.tick)
	defer tick.Stop()
	var guards []*Guard
	var clock clock
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		w.mu.Lock()
		guards = slices.AppendSeq(guards[:0], maps.Keys(w.guards))
		w.mu.Unlock()
		passed := clock.lap()
		allowed := w.ticks(Halved(w.limit, w.over))
		for _, g := range guards {
			w.look(g, allowed, passed)
		}
	}
}

// look counts one tick of a call, during which the process had a processor for the time
// that passed.
func (w *Watchdog) look(g *Guard, allowed int, passed time.Duration) {
	stuck, overran := g.check(allowed, w.grace, passed)
	if overran {
		w.over++
	}
	if stuck {
		select {
		case w.stuck <- struct{}{}:
		default: // nobody wants to know, or somebody knows already
		}
	}
}

// Guard watches the calls of one seat.
type Guard struct {
	dog       *Watchdog
	interrupt func()
	most      time.Duration // of all calls; 0 for no bound

	mu      sync.Mutex
	spent   time.Duration // by all calls
	doubted bool          // a late look has charged a part only
	ctx     context.Context
	running bool
	ticks   int   // at which the watchdog found this call running
	cause   error // why it was interrupted
	since   int   // ticks since then
	landed  chan struct{}
}

// Enter starts a call. The watchdog interrupts it when its time is up or ctx is done.
func (g *Guard) Enter(ctx context.Context) {
	g.mu.Lock()
	g.ctx, g.running, g.ticks, g.cause, g.since = ctx, true, 0, nil, 0
	g.mu.Unlock()
}

// Leave ends a call. It returns the cause of an interrupt: context.DeadlineExceeded for
// the time limit, ErrTotal for that of all calls, or the cause of the context. The
// interrupt has completed, and the caller may clear it.
func (g *Guard) Leave() error {
	g.mu.Lock()
	cause, landed := g.cause, g.landed
	g.running, g.ctx, g.landed = false, nil, nil
	g.mu.Unlock()
	if landed != nil {
		<-landed
	}
	return cause
}

// Busy returns the processor time of the calls of all guards so far; see Guard.Spent.
func (w *Watchdog) Busy() time.Duration { return time.Duration(w.busy.Load()) }

// Release ends the registration. It may be called more than once.
func (g *Guard) Release() {
	g.dog.mu.Lock()
	defer g.dog.mu.Unlock()
	delete(g.dog.guards, g)
}

// Spent returns the processor time of all calls so far. The watchdog samples it: it
// charges a call that it finds running with the time since it looked last. So it is
// about right over many ticks, and 0 for most short calls.
func (g *Guard) Spent() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.spent
}

// check counts one tick of the current call, if there is one. overran reports that
// the call exceeded its limit; stuck, that it did not return after its interrupt.
func (g *Guard) check(allowed, grace int, passed time.Duration) (stuck, overran bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running {
		if most := g.dog.tick + preemption; passed > most && g.ticks == 0 && !g.doubted {
			g.doubted, passed = true, most
		}
		g.spent += passed
		g.dog.busy.Add(int64(passed))
	}
	switch {
	case !g.running:
		return false, false
	case g.cause != nil:
		g.since++
		return g.since == grace, false
	case g.ctx.Err() != nil:
		g.cause = context.Cause(g.ctx)
	case g.ticks > allowed: // the first tick may have come at once
		g.cause, overran = context.DeadlineExceeded, true
	case g.most > 0 && g.spent > g.most:
		g.cause = ErrTotal
	default:
		g.ticks++
		return false, false
	}
	// A broken interpreter may block the interrupt, which must not block the watchdog.
	landed := make(chan struct{})
	g.landed = landed
	go func() {
		defer close(landed)
		g.interrupt()
	}()
	return false, overran
}

// Live collects garbage and returns the live memory of the process in bytes, with the
// stacks on which interpreters recurse.
func Live() uint64 {
	runtime.GC()
	sample := [2]metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(sample[:])
	return sample[0].Value.Uint64() + sample[1].Value.Uint64()
}
