// Package budget bounds how long one call into a script may take.
//
// A Watchdog is one goroutine for all seats of a factory. It looks at them
// every few milliseconds and interrupts a call that has overrun, which costs
// an honest call two uncontended locks instead of a timer. The lock is also
// the handshake that keeps an interrupt from striking a later, innocent call:
// Leave cannot return while an interrupt is under way.
//
// An interrupt reaches a call only where its interpreter looks for one. A call
// that goes on for long after it was interrupted is reported as lost: then only
// the goroutine that made it can be given up.
package budget

import (
	"context"
	"errors"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// Limits bound one call of a script's hook. The zero value means the defaults.
type Limits struct {
	// Time is the time budget; default DefaultTime. An overrun depends on the
	// machine, so it is set far above what an honest call takes, and time in
	// which the whole process stood still does not count.
	Time time.Duration
	// Instructions is the number of VM instructions, where the runtime can
	// count them; default DefaultInstructions. An overrun does not depend on
	// the machine.
	Instructions int64
}

// ErrMemory is why a call was interrupted of a seat during whose life memory
// has grown by more than MaxGrowth.
var ErrMemory = errors.New("used too much memory")

// Default limits. An honest script takes microseconds and hundreds of
// instructions.
const (
	DefaultTime         = time.Second
	DefaultInstructions = 5_000_000
)

// A call that overruns its time takes as long as it may, over and over again in
// a run of many leagues. So every overrun halves the time of the calls that
// come after it, down to a sixteenth, but not below leastTime.
const (
	mostHalvings = 4
	leastTime    = 20 * time.Millisecond
)

// After an interrupt a call is given as much time again as its limit, times
// patience, but no less than leastGrace, to return. A built-in function that
// works within its bounds does so in a fraction of that.
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

// Watchdog interrupts calls that overrun. It is safe for concurrent use. Its
// goroutine runs from the first Guard to Close.
type Watchdog struct {
	tick  time.Duration
	ticks int // that a call may take
	least int // that is left of them after overruns
	grace int // that a call may take to return once it is interrupted
	memory
	lost func(context.Context)
	over int // calls that overran their time; the goroutine's alone

	mu     sync.Mutex
	guards map[*Guard]struct{}
	stop   chan struct{} // nil while the goroutine does not run
	done   chan struct{}
}

// NewWatchdog returns a watchdog that allows each call the given time. An
// overrun is noticed at most a quarter of the limit late, or 5 ms.
//
// Time is counted in ticks that the watchdog really got. A process that the
// machine leaves without a processor gets none, so that a stall is not taken
// for an endless loop.
//
// lost, if not nil, is told of a call that goes on for long after it was
// interrupted, once, with the context that was given to Enter. It is called on
// the watchdog's goroutine and must not block.
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

// Guard registers one seat. interrupt makes the call under way return soon; it
// is called at most once per call, from a goroutine that Leave waits for, and
// must not call back into the Guard. Release ends the registration.
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

// Close stops the goroutine and waits for it. Calls that are still under way
// are no longer bounded.
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
		guards = guards[:0]
		w.mu.Lock()
		for g := range w.guards {
			guards = append(guards, g)
		}
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
	ticks   int   // at which the watchdog has found this call running
	fill    fill  // in the life of the seat
	cause   error // why it was interrupted
	since   int   // ticks since then
	landed  chan struct{}
}

// Enter begins a call. The call is interrupted when its time is up or when ctx
// is done, whichever comes first.
func (g *Guard) Enter(ctx context.Context) {
	g.mu.Lock()
	g.ctx, g.running, g.ticks, g.cause, g.since = ctx, true, 0, nil, 0
	g.mu.Unlock()
}

// Leave ends a call. If the call was interrupted it returns why:
// context.DeadlineExceeded for the time budget, ErrMemory, or the context's cause. The
// interrupt has landed by then, and the caller may clear it.
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

// check counts one tick of the call under way, if there is one. It tells if that
// was one more than allowed, and, once the time to return is over as well, the
// context of the call that is lost.
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
	// An interpreter that is beyond help may keep whoever interrupts it
	// waiting, which must not be the watchdog.
	landed := make(chan struct{})
	g.landed = landed
	go func() {
		defer close(landed)
		g.interrupt()
	}()
	return nil, overran
}

// MaxGrowth is by how many bytes the memory of the process may grow during the
// life of a seat whose calls take suspiciously long. Such a seat is interrupted
// before it can starve the host: this is what bounds a script that fills memory
// with something no other guard counts, be it at once or a little in every
// call. Which of several seats is to blame cannot be told, so only those are
// looked at that have run for far longer than honest ones do.
const MaxGrowth = 128 << 20

const (
	// suspicious is at how many ticks in its life a seat has been found running
	// before it is looked at for that.
	suspicious = 4
	// reprieve is for how many ticks a seat is left alone that was looked at
	// and found innocent: what had grown was garbage.
	reprieve = 20
)

// memory tells what the process takes up.
type memory struct {
	size func() uint64 // at a glance, with what is dead already
	live func() uint64 // what is left after a collection, which takes its time
}

// fill is what is known of the memory that a seat has filled.
type fill struct {
	ticks  int // at which it was found running
	base   uint64
	waiver int // ticks before which it is not looked at again
}

// grown counts a tick and reports whether the seat has to be stopped.
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
	objects = "/memory/classes/heap/objects:bytes" // the dead ones that have not been swept included
	living  = "/gc/heap/live:bytes"                // found by the last collection
)

func memorySize() uint64 { return sum(objects, stacks) }

// Live collects garbage and returns how many bytes the process holds on to.
func Live() uint64 {
	runtime.GC()
	return sum(living, stacks)
}

func sum(a, b string) uint64 {
	sample := [2]metrics.Sample{{Name: a}, {Name: b}}
	metrics.Read(sample[:])
	return sample[0].Value.Uint64() + sample[1].Value.Uint64()
}
