package strategytest_test

import (
	"math"
	"testing"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/strategytest"
	. "github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// wasm makes a module of hooks, the first of which is choose.
func wasm(choose []byte, others ...Func) strategytest.Maker {
	return func(l budget.Limits) (strategies.Factory, error) {
		m := Module{Pages: 1, Globals: []Global{{Type: 'i'}}, Data: []byte(strategytest.Printed)}
		m.Imports = []Import{From("lab", "random", "", "d"), From("lab", "log", "ii", "")}
		m.Funcs = append([]Func{{Name: "choose", Params: "iiiiiiii", Results: "d", Code: choose}}, others...)
		return compile("scripts/subject.wasm", string(m.Bytes()), l)
	}
}

// wasmFirst runs code in round 1 and answers even afterwards.
func wasmFirst(code ...any) strategytest.Maker {
	return wasm(Code(Get(1), I32(1), I32Eq, If(0), Code(code...), End, F64(1)))
}

func TestWebAssemblyRuntime(t *testing.T) {
	t.Parallel()
	text := func(source string) strategytest.Maker {
		return func(l budget.Limits) (strategies.Factory, error) { return compile("scripts/subject.wasm", source, l) }
	}
	throw, spin := Code(Unreachable), Code(Loop(0), Br(0), End)
	s := strategytest.Subject{
		Kind: strategies.WebAssembly, Instructions: true,
		Random: wasm(Call(0)),
		Memory: wasm(Code(GetGlobal(0), I32(64), Load(I32Load, 0), I32Add, I32Eqz, F64FromI32,
			I32(1), SetGlobal(0), I32(64), I32(1), Store(I32Store, 0))),
		Print: wasm(Code(I32(0), I32(int32(len(strategytest.Printed))), Call(1), F64(1))),
		Unloadable: []strategytest.Named{
			{Name: "empty", Make: text("")}, {Name: "text", Make: text("function choose() end")},
			{Name: "half", Make: text(string(Frequency().Bytes()[:40]))},
			{Name: "no choose", Make: text(string(Module{Funcs: []Func{{Name: "start"}}}.Bytes()))},
			{Name: "loops", Make: wasm(F64(1), Func{Name: "_initialize", Code: spin})},
		},
		ThrowStart: wasm(F64(1), Func{Name: "start", Code: throw}), ThrowObserve: wasm(F64(1), Func{Name: "observe", Code: throw}),
		ThrowChoose: wasmFirst(Unreachable),
		SpinStart:   wasm(F64(1), Func{Name: "start", Code: spin}), SpinObserve: wasm(F64(1), Func{Name: "observe", Code: spin}),
		SpinChoose: wasmFirst(spin),
	}
	for name, choice := range map[string]float64{"even": 1, "odd": 0, "a quarter": 0.25, "negative zero": math.Copysign(0, -1)} {
		s.Valid = append(s.Valid, strategytest.Answer{Name: name, Make: wasm(F64(choice)), Want: strategies.Choice(choice + 0)})
	}
	for name, choice := range map[string]float64{"2": 2, "negative": -0.1, "NaN": math.NaN(), "infinity": math.Inf(1)} {
		s.Invalid = append(s.Invalid, strategytest.Named{Name: name, Make: wasmFirst(F64(choice), byte(0x0f))})
	}
	strategytest.RunRuntime(t, s)
}
