// Package budget bounds how long one call into a script may take.
//
// A Watchdog is one goroutine for all seats of a factory. It checks them every few
// milliseconds and interrupts calls that exceed their limits. An honest call pays
// two uncontended locks instead of a timer. The lock also keeps an interrupt from
// hitting a later call: Leave does not return during an interrupt.
//
// An interrupt takes effect where the interpreter checks for one. A call that
// continues long after its interrupt is reported as stuck: its goroutine can only
// be abandoned.
package budget

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"time"
)

// Limits bound one call of a script's hook. Zero fields mean the defaults.
type Limits struct {
	// Time is the time limit; default DefaultTime. It depends on the machine, so
	// it is far above the time of an honest call. Time in which the whole process
	// does not run does not count.
	Time time.Duration
	// Instructions is the number of VM instructions, if the runtime counts them;
	// default DefaultInstructions. It does not depend on the machine.
	Instructions int64
}

// ErrMemory is the cause of an interrupt because memory grew by more than MaxGrowth
// during the life of the seat.
var ErrMemory = errors.New("used too much memory")

// Default limits. An honest script takes microseconds and hundreds of
// instructions.
const (
	DefaultTime         = time.Second
	DefaultInstructions = 5_000_000
)

// An endless call uses its whole time in league after league. So every exceeded
// time limit halves the time of later calls, down to a sixteenth, but not below
// leastTime.
const (
	mostHalvings = 4
	leastTime    = 20 * time.Millisecond
)

// After an interrupt a call has patience times its limit, at least leastGrace, to
// return. A built-in function within its bounds needs a fraction of that.
const (
	patience   = 3
	leastGrace = 2 * time.Second
)

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
	ticks int // that a call may take
	least int // that halving leaves
	grace int // that a call may take to return after an interrupt
	memory
	lost func(context.Context)
	over int // calls that exceeded their time; used by the goroutine only

	mu     sync.Mutex
	guards map[*Guard]struct{}
	stop   chan struct{} // nil while the goroutine does not run
	done   chan struct{}
}

// NewWatchdog returns a watchdog that gives each call the time limit. It notices an
// exceeded limit at most a quarter of the limit late, or 5 ms.
//
// It counts the ticks it receives, so time in which the process has no processor
// does not count.
//
// The watchdog calls lost, if not nil, once for a call that continues long after
// its interrupt, with the context given to Enter. lost runs on the watchdog's
// goroutine and must not block.
func NewWatchdog(limit time.Duration, lost func(context.Context)) *Watchdog {
	tick := min(max(limit/8, time.Millisecond), 5*time.Millisecond)
	ticks := func(d time.Duration) int { return int((d + tick - 1) / tick) }
	if lost == nil {
		lost = func(context.Context) {}
	}
	return &Watchdog{
		tick: tick, ticks: ticks(limit), least: ticks(min(limit, leastTime)), grace: ticks(max(patience*limit, leastGrace)),
		memory: memory{size: memorySize, live: Live}, lost: lost, guards: make(map[*Guard]struct{}),
	}
}

// Guard registers one seat. interrupt makes the current call return soon; the
// watchdog calls it at most once per call, on a goroutine that Leave waits for. It
// must not call the Guard. Release ends the registration.
func (w *Watchdog) Guard(interrupt func()) *Guard {
	g := &Guard{dog: w, interrupt: interrupt}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.guards[g] = struct{}{}
	if w.stop == nil {
		w.stop, w.done = make(chan struct{}), make(chan struct{})
		go w.watch(w.stop, w.done)
	}
	return g
}

// Close stops the goroutine and waits for it. Calls in progress are no longer
// bounded.
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
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		w.mu.Lock()
		guards = slices.AppendSeq(guards[:0], maps.Keys(w.guards))
		w.mu.Unlock()
		allowed := max(w.ticks>>min(w.over, mostHalvings), w.least)
		for _, g := range guards {
			w.look(g, allowed)
		}
	}
}

// look counts one tick of a call.
func (w *Watchdog) look(g *Guard, allowed int) {
	lost, overran := g.check(allowed, w.grace, w.memory)
	if overran {
		w.over++
	}
	if lost != nil {
		w.lost(lost)
	}
}

// Guard watches the calls of one seat.
type Guard struct {
	dog       *Watchdog
	interrupt func()

	mu      sync.Mutex
	ctx     context.Context
	running bool
	ticks   int   // at which the watchdog found this call running
	fill    fill  // in the life of the seat
	cause   error // why it was interrupted
	since   int   // ticks since then
	landed  chan struct{}
}

// Enter starts a call. The watchdog interrupts it when its time is up or ctx is
// done.
func (g *Guard) Enter(ctx context.Context) {
	g.mu.Lock()
	g.ctx, g.running, g.ticks, g.cause, g.since = ctx, true, 0, nil, 0
	g.mu.Unlock()
}

// Leave ends a call. It returns the cause of an interrupt:
// context.DeadlineExceeded for the time limit, ErrMemory, or the cause of the
// context. The interrupt has completed, and the caller may clear it.
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

// Release ends the registration. It may be called more than once.
func (g *Guard) Release() {
	g.dog.mu.Lock()
	defer g.dog.mu.Unlock()
	delete(g.dog.guards, g)
}

// check counts one tick of the current call, if there is one. overran reports that
// the call exceeded its limit; lost is the context of a call that did not return
// after its interrupt.
func (g *Guard) check(allowed, grace int, m memory) (lost context.Context, overran bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case !g.running:
		return nil, false
	case g.cause != nil:
		if g.since++; g.since == grace {
			return g.ctx, false
		}
		return nil, false
	case g.ctx.Err() != nil:
		g.cause = context.Cause(g.ctx)
	case g.ticks > allowed: // the first tick may have come at once
		g.cause, overran = context.DeadlineExceeded, true
	case g.fill.grown(m):
		g.cause = ErrMemory
	default:
		g.ticks++
		return nil, false
	}
	// A broken interpreter may block the interrupt, which must not block the
	// watchdog.
	landed := make(chan struct{})
	g.landed = landed
	go func() {
		defer close(landed)
		g.interrupt()
	}()
	return nil, overran
}

// MaxGrowth is the number of bytes by which the memory of the process may grow
// during the life of a long-running seat. It bounds scripts that fill memory in a
// way that no other guard counts, at once or a little in every call. Several seats
// may have caused the growth, so only seats that run far longer than honest ones
// are interrupted.
const MaxGrowth = 128 << 20

const (
	// suspicious is the number of ticks at which a seat was found running before
	// its memory is checked.
	suspicious = 4
	// reprieve is the number of ticks without a check after one that found only
	// garbage.
	reprieve = 20
)

// memory measures the memory of the process.
type memory struct {
	size func() uint64 // fast, including garbage
	live func() uint64 // after a garbage collection, slow
}

// fill is the memory state of a seat.
type fill struct {
	ticks  int // at which it was found running
	base   uint64
	waiver int // no check before this tick
}

// grown counts a tick and reports whether the seat must be stopped.
func (f *fill) grown(m memory) bool {
	f.ticks++
	if f.ticks == 1 {
		f.base = m.size()
	}
	if f.ticks <= suspicious || f.ticks < f.waiver || m.size() <= f.base+MaxGrowth {
		return false
	}
	f.waiver = f.ticks + reprieve
	return m.live() > f.base+MaxGrowth
}

const (
	stacks  = "/memory/classes/heap/stacks:bytes"  // on which interpreters recurse
	objects = "/memory/classes/heap/objects:bytes" // including unswept garbage
	living  = "/gc/heap/live:bytes"                // found by the last collection
)

func memorySize() uint64 { return sum(objects, stacks) }

// Live collects garbage and returns the live memory of the process in bytes.
func Live() uint64 {
	runtime.GC()
	return sum(living, stacks)
}

func sum(a, b string) uint64 {
	sample := [2]metrics.Sample{{Name: a}, {Name: b}}
	metrics.Read(sample[:])
	return sample[0].Value.Uint64() + sample[1].Value.Uint64()
}
