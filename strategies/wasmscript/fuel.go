package wasmscript

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/strategylab/strategylab/strategies/budget"
)

// slice is the number of instructions that a call gets at a time. Compiled code cannot be
// preempted: a garbage collection and an interrupt wait for the end of a slice. It lasts
// for a tenth of a millisecond, with the slowest instructions for some milliseconds. A
// call that ends within its first slice costs no more than its instructions.
const slice = 100_000

// Why refill ends a call.
var (
	errSpent   = errors.New("no instructions are left")
	errStopped = errors.New("the call was interrupted")
	errTotal   = errors.New("no instructions are left of those of the league")
)

// fuel is what remains to a seat's current call, and who watches it.
type fuel struct {
	limit   int64 // instructions of a call
	total   int64 // of all calls; 0 for no bound
	reserve int64 // those of a call after the first slice
	rest    int64 // what the current call has not been granted yet
	used    int64 // granted to earlier slices, or used by calls that failed

	ctx   context.Context                      // of the current call
	cause error                                // why the last call that failed was interrupted, if it was
	watch func(interrupt func()) *budget.Guard // starts one
	guard *budget.Guard                        // nil until a call takes longer than a slice

	stage   uint64      // of the global of that name, to which rest belongs
	watched bool        // the current call is
	stopped atomic.Bool // by the watchdog
}

// prepare sets what every call of a seat gets.
func (in *instance) prepare(instructions, total int64, watch func(func()) *budget.Guard) {
	in.fuel.limit, in.fuel.total, in.fuel.used, in.fuel.watch = instructions, total, 0, watch
	in.fuel.reserve = instructions - in.fuel.grant()
	in.global[grantGlobal].Set(uint64(in.fuel.grant()))
	in.global[usedGlobal].Set(0)
}

// grant is the fuel with which a call begins.
func (t *fuel) grant() int64 { return min(t.limit, slice) }

// refill continues a call that has used its slice. It panics with errSpent if that was
// the last, with errTotal if all calls together have used too many, or with errStopped if
// somebody stopped the call. So calls within a slice end no seat, whatever they add up to.
func (in *instance) refill() {
	t := &in.fuel
	if stage := in.global[stageGlobal].Get(); stage != t.stage {
		in.next(stage) // what has observed chooses now
	}
	if !t.watched {
		if t.guard == nil {
			t.guard = t.watch(func() { t.stopped.Store(true) })
		}
		t.stopped.Store(false)
		t.guard.Enter(t.ctx)
		t.watched = true
	}
	if t.stopped.Load() || t.ctx.Err() != nil {
		panic(errStopped)
	}
	if t.total > 0 && in.instructions()+t.grant()-in.left() > t.total {
		panic(errTotal)
	}
	more := max(slice, -in.left()) // one instruction may cost more than a slice
	if more = min(more, t.rest); in.left()+more < 0 {
		panic(errSpent)
	}
	t.rest -= more
	t.used += more
	in.global[fuelGlobal].Set(uint64(in.left() + more))
}

// next begins the next call of a step.
func (in *instance) next(stage uint64) {
	t := &in.fuel
	t.stage, t.rest = stage, t.reserve
	_ = t.leave()
}

// leave ends the watch over a call, and returns why that was interrupted.
func (t *fuel) leave() (cause error) {
	if t.watched {
		t.watched = false
		cause = t.guard.Leave()
	}
	return cause
}

// run calls a function that begins in a stage. The result is in stack.
func (in *instance) run(ctx context.Context, f function, stage uint64, stack []uint64) error {
	t := &in.fuel
	t.ctx, t.stage, t.rest = ctx, stage, t.reserve
	err := f.CallWithStack(in.ctx, stack)
	if err == nil && !t.watched {
		return nil
	}
	return in.after(err)
}

// after ends a call that was watched or has failed.
func (in *instance) after(err error) error {
	t := &in.fuel
	t.cause = t.leave()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errSpent):
		t.used += t.grant() + t.rest
	default:
		t.used += t.grant() - in.left()
	}
	if errors.Is(err, errStopped) && t.cause == nil {
		t.cause = context.Cause(t.ctx)
	}
	return err
}

// instructions returns what all calls have used since prepare.
func (in *instance) instructions() int64 {
	return in.fuel.used + int64(in.global[usedGlobal].Get())
}

// left returns what is left of the fuel.
func (in *instance) left() int64 { return int64(in.global[fuelGlobal].Get()) }

// spend takes fuel for what the lab does for a module.
func (in *instance) spend(instructions int) {
	in.global[fuelGlobal].Set(uint64(in.left() - int64(instructions)))
}

// release ends the watch over a seat.
func (t *fuel) release() {
	if t.guard != nil {
		t.guard.Release()
		t.guard = nil
	}
	t.ctx, t.watch = nil, nil
}
