package wasmscript_test

import (
	"strings"
	"testing"

	. "github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// hostile is a module that tries to do harm, and what is said of it.
type hostile struct {
	name   string
	module []byte
	says   string // in the story of both engines
}

var forever = Code(Loop(0), Br(0), End)

// extra is a valid strategy with one more section.
func extra(id byte, content ...any) []byte {
	m := Frequency()
	m.Extra = []Section{{ID: id, Content: Code(content...)}}
	return m.Bytes()
}

// hooks is a strategy with code in a hook of a name.
func hooks(name string, code ...any) []byte {
	m := answer(F64(1))
	m.Funcs = append(m.Funcs, Func{Name: name, Locals: "iid", Code: Code(code...)})
	return m.Bytes()
}

func importing(module, name, params, results string) []byte {
	m := answer(F64(1))
	m.Imports = []Import{From(module, name, params, results)}
	return m.Bytes()
}

func hostileModules() []hostile {
	const limit = "exceeded its budget: more than 100000 instructions in one call"
	const deep = "exceeded its budget: calls nested too deeply"
	recursion := answer(Call(1))
	recursion.Funcs = append(recursion.Funcs, Func{Results: "d", Code: Code(Call(1))})
	indirect := answer(I32(0), CallIndirect(1))
	indirect.Table = []int{1}
	indirect.Funcs = append(indirect.Funcs, Func{Results: "d", Code: Code(I32(0), CallIndirect(1))})
	tree := answer(I32(60), Call(1), F64(1)) // 2^60 calls
	tree.Funcs = append(tree.Funcs, Func{Params: "i", Code: Code(
		Get(0), I32Eqz, If(0), Return, End, Get(0), I32(1), I32Sub, Call(1), Get(0), I32(1), I32Sub, Call(1),
	)})
	starting := answer(F64(1))
	starting.Start, starting.Funcs = 1, append(starting.Funcs, Func{Code: forever})
	locals := answer(F64(1))
	locals.Funcs = append(locals.Funcs, Func{Locals: strings.Repeat("l", 30_000)})
	chatty := Module{Pages: 1, Imports: []Import{From("lab", "log", "ii", "")}, Funcs: []Func{
		{Name: "choose", Results: "d", Code: Code(Loop(0), I32(0), I32(1000), Call(0), Br(0), End, F64(1))},
	}}
	greedy := Module{Imports: []Import{From("lab", "random", "", "d")}, Funcs: []Func{
		{Name: "choose", Results: "d", Code: F64(1)}, {Name: "_initialize", Code: Code(Call(0), Drop)},
	}}
	outside := chatty
	outside.Funcs = []Func{{Name: "choose", Results: "d", Code: Code(I32(-1), I32(-1), Call(0), F64(1))}}
	wide := Frequency()
	wide.Pages = 5000
	fuel := answer(F64(1))
	fuel.Globals = []Global{{Type: 'l', Init: 1}}
	fuel.Funcs[0].Code = Code(Loop(0), I64(1<<60), SetGlobal(1), Br(0), End, F64(1))
	room := recursion
	room.Funcs = []Func{recursion.Funcs[0], {Results: "d", Code: Code(I32(1<<30), SetGlobal(1), Call(1))}}
	return []hostile{
		{"loop in choose", answer(forever, F64(1)).Bytes(), "choose: " + limit},
		{"loop in start", hooks("start", forever), "start: " + limit},
		{"loop in observe", hooks("observe", forever), "observe: " + limit},
		{"loop in _initialize", hooks("_initialize", forever), "load: exceeded its budget: more than 2000000 instructions"},
		{"loop in the start function", starting.Bytes(), "load: exceeded its budget: more than 2000000 instructions"},
		{"loop with a branch on a condition", answer(Loop(0), I32(1), BrIf(0), End, F64(1)).Bytes(), limit},
		{"loop of nested loops", answer(Loop(0), Loop(0), Loop(0), Br(2), End, End, End, F64(1)).Bytes(), limit},
		{"loop by a table of branches", answer(Loop(0), I32(7), byte(0x0e), byte(1), byte(0), byte(0), End, F64(1)).Bytes(), limit},
		{"recursion", recursion.Bytes(), deep},
		{"recursion through a table", indirect.Bytes(), deep},
		{"a tree of calls", tree.Bytes(), limit},
		{"memory.grow for ever", answer(Loop(0), I32(1), byte(0x40), byte(0), Drop, Br(0), End, F64(1)).Bytes(), limit},
		{"memory.grow by much", answer(I32(65_000), byte(0x40), byte(0), I32(-1), I32Eq, F64FromI32).Bytes(), "choose 1\n"},
		{"memory.fill for ever", answer(Loop(0), I32(0), I32(1), I32(65_536), byte(0xfc), byte(11), byte(0), Br(0), End, F64(1)).Bytes(), limit},
		{"memory.copy for ever", answer(Loop(0), I32(0), I32(1), I32(60_000), byte(0xfc), byte(10), byte(0), byte(0), Br(0), End, F64(1)).Bytes(), limit},
		{"log for ever", chatty.Bytes(), limit},
		{"log from outside of the memory", outside.Bytes(), "an address outside of the memory was passed to the lab"},
		{"trap in choose", answer(Unreachable).Bytes(), "choose: trap: unreachable, in function choose"},
		{"trap in start", hooks("start", Unreachable), "start: trap: unreachable, in function start"},
		{"trap in observe", hooks("observe", Unreachable), "observe: trap: unreachable, in function observe"},
		{"trap in _initialize", hooks("_initialize", Unreachable), "load: trap: unreachable, in function _initialize"},
		{"division by zero", answer(I32(1), I32(0), byte(0x6d), F64FromI32).Bytes(), "trap: integer divide by zero"},
		{"access outside of the memory", answer(I32(-8), Load(F64Load, 0)).Bytes(), "trap: out of bounds memory access"},
		{"conversion of NaN", answer(F64(0), F64(0), F64Div, byte(0xaa), F64FromI32).Bytes(), "trap: invalid conversion to integer"},
		{"NaN", answer(F64(0), F64(0), F64Div).Bytes(), "invalid choice: answered NaN"},
		{"infinity", answer(F64(1), F64(0), F64Div).Bytes(), "invalid choice: answered +Inf"},
		{"a choice over 1", answer(F64(2)).Bytes(), "invalid choice: answered 2"},
		{"unknown module", importing("env", "abort", "iiii", ""), "imports env.abort; a strategy may import lab.random, lab.param and lab.log"},
		{"unknown import", importing("lab", "clock", "", "l"), "imports lab.clock; the lab has random, param and log"},
		{"import of another type", importing("lab", "random", "i", "d"), "imports lab.random as (i32) -> f64, want () -> f64"},
		{"WASI of another type", importing("wasi_snapshot_preview1", "path_open", "i", "l"), "want a result of i32"},
		{"imported memory", extra(2, byte(1), byte(3), []byte("lab"), byte(1), []byte("m"), byte(2), byte(0), byte(1)), "in the wrong place"},
		{"random before start", greedy.Bytes(), "lab.random was called before start"},
		{"no choose", Module{Funcs: []Func{{Name: "start"}}}.Bytes(), "exports no function choose"},
		{"a program", Module{Funcs: []Func{{Name: "_start"}}}.Bytes(), "build a library"},
		{"choose of another type", Module{Funcs: []Func{{Name: "choose", Params: "d", Results: "d", Code: F64(1)}}}.Bytes(), "choose has the type (f64) -> f64, want"},
		{"choose without result", Module{Funcs: []Func{{Name: "choose"}}}.Bytes(), "choose has the type () -> , want"},
		{"choose with too many parameters", Module{Funcs: []Func{{Name: "choose", Params: "iiiiiiiii", Results: "d", Code: F64(1)}}}.Bytes(), "or fewer parameters"},
		{"a large memory", wide.Bytes(), "begins with 5000 pages of 64 KiB, more than 256"},
		{"a large table", func() []byte { m := Frequency(); m.Table = make([]int, 200_000); return m.Bytes() }(), "a table has 200000 elements"},
		{"many locals", locals.Bytes(), "groups of locals, more than 20000"},
		{"10 MB of locals", Module{Funcs: []Func{{Name: "choose", Results: "d", Locals: strings.Repeat("d", 5_000_000)}}}.Bytes(), "the module has"},
		{"deep nesting", answer(blocks(10_000), F64(1)).Bytes(), "nests more than 5000 blocks"},
		{"sets its own fuel", fuel.Bytes(), "uses global 1 of 1"},
		{"sets its own room", room.Bytes(), "uses global 1 of 0"},
		{"uses the locals of the meter", answer(Get(12), Drop, F64(1)).Bytes(), "uses local 12 of 11"},
		{"exports our name", func() []byte { m := Frequency(); m.Funcs[1].Name = "lab.fuel"; return m.Bytes() }(), "exports lab.fuel"},
		{"vectors", answer(byte(0xfd), byte(12), make([]byte, 16), Drop, F64(1)).Bytes(), "uses vector instructions"},
		{"table.set", answer(I32(0), byte(0xd0), byte(0x70), byte(0x26), byte(0), F64(1)).Bytes(), "uses the instruction 0xd0"},
		{"data.drop", answer(byte(0xfc), byte(9), byte(0), F64(1)).Bytes(), "0xfc 9"},
		{"wrong types", answer(I32(1)).Bytes(), "load: "},
		{"an empty stack", answer(F64Add).Bytes(), "load: "},
		{"a function without end", extra(10, byte(1), byte(2), byte(0), byte(1)), "in the wrong place"},
		{"a section twice", extra(1, byte(0)), "in the wrong place"},
		{"an unknown section", extra(99, byte(0)), "is unknown"},
		{"nothing", nil, "not a WebAssembly module"},
		{"text", []byte("function choose() end"), "not a WebAssembly module"},
		{"half a module", Frequency().Bytes()[:40], "load: "},
	}
}

func blocks(n int) (code []byte) {
	for range n {
		code = append(code, Block(0)...)
	}
	for range n {
		code = append(code, End)
	}
	return code
}

// TestHostileModules has every module end as the table says, in both engines alike and
// again in a second seat.
func TestHostileModules(t *testing.T) {
	for _, h := range hostileModules() {
		if told := agree(t, h.module); !strings.Contains(told, h.says) {
			t.Errorf("%s: want %q in\n%s", h.name, h.says, told)
		}
	}
}
