package wasmscript_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/wasmscript"
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

func setup() strategies.Setup {
	return strategies.Setup{
		ID: "P01", Name: "P01", Field: []string{"P01", "P02", "P03"}, Rounds: 6, Legs: 2,
		Key: game.Key{1, 2}, Rand: game.NewRand(game.Key{1, 2}),
	}
}

func load(tb testing.TB, m Module) strategies.Factory {
	tb.Helper()
	return loadWith(tb, m, wasmscript.Config{})
}

func loadWith(tb testing.TB, m Module, c wasmscript.Config) strategies.Factory {
	tb.Helper()
	f, err := wasmscript.Compile("x", "scripts/x.wasm", m.Bytes(), c)
	must(tb, err)
	tb.Cleanup(func() { must(tb, f.Close()) })
	return f
}

// sit makes a seat, which is closed at the end.
func sit(tb testing.TB, f strategies.Factory, s strategies.Setup) strategies.Deferrer {
	tb.Helper()
	seat, err := f.New(tb.Context(), s)
	must(tb, err)
	tb.Cleanup(func() { must(tb, seat.Close()) })
	return seat.(strategies.Deferrer)
}

// used returns what a seat has used.
func used(s strategies.Strategy) int64 {
	return s.(interface{ InstructionsUsed() int64 }).InstructionsUsed()
}

// patient limits never depend on the machine.
var patient = budget.Limits{Time: 1 << 50, Instructions: 10_000}

// engines are the ways to run a module, which must agree.
var engines = map[string]wasmscript.Config{
	"compiled":    {Limits: patient},
	"interpreted": wasmscript.Interpreted(wasmscript.Config{Limits: patient}),
}

// story plays a module for a few matches and returns what happened, in lines. It makes
// two seats, one after the other.
func story(t *testing.T, c wasmscript.Config, source []byte) string {
	t.Helper()
	var b strings.Builder
	f, err := wasmscript.Compile("x", "x.wasm", source, c)
	if err != nil {
		return fmt.Sprintln(err)
	}
	defer func() {
		must(t, f.Close())
	}()
	for range 2 {
		s := setup()
		s.Log = slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		tell(t.Context(), &b, f, s)
	}
	return b.String()
}

func tell(ctx context.Context, b *strings.Builder, f strategies.Factory, s strategies.Setup) {
	seat, err := f.New(ctx, s)
	if err != nil {
		fmt.Fprintln(b, err)
		return
	}
	for match := range 4 {
		s.Rand.Rekey(uint64(match))
		turn := strategies.Turn{Opponent: s.Field[1+match%2], Round: match + 1, Role: game.RoleA}
		turn.Played, turn.Points = match, 3*match
		if c, err := seat.Choose(ctx, &turn); err != nil {
			fmt.Fprintln(b, err)
		} else {
			fmt.Fprintln(b, "choose", float64(c))
		}
		outcome := strategies.Outcome{
			Opponent: turn.Opponent, Round: turn.Round, Role: turn.Role,
			Choice: game.Odd, OpponentChoice: game.Even, Number: 4, Drew: true, Result: game.Loss,
		}
		if err := seat.Observe(ctx, &outcome); err != nil {
			fmt.Fprintln(b, err)
		}
	}
	fmt.Fprintln(b, "instructions", used(seat))
	if err := seat.Close(); err != nil {
		fmt.Fprintln(b, err)
	}
}

// agree returns the story of a module, which must be the same in every engine and in both seats.
func agree(t *testing.T, source []byte) string {
	t.Helper()
	return agreeWithin(t, patient, source)
}

// agreeWithin is agree with limits of its own.
func agreeWithin(t *testing.T, limits budget.Limits, source []byte) string {
	t.Helper()
	c := wasmscript.Config{Limits: limits}
	told := story(t, c, source)
	if other := story(t, wasmscript.Interpreted(c), source); other != told {
		t.Errorf("compiled:\n%s\ninterpreted:\n%s", told, other)
	}
	if half := told[:len(told)/2]; strings.Contains(told, "\ninstructions ") && half+half != told {
		t.Errorf("the second seat differs from the first:\n%s", told)
	}
	return told
}

// answer is a module whose choose runs some code, which leaves a number.
func answer(code ...any) Module {
	return Module{Pages: 1, Funcs: []Func{{Name: "choose", Params: "iiiiiiii", Results: "d", Locals: "iid", Code: Code(code...)}}}
}

func TestPlaysAndForgets(t *testing.T) {
	want := "choose 0.5\nchoose 0.5\nchoose 0\nchoose 0\ninstructions 16\n"
	if got := agree(t, Frequency().Bytes()); got != want+want {
		t.Errorf("got\n%s\nwant twice\n%s", got, want)
	}
	info := load(t, Frequency()).Info()
	if info.Title != "Frequency" || info.Description != "The opposite of the opponent's more frequent choice." || info.Kind != strategies.WebAssembly {
		t.Errorf("described as %+v", info)
	}
}

// TestReceives has hooks put their parameters, which are small, into one number.
func TestReceives(t *testing.T) {
	m := Module{
		Globals: []Global{{Type: 'd'}},
		Funcs: []Func{
			{Name: "start", Params: "iiii", Code: Code(digits(4), SetGlobal(0))},
			{Name: "choose", Params: "iiiiiiii", Results: "d", Code: Code(GetGlobal(0), digits(8), F64Add, F64(1e12), F64Div)},
			{Name: "observe", Params: "iiiiiiii", Code: Code(digits(8), SetGlobal(0))},
		},
	}
	seat := sit(t, load(t, m), setup())
	choose := func(turn strategies.Turn, want float64) {
		t.Helper()
		if c, err := seat.Choose(t.Context(), &turn); err != nil || c != strategies.Choice(want/1e12) {
			t.Errorf("choose = %v, %v, want %v", float64(c)*1e12, err, want)
		}
	}
	turn := strategies.Turn{Opponent: "P03", Round: 3, Role: game.RoleB}
	turn.Standing = strategies.Standing{Played: 4, Wins: 5, Draws: 6, Losses: 7, Points: 8}
	choose(turn, 362+23245678) // player 0 of 3, in 6 rounds of 2 legs
	observe := func(o strategies.Outcome) {
		t.Helper()
		if err := seat.Observe(t.Context(), &o); err != nil {
			t.Error(err)
		}
	}
	observe(strategies.Outcome{
		Opponent: "P02", Round: 2, Role: game.RoleA, Choice: game.Even, OpponentChoice: game.Odd,
		Number: 7, Drew: true, Result: game.Win, Points: 3,
	})
	choose(strategies.Turn{}, 12110713-1e7) // nobody is player -1
	observe(strategies.Outcome{Opponent: "somebody new", OpponentChoice: game.Even, Result: game.TechnicalLoss})
	choose(strategies.Turn{Opponent: "somebody new"}, 3e7+-1e4+1e3+-1e2+-2e1+3e7)
}

// digits makes one number of parameters, the last of them its last digit.
func digits(n int) []byte {
	code := F64(0)
	for i := range n {
		code = Code(code, F64(10), F64Mul, Get(i), F64FromI32, F64Add)
	}
	return code
}

// TestInitialization sets memory and globals in the start function and in _initialize,
// before any seat.
func TestInitialization(t *testing.T) {
	m := Module{
		Pages: 1, Start: 1, Globals: []Global{{Type: 'i'}},
		Funcs: []Func{
			{Name: "choose", Results: "d", Code: Code(
				I32(8), Load(F64Load, 0), GetGlobal(0), F64FromI32, F64Mul,
				I32(8), F64(0), Store(F64Store, 0), I32(0), SetGlobal(0), // for the next match and seat
			)},
			{Code: Code(I32(8), F64(0.25), Store(F64Store, 0))},
			{Name: "_initialize", Code: Code(I32(2), SetGlobal(0))},
		},
	}
	if told := agree(t, m.Bytes()); !strings.HasPrefix(told, "choose 0.5\nchoose 0\n") {
		t.Errorf("played as\n%s", told)
	}
}

// TestEveryNaNIsTheSame makes NaNs whose bits depend on the engine or the processor, and
// looks at them in every way there is.
func TestEveryNaNIsTheSame(t *testing.T) {
	makeNaN := [][]byte{
		Code(F64(0), F64(0), F64Div),
		Code(I64(-1), byte(0xbf)), // f64.reinterpret_i64
		Code(I64(0x7ff0000000000001), byte(0xbf), F64(1), F64Add),
		Code(F64(-1), byte(0x9f)),                                                     // f64.sqrt
		Code(I64(-1), byte(0xbf), byte(0xb6), byte(0xbb)),                             // by way of f32
		Code(I64(0x7ff8000000000001), byte(0xbf), byte(0x9a)),                         // f64.neg
		Code(I64(-5), byte(0xbf), F64(2), byte(0xa4)),                                 // f64.min
		Code(I64(0x7ff4000000000000), byte(0xbf), byte(0x9d)),                         // f64.trunc
		Code(I32(0x7fa00000), byte(0xbe), byte(0xbb)),                                 // f64.promote_f32
		Code(F64(1), I64(-1), byte(0xbf), byte(0xa6), F64(0), F64Mul, F64(0), F64Div), // f64.copysign
	}
	const canonical = 0x7ff8000000000000
	isIt := Code(I64(canonical), byte(0x51), F64FromI32) // i64.eq
	for i, nan := range makeNaN {
		for way, look := range map[string][]byte{
			"reinterpret": Code(nan, byte(0xbd), isIt),
			"store":       Code(I32(0), nan, Store(F64Store, 0), I32(0), Load(0x29, 0), isIt),
			"sign":        Code(F64(1), nan, byte(0xa6)),
			"f32":         Code(I32(0), nan, byte(0xb6), Store(0x38, 0), I32(0), Load(I32Load, 0), I32(0x7fc00000), I32Eq, F64FromI32),
		} {
			if told := agree(t, answer(look).Bytes()); !strings.HasPrefix(told, "choose 1\n") {
				t.Errorf("NaN %d by %s:\n%s", i, way, told)
			}
		}
	}
}

// shout is a handler of logs that tells when something is printed.
type shout struct {
	slog.Handler
	heard chan struct{}
}

func (s shout) Enabled(context.Context, slog.Level) bool { return true }

func (s shout) Handle(context.Context, slog.Record) error { close(s.heard); return nil }

// TestCollectsDuringACall collects garbage while a call runs that ends only afterwards.
func TestCollectsDuringACall(t *testing.T) {
	for kind, config := range map[string]wasmscript.Config{"compiled": {}, "interpreted": wasmscript.Interpreted(wasmscript.Config{})} {
		config.Limits = budget.Limits{Time: 1 << 60, Instructions: 1 << 60}
		m := Module{Pages: 1, Imports: []Import{From("lab", "log", "ii", "")}, Funcs: []Func{
			{Name: "choose", Results: "d", Code: Code(I32(0), I32(1), Call(0), forever, F64(1))},
		}}
		s := setup()
		running := make(chan struct{})
		s.Log = slog.New(shout{slog.DiscardHandler, running})
		seat := sit(t, loadWith(t, m, config), s)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := seat.Choose(ctx, &strategies.Turn{})
			done <- err
		}()
		<-running
		runtime.GC()
		cancel()
		if err := <-done; !errors.Is(err, strategies.ErrTimeout) {
			t.Errorf("%s: choose fails with %v, want a timeout", kind, err)
		}
	}
}

// TestSlicesAddUp has a call use most of many slices, and another all of them: the limit
// and the count are the same as in one piece.
func TestSlicesAddUp(t *testing.T) {
	// each round costs 10 instructions: choose(rounds = 10,000 times the standing's points)
	m := Module{Pages: 1, Funcs: []Func{{Name: "choose", Params: "iiiiiiii", Results: "d", Locals: "i", Code: Code(
		Get(7), I32(10_000), I32Mul, Set(8),
		Loop(0), Get(8), I32(1), I32Sub, Tee(8), I32(0), I32GtS, BrIf(0), End, F64(1),
	)}}}
	for kind, config := range map[string]wasmscript.Config{"compiled": {}, "interpreted": wasmscript.Interpreted(wasmscript.Config{})} {
		config.Limits = budget.Limits{Time: 1 << 60, Instructions: 100_000} // a million of a module
		seat := sit(t, loadWith(t, m, config), setup())
		for _, call := range []struct {
			points   int
			fails    error
			together int64
		}{{12, nil, 96_000}, {13, strategies.ErrBudget, 196_000}} {
			turn := strategies.Turn{Standing: strategies.Standing{Points: call.points}}
			_, err := seat.Choose(t.Context(), &turn)
			if got := used(seat); !errors.Is(err, call.fails) || got < call.together || got > call.together+10 {
				t.Errorf("%s: %v after %d instructions, want %v after %d and some", kind, err, got, call.fails, call.together)
			}
		}
	}
}

// TestMemoryOfASeat bounds what a seat has besides the memory of its module. It is alone:
// tests beside it would take memory too.
func TestMemoryOfASeat(t *testing.T) {
	const seats, most, page = 300, 128 << 10, 64 << 10
	all := Frequency()
	all.Funcs = append(all.Funcs, Func{Name: "start", Params: "iiii"})
	f := load(t, all)
	open := make([]strategies.Strategy, seats)
	before := budget.Live()
	for i := range open {
		seat, err := f.New(t.Context(), setup())
		must(t, err)
		if _, err := seat.Choose(t.Context(), &strategies.Turn{Opponent: "P02"}); err != nil {
			t.Fatal(err)
		}
		must(t, seat.Observe(t.Context(), &strategies.Outcome{Opponent: "P02"}))
		open[i] = seat
	}
	each := int(budget.Live()-before)/seats - page
	if each <= 0 || each > most {
		t.Errorf("a seat has %d bytes besides its page, want at most %d", each, most)
	}
	t.Logf("%d bytes", each)
	for _, seat := range open {
		must(t, seat.Close())
	}
}

// TestMemoryAfterRecursion has many seats, one after the other, use all of the stack in each
// hook: what is kept for later seats does not grow with it.
func TestMemoryAfterRecursion(t *testing.T) {
	const seats, most = 20, 4 << 20
	var frame, end []byte // values that wait on the stack for the end of the call
	for i := range int32(300) {
		frame, end = Code(frame, Get(0), I32(i), I32Add), Code(end, I32Add)
	}
	m := answer(I32(1), Call(1), F64FromI32)
	m.Funcs = append(m.Funcs, Func{Params: "i", Results: "i", Code: Code(frame, Get(0), I32(1), I32Add, Call(1), end)})
	f := load(t, m)
	before := budget.Live()
	var open []strategies.Strategy
	for range seats {
		seat, err := f.New(t.Context(), setup())
		must(t, err)
		open = append(open, seat)
	}
	for _, seat := range open {
		if c, err := seat.Choose(t.Context(), &strategies.Turn{}); err == nil {
			t.Errorf("endless recursion answers %v", c)
		}
		must(t, seat.Close())
	}
	kept := int64(budget.Live()) - int64(before)
	t.Logf("%d bytes", kept)
	if kept > most {
		t.Errorf("%d bytes are kept of seats that have ended, want at most %d", kept, most)
	}
}

// must ends a test at the first of some errors.
func must(t rapid.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
