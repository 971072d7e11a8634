// Package budget bounds how long one call into a script may take.
//
// A Watchdog is one goroutine for all seats of a factory. It looks at them
// every few milliseconds and interrupts a call that has overrun, which costs
// an honest call two uncontended locks instead of a timer. The lock is also
// the handshake that keeps an interrupt from striking a later, innocent call:
// Leave cannot return while an interrupt is under way.
package budget

import (
	"context"
	"sync"
	"time"
)

// Limits bound one call of a script's hook. The zero value means the defaults.
type Limits struct {
	// Time is the wall-clock budget; default DefaultTime. An overrun depends
	// on the machine, so it is set far above what an honest call takes.
	Time time.Duration
	// Instructions is the number of VM instructions, where the runtime can
	// count them; default DefaultInstructions. An overrun does not depend on
	// the machine.
	Instructions int64
}

// Default limits. An honest script takes microseconds and hundreds of
// instructions.
const (
	DefaultTime         = 250 * time.Millisecond
	DefaultInstructions = 5_000_000
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
	limit time.Duration

	mu     sync.Mutex
	guards map[*Guard]struct{}
	stop   chan struct{} // nil while the goroutine does not run
	done   chan struct{}
}

// NewWatchdog returns a watchdog that allows each call the given time. An
// overrun is noticed at most a quarter of the limit late, or 5 ms.
func NewWatchdog(limit time.Duration) *Watchdog {
	return &Watchdog{limit: limit, guards: make(map[*Guard]struct{})}
}

// Guard registers one seat. interrupt makes the call under way return soon;
// it is called at most once per call, from the watchdog's goroutine, and must
// not block or call back into the Guard. Release ends the registration.
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
	tick := time.NewTicker(min(max(w.limit/8, time.Millisecond), 5*time.Millisecond))
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
		now := time.Now()
		for _, g := range guards {
			g.check(now, w.limit)
		}
	}
}

// Guard watches the calls of one seat.
type Guard struct {
	dog       *Watchdog
	interrupt func()

	mu      sync.Mutex
	ctx     context.Context
	running bool
	seen    bool      // by the watchdog, during this call
	since   time.Time // when it was first seen
	cause   error     // why it was interrupted
}

// Enter begins a call. The call is interrupted when its time is up or when ctx
// is done, whichever comes first.
func (g *Guard) Enter(ctx context.Context) {
	g.mu.Lock()
	g.ctx, g.running, g.seen, g.cause = ctx, true, false, nil
	g.mu.Unlock()
}

// Leave ends a call. If the call was interrupted it returns why:
// context.DeadlineExceeded for the budget, or the context's cause. The
// interrupt has landed by then, and the caller may clear it.
func (g *Guard) Leave() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running, g.ctx = false, nil
	return g.cause
}

// Release ends the registration. It may be called more than once.
func (g *Guard) Release() {
	g.dog.mu.Lock()
	defer g.dog.mu.Unlock()
	delete(g.dog.guards, g)
}

func (g *Guard) check(now time.Time, limit time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case !g.running || g.cause != nil:
		return
	case g.ctx.Err() != nil:
		g.cause = context.Cause(g.ctx)
	case !g.seen:
		g.seen, g.since = true, now
		return
	case now.Sub(g.since) >= limit:
		g.cause = context.DeadlineExceeded
	default:
		return
	}
	g.interrupt()
}
