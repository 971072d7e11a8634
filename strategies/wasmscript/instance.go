package wasmscript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/params"
	"github.com/strategylab/strategylab/strategies/script"
)

// instance is a module with memory and globals of its own. It belongs to one seat at a time.
type instance struct {
	mod     api.Module
	memory  api.Memory // nil without one
	linear  linear     // of memory
	global  [ourGlobals]api.MutableGlobal
	state   []api.MutableGlobal
	choose  function
	observe function // nil if there is none
	step    function // nil if there is none
	grain   byte     // see module.grain
	ctx     *callContext
	fuel    fuel

	params []params.Param
	rand   *game.Rand
	before game.Rand // rand as it was when the deferred outcome came
	log    script.Log
}

// function is an entry function.
type function interface {
	CallWithStack(ctx context.Context, stack []uint64) error
}

// callContext is the context of the calls of an instance. It is never done, and has no
// values: wazero looks for some in every call.
type callContext struct {
	context.Context
	*instance
}

func (*callContext) Value(any) any { return nil }

// snapshot is the state of an instance in which seats begin.
type snapshot struct {
	memory  []byte // without the zeros at its end
	size    uint32 // of the memory, in bytes
	globals []uint64
}

// errMemory is the refusal of an address.
var errMemory = errors.New("an address outside of the memory was passed to the lab")

// instantiate makes an instance as the module's data describe it.
func (f *factory) instantiate() (*instance, error) {
	in := &instance{params: f.module.params}
	in.ctx = &callContext{context.Background(), in}
	var err error
	in.mod, err = f.runtime.InstantiateModule(withLinear(in.ctx, &in.linear), f.compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, err
	}
	if f.module.memory {
		in.memory = in.mod.Memory()
	}
	global := func(name string) api.MutableGlobal { return in.mod.ExportedGlobal(name).(api.MutableGlobal) }
	for i, name := range globalNames {
		in.global[i] = global(name)
	}
	for i := range f.module.mutable {
		in.state = append(in.state, global(stateName(i)))
	}
	in.choose, in.observe, in.step = in.entry("choose"), in.entry("observe"), in.exported(stepEntry)
	in.grain = f.module.grain()
	return in, nil
}

// close gives up an instance. It holds nothing but memory, so that nothing fails.
func (in *instance) close() {
	_ = in.mod.Close(in.ctx)
	in.linear.release()
}

// entry returns the entry function of a hook, nil if there is none.
func (in *instance) entry(hook string) function { return in.exported(entryName(hook)) }

func (in *instance) exported(name string) function {
	if f := in.mod.ExportedFunction(name); f != nil {
		return f
	}
	return nil
}

// take copies the state of an instance.
func (in *instance) take() (s snapshot) {
	if in.memory != nil {
		s.size = in.memory.Size()
		all, _ := in.memory.Read(0, s.size)
		s.memory = bytes.Clone(bytes.TrimRight(all, "\x00"))
	}
	for _, g := range in.state {
		s.globals = append(s.globals, g.Get())
	}
	return s
}

// restore sets an instance back to a snapshot. It reports false if its memory has
// outgrown it, which nothing undoes.
func (in *instance) restore(s *snapshot) bool {
	if in.memory != nil {
		size := in.memory.Size()
		if size < s.size {
			const page = 64 << 10
			if _, ok := in.memory.Grow((s.size - size) / page); !ok {
				return false
			}
		}
		if in.memory.Size() != s.size {
			return false
		}
		in.undo(s)
	}
	for i, g := range in.state {
		g.Set(s.globals[i])
	}
	in.rewind()
	return true
}

// rewind leaves the call that failed.
func (in *instance) rewind() {
	in.global[roomGlobal].Set(stackWords)
	in.global[stageGlobal].Set(0)
}

// deep reports whether the call ended for want of room on the stack.
func (in *instance) deep() bool { return int32(in.global[roomGlobal].Get()) < 0 }

// bytes returns a piece of the memory. A caller that changes it notes that.
func (in *instance) bytes(at, n uint64) []byte {
	if in.memory != nil {
		if b, ok := in.memory.Read(uint32(at), uint32(n)); ok {
			return b
		}
	}
	panic(errMemory)
}

func (in *instance) put32(at, v uint64) {
	if in.memory == nil || !in.memory.WriteUint32Le(uint32(at), uint32(v)) {
		panic(errMemory)
	}
	in.noted(uint64(uint32(at)), 4)
}

// reason says in one line why a call ended: what the lab refused, or how and in which
// function the module trapped.
func (m *module) reason(err error) error {
	var early exited
	switch {
	case errors.Is(err, errEarly):
		return errEarly
	case errors.Is(err, errMemory):
		return errMemory
	case errors.As(err, &early):
		return early
	}
	lines := strings.Split(err.Error(), "\n")
	text := strategies.OneLine(strings.TrimPrefix(lines[0], "wasm error: "), maxMessage)
	for _, line := range lines[1:] {
		// "\t.name(i32,i32) f64", with a number as "$7" for a function without name
		if name, _, ok := strings.Cut(strings.TrimPrefix(line, "\t."), "("); ok && strings.HasPrefix(line, "\t.") {
			return fmt.Errorf("trap: %s, in function %s", text, strategies.OneLine(m.nameOf(name), maxMessage))
		}
	}
	return fmt.Errorf("trap: %s", text)
}

// nameOf returns the hook that is called "$7" in a stack trace, or the name that its author knows.
func (m *module) nameOf(name string) string {
	for _, hook := range []string{"choose", "observe", "start", "_initialize"} {
		if index, ok := m.hooks[hook]; ok && name == fmt.Sprintf("$%d", m.moved(index)) {
			return hook
		}
	}
	if digits, unnamed := strings.CutPrefix(name, "$"); unnamed {
		if index, err := strconv.ParseUint(digits, 10, 32); err == nil && index > uint64(len(m.imports)) {
			return fmt.Sprintf("$%d", index-1)
		}
	}
	return name
}

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
