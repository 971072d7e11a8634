package arena_test

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/builtin"
	"github.com/strategylab/strategylab/strategies/wasmscript"
	. "github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// prompt hides that the strategies of a factory can defer outcomes.
type prompt struct{ strategies.Factory }

func (p prompt) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	made, err := p.Factory.New(ctx, s)
	return struct{ strategies.Strategy }{made}, err
}

// counting is a module that runs code in its observe on the outcome of a number, from 1 on,
// and in its choose always. It answers with the part of its outcomes that are wins.
func counting(number int32, observe, choose []byte) Module {
	return Module{
		Pages: 1, Globals: []Global{{Type: 'i'}, {Type: 'i'}},
		Funcs: []Func{
			{Name: "observe", Params: "iiiiiii", Locals: "i", Code: Code(
				GetGlobal(0), I32(1), I32Add, SetGlobal(0),
				GetGlobal(1), Get(6), I32(1), I32Eq, I32Add, SetGlobal(1),
				GetGlobal(0), I32(number), I32Eq, If(0), observe, End,
			)},
			{Name: "choose", Params: "iii", Results: "d", Locals: "iiiii", Code: Code(
				choose, GetGlobal(1), F64FromI32, GetGlobal(0), I32(1), I32Add, F64FromI32, F64Div,
			)},
			{Results: "d", Code: Call(2)},
		},
	}
}

// TestDeferredOutcomes plays modules that observe with their next choice, and the same ones
// outcome by outcome: nobody can tell.
func TestDeferredOutcomes(t *testing.T) {
	t.Parallel()
	const players, legs, leagues = 5, 2, 6
	long := Code(I32(30_000), Set(7), Loop(0), Get(7), I32(1), I32Sub, Tee(7), BrIf(0), End) // most of what a call has
	forever := Code(Loop(0), Br(0), End)
	for name, c := range map[string]struct {
		module Module
		fails  bool
	}{
		"nothing happens":             {counting(0, nil, nil), false},
		"observe traps":               {counting(3, Code(Unreachable), nil), true},
		"the first observe traps":     {counting(1, Code(Unreachable), nil), true},
		"the last observe traps":      {counting((players-1)*legs, Code(Unreachable), nil), true},
		"observe never ends":          {counting(4, forever, nil), true},
		"observe recurses":            {counting(4, Code(Call(2), Drop), nil), true},
		"both take long":              {counting(4, long, long), false},
		"choose traps":                {counting(0, nil, Code(GetGlobal(0), I32(3), I32Eq, If(0), Unreachable, End)), true},
		"choose never ends":           {counting(0, nil, Code(GetGlobal(0), I32(3), I32Eq, If(0), forever, End)), true},
		"after a long observe, never": {counting(3, long, Code(GetGlobal(0), I32(3), I32Eq, If(0), forever, End)), true},
		"both trap":                   {counting(3, Code(Unreachable), Code(GetGlobal(0), I32(2), I32Eq, If(0), Unreachable, End)), true},
	} {
		made, err := wasmscript.Compile("x", "x.wasm", c.module.Bytes(), wasmscript.Config{
			Limits: budget.Limits{Time: 1 << 50, Instructions: 20_000},
		})
		if err != nil {
			t.Fatal(name, err)
		}
		frequency, _ := builtin.Find("frequency")
		random, _ := builtin.Find("random")
		records := func(f strategies.Factory) []results.League {
			plan := planOf(players, legs, leagues)
			plan.Schema = results.PlanSchema2 // limits of calls alone
			a := newArena(t, plan, arena.Config{}, f, frequency, f, random, f)
			out := play(t, a, players, leagues)
			for _, l := range out { // in the order in which they are noticed
				slices.SortStableFunc(l.Notes, func(a, b results.Note) int { return cmp.Compare(a.Field, b.Field) })
			}
			return out
		}
		deferred, atOnce := records(made), records(prompt{made})
		for i := range deferred {
			if !slices.Equal(deferred[i].Matches, atOnce[i].Matches) || !slices.Equal(deferred[i].Notes, atOnce[i].Notes) {
				t.Errorf("%s: deferred, league %d is\n%v\n%v\nat once\n%v\n%v", name, i, deferred[i].Matches, deferred[i].Notes, atOnce[i].Matches, atOnce[i].Notes)
			}
			if failed := len(deferred[i].Notes) == 3; failed != c.fails {
				t.Errorf("%s: league %d has the notes %v", name, i, deferred[i].Notes)
			}
		}
		if err := made.Close(); err != nil {
			t.Error(err)
		}
	}
}
