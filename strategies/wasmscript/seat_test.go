package wasmscript_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	. "github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// remembering is a module whose choices depend on all that it was told, in order, and on what
// it draws in each call if it imports lab.random.
func remembering(imports ...Import) Module {
	mix := func(params int) (code []byte) {
		for i := range params {
			code = Code(code, GetGlobal(0), I32(31), I32Mul, Get(i), I32Add, SetGlobal(0))
		}
		for range imports {
			drawn := Code(Call(0), F64(1<<30), F64Mul, byte(0xaa)) // i32.trunc
			code = Code(code, GetGlobal(0), I32(31), I32Mul, drawn, I32Add, SetGlobal(0))
		}
		return code
	}
	return Module{
		Imports: imports,
		Globals: []Global{{Type: 'i', Init: 1}},
		Funcs: []Func{
			{Name: "choose", Params: "iiiiiiii", Results: "d", Code: Code(mix(8), GetGlobal(0), I32(0xffff), I32And, F64FromI32, F64(0x10000), F64Div)},
			{Name: "observe", Params: "iiiiiiii", Code: mix(8)},
		},
	}
}

// TestDefersInOrder has one seat defer outcomes and the other observe them at once, in any
// order of calls: their choices and their instructions are the same.
func TestDefersInOrder(t *testing.T) {
	for name, module := range map[string]Module{"no import": remembering(), "lab.random": remembering(From("lab", "random", "", "d"))} {
		t.Run(name, func(t *testing.T) { defersInOrder(t, load(t, module)) })
	}
}

func defersInOrder(t *testing.T, f strategies.Factory) {
	ids := []string{"P01", "P02", "P03", "somebody", "P3", "P99", "", "x"}
	rapid.Check(t, func(t *rapid.T) {
		open := func() (strategies.Deferrer, *game.Rand) {
			s := setup()
			seat, err := f.New(t.Context(), s)
			must(t, err)
			return seat.(strategies.Deferrer), s.Rand
		}
		deferring, one := open()
		plain, other := open()
		for call := range rapid.IntRange(1, 12).Draw(t, "calls") {
			opponent := rapid.SampledFrom(ids).Draw(t, "opponent")
			one.Rekey(uint64(call))
			other.Rekey(uint64(call))
			o := strategies.Outcome{
				Opponent: opponent, Round: call, Role: game.RoleB, Choice: game.Even, OpponentChoice: game.Odd,
				Number: 3, Drew: call%2 == 0, Result: game.Win, Points: call,
			}
			switch rapid.SampledFrom([]string{"choose", "defer", "observe", "settle"}).Draw(t, "call") {
			case "choose":
				turn := strategies.Turn{Opponent: opponent, Round: call, Role: game.RoleA}
				turn.Wins = call
				a, err := deferring.Choose(t.Context(), &turn)
				b, also := plain.Choose(t.Context(), &turn)
				if must(t, err, also); a != b {
					t.Fatalf("choose = %v where outcomes are deferred, %v at once", a, b)
				}
			case "defer":
				must(t, deferring.Defer(t.Context(), &o), plain.Observe(t.Context(), &o))
			case "observe":
				must(t, deferring.Observe(t.Context(), &o), plain.Observe(t.Context(), &o))
			case "settle":
				must(t, deferring.Settle(t.Context()))
			}
		}
		must(t, deferring.Settle(t.Context()))
		if a, b := used(deferring), used(plain); a != b {
			t.Fatalf("%d instructions where outcomes are deferred, %d at once", a, b)
		}
		must(t, deferring.Close(), plain.Close())
	})
}

// TestDefersNothing has modules that would be seen to defer: they observe at once.
func TestDefersNothing(t *testing.T) {
	with := func(im ...Import) Module {
		return Module{Imports: im, Funcs: []Func{{Name: "choose", Results: "d", Code: F64(1)}, {Name: "observe", Code: Code(Unreachable)}}}
	}
	for name, c := range map[string]struct {
		module Module
		defers bool
	}{
		"no import":  {with(), true},
		"lab.random": {with(From("lab", "random", "", "d")), true},
		"lab.log":    {with(From("lab", "log", "ii", "")), false},
		"WASI":       {with(From("wasi_snapshot_preview1", "proc_exit", "i", "")), false},
	} {
		err := sit(t, load(t, c.module), setup()).Defer(t.Context(), &strategies.Outcome{})
		if deferred := err == nil; deferred != c.defers {
			t.Errorf("%s: Defer of a trap returns %v", name, err)
		}
	}
}

// TestFailedOp tells a deferred failure from one of the choice after it.
func TestFailedOp(t *testing.T) {
	for name, c := range map[string]struct {
		choose, observe []byte
		want            strategies.Op
	}{
		"choose":      {Code(Unreachable), nil, strategies.OpChoose},
		"observe":     {nil, Code(Unreachable), strategies.OpObserve},
		"both":        {Code(Unreachable), Code(Unreachable), strategies.OpObserve},
		"no choice":   {Code(F64(2), byte(0x0f)), nil, strategies.OpChoose},
		"endless":     {nil, forever, strategies.OpObserve},
		"then choose": {forever, nil, strategies.OpChoose},
	} {
		m := Module{Funcs: []Func{{Name: "choose", Results: "d", Code: Code(c.choose, F64(1))}, {Name: "observe", Code: c.observe}}}
		seat := sit(t, load(t, m), setup())
		if err := seat.Defer(t.Context(), &strategies.Outcome{}); err != nil {
			t.Error(err)
		}
		_, err := seat.Choose(t.Context(), &strategies.Turn{})
		var typed *strategies.Error
		if !errors.As(err, &typed) || typed.Op != c.want || strategies.FailedOp(strategies.OpChoose, err) != c.want {
			t.Errorf("%s: choose fails with %v, want a failure of %s", name, err, c.want)
		}
	}
}

// TestPlayersInLargeFields numbers players whose ids do not tell their place.
func TestPlayersInLargeFields(t *testing.T) {
	m := Module{Funcs: []Func{{Name: "choose", Params: "i", Results: "d", Code: Code(Get(0), F64FromI32, F64(1000), F64Div)}}}
	f := load(t, m)
	for _, name := range []func(int) string{
		game.PlayerID, // "P100" has three digits
		func(i int) string { return fmt.Sprint("agent-", i) },
		func(i int) string { return game.PlayerID((i + 1) % 120) }, // all of them in the place of another
	} {
		s := setup()
		s.Field = nil
		for i := range 120 {
			s.Field = append(s.Field, name(i))
		}
		seat := sit(t, f, s)
		for i, id := range append(s.Field, "new", "newer", "new") {
			want := i
			if i == 122 {
				want = 120
			}
			if c, err := seat.Choose(t.Context(), &strategies.Turn{Opponent: id}); err != nil || c != strategies.Choice(float64(want)/1000) {
				t.Errorf("%s is player %v, %v, want %d", id, float64(c)*1000, err, want)
			}
		}
	}
}

// changing is a module that answers 0 as long as 16 bytes of its memory are 0, of which
// turn.Points is the address. Then it runs code that changes them; local 8 has the address.
// The memory begins with some pages, and the initialization adds others.
func changing(pages, grown int, change []byte) Module {
	const i64Load, i64Or, i64Eqz = 0x29, 0x84, 0x50
	return Module{Pages: pages, Funcs: []Func{
		{Name: "_initialize", Code: Code(I32(int32(grown)), byte(0x40), byte(0), Drop)},
		{Name: "choose", Params: "iiiiiiii", Results: "d", Locals: "id", Code: Code(
			Get(7), Set(8),
			Get(8), Load(i64Load, 0), Get(8), Load(i64Load, 8), byte(i64Or), byte(i64Eqz), I32Eqz, F64FromI32, Set(9),
			change, Get(9),
		)},
	}}
}

// TestSeatsBeginWithTheSnapshot changes the memory in every way there is, at the limits of
// what is noted, and has a later seat look at it, which gets the same instance. A plain run
// does so with one size of memory.
func TestSeatsBeginWithTheSnapshot(t *testing.T) {
	ones := I64(-1)
	ways := map[string][]byte{
		"i32.store":   Code(Get(8), I32(-1), Store(0x36, 3)),
		"i64.store":   Code(Get(8), ones, Store(0x37, 3)),
		"f32.store":   Code(Get(8), byte(0x43), []byte{0, 0, 0x80, 0x3f}, Store(0x38, 3)),
		"f64.store":   Code(Get(8), F64(1.5), Store(0x39, 3)),
		"i32.store8":  Code(Get(8), I32(-1), Store(0x3a, 3)),
		"i32.store16": Code(Get(8), I32(-1), Store(0x3b, 3)),
		"i64.store8":  Code(Get(8), ones, Store(0x3c, 3)),
		"i64.store16": Code(Get(8), ones, Store(0x3d, 3)),
		"i64.store32": Code(Get(8), ones, Store(0x3e, 3)),
		"memory.fill": Code(Get(8), I32(7), I32(16), byte(0xfc), byte(11), byte(0)),
		"memory.copy": Code(I32(32), ones, Store(0x37, 0), Get(8), I32(32), I32(16), byte(0xfc), byte(10), byte(0), byte(0)),
		"far offset":  Code(Get(8), I32(5000), I32Sub, I32(-1), Store(0x36, 5003)),
		"two places":  Code(Get(8), I32(1), Store(0x36, 3), I32(60_000), I32(1), Store(0x36, 0)),
	}
	sizes := map[int]int{3: 6}
	if os.Getenv("WHOLE_TESTS") != "" {
		sizes[1], sizes[70] = 0, 0
	}
	for name, change := range ways {
		for pages, grown := range sizes {
			f := load(t, changing(pages, grown, change))
			for _, at := range places((pages+grown)<<16 - 24) {
				if name == "far offset" && at < 5000 {
					continue // an address is not negative
				}
				choose := func(seat strategies.Strategy, want strategies.Choice) {
					t.Helper()
					turn := strategies.Turn{}
					turn.Points = at
					if c, err := seat.Choose(t.Context(), &turn); err != nil || c != want {
						t.Errorf("%s at %d of %d pages: choose = %v, %v, want %v", name, at, pages, c, err, want)
					}
				}
				seat, err := f.New(t.Context(), setup())
				must(t, err)
				choose(seat, 0)
				choose(seat, 1)
				must(t, seat.Close())
			}
		}
	}
}

// places returns addresses up to a last one: the first, the last, and those about powers of
// two, where one piece of memory ends.
func places(last int) []int {
	all := []int{64, 100, last}
	for size := 512; size < last; size *= 2 {
		for d := -18; d <= 6; d += 3 {
			all = append(all, min(size+d, last))
		}
	}
	return all
}
