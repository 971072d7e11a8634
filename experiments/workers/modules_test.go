package workers_test

import (
	"slices"
	"testing"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/builtin"
	"github.com/strategylab/strategylab/strategies/catalog"
	. "github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// hostileModules take what they can get, in each hook and all of the stack and the memory.
func hostileModules() []Module {
	choosing := func(code ...any) Module {
		return Module{Pages: 1, Funcs: []Func{{Name: "choose", Results: "d", Code: Code(append(code, F64(1))...)}}}
	}
	in := func(hook string, code ...any) Module {
		m := choosing()
		m.Funcs = append(m.Funcs, Func{Name: hook, Code: Code(code...)})
		return m
	}
	forever := Code(Loop(0), Br(0), End)
	var frame, end []byte // values that wait on the stack for the end of the call
	for i := range int32(300) {
		frame, end = Code(frame, Get(0), I32(i), I32Add), Code(end, I32Add)
	}
	recursion := choosing(I32(1), Call(1), Drop)
	recursion.Funcs = append(recursion.Funcs, Func{Params: "i", Results: "i", Code: Code(frame, Get(0), I32(1), I32Add, Call(1), end)})
	return []Module{
		choosing(forever), in("start", forever), in("observe", forever), in("observe", Unreachable), choosing(Unreachable), recursion,
		choosing(Loop(0), I32(16), byte(0x40), byte(0), Drop, Br(0), End),                         // memory.grow
		choosing(Loop(0), I32(0), I32(1), I32(65_536), byte(0xfc), byte(11), byte(0), Br(0), End), // memory.fill
		choosing(I32(0), I32(60_000), I32(-9), byte(0xfc), byte(10), byte(0), byte(0)),            // memory.copy
		choosing(I32(65_533), Load(I32Load, 0), Drop),
	}
}

// TestHostileModules has workers play a league of all of them: each loses its own matches, as
// in this process, and no worker ends.
func TestHostileModules(t *testing.T) {
	t.Parallel()
	modules := hostileModules()
	limits := budget.Limits{Time: patient.Time, Instructions: 10_000}
	compose := func(formats []catalog.Format) (all []strategies.Factory) {
		for i, m := range append(modules, Frequency()) {
			all = append(all, load(t, formats, string(rune('a'+i))+".wasm", string(m.Bytes()), limits))
		}
		random, _ := builtin.Find("random")
		return append(all, random)
	}
	inside := compose(languages())
	plan := planOf(6, 1, inside)
	want, wanted := play(t, plan, here(t, plan, inside), 1)
	formats, deaths := inWorkers(t, "worker")
	got, faults := play(t, plan, there(t, plan, compose(formats)), 2)
	if got.Digest != want.Digest || !slices.Equal(faults, wanted) || !got.Reproducible {
		t.Errorf("%+v with faults %v, in process: %+v with %v", got, faults, want, wanted)
	}
	for i, n := range faults {
		if hostile := i < len(modules); hostile != (n > 0) {
			t.Errorf("player %d has %d faults", i, n)
		}
	}
	if n := deaths.n.Load(); n != 0 {
		t.Errorf("%d workers ended", n)
	}
}
