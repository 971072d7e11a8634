package wasmscript_test

import (
	"errors"
	"fmt"
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
		t.Run(name, func(t *testing.T) {
			defersInOrder(t, load(t, module))
		})
	}
}

func defersInOrder(t *testing.T, f strategies.Factory) {
	ids := []string{"P01", "P02", "P03", "somebody", "P3", "P99", "", "x"}
	rapid.Check(t, func(t *rapid.T) {
		open := func() (strategies.Deferrer, *game.Rand) {
			s := setup()
			seat, err := f.New(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			return seat.(strategies.Deferrer), s.Rand
		}
		deferring, one := open()
		plain, other := open()
		check := func(errs ...error) {
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
		}
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
				if check(err, also); a != b {
					t.Fatalf("choose = %v where outcomes are deferred, %v at once", a, b)
				}
			case "defer":
				check(deferring.Defer(t.Context(), &o), plain.Observe(t.Context(), &o))
			case "observe":
				check(deferring.Observe(t.Context(), &o), plain.Observe(t.Context(), &o))
			case "settle":
				check(deferring.Settle(t.Context()))
			}
		}
		check(deferring.Settle(t.Context()))
		if a, b := used(deferring), used(plain); a != b {
			t.Fatalf("%d instructions where outcomes are deferred, %d at once", a, b)
		}
		check(deferring.Close(), plain.Close())
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
