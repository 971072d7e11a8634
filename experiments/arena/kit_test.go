package arena_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/batch"
	"github.com/strategylab/strategylab/strategies/builtin"
)

func planOf(players, legs, runs int) results.Plan {
	p := results.Plan{Schema: results.PlanSchema, Runs: runs, Legs: legs, Seed: 11, Transport: "direct"}
	for i := range players {
		p.Field = append(p.Field, results.Entrant{Name: fmt.Sprintf("player-%d", i), Kind: "builtin"})
	}
	return p
}

// script is a strategy made of functions. A nil one chooses even and succeeds.
// It writes down its calls.
type script struct {
	start   func(strategies.Setup) error
	choose  func(ctx context.Context, s strategies.Setup, t *strategies.Turn) (strategies.Choice, error)
	observe func(ctx context.Context, s strategies.Setup, o *strategies.Outcome) error
	end     func() error
	source  string

	mu    sync.Mutex
	calls []string
	open  int
}

var _ strategies.Factory = (*script)(nil)

func (f *script) Info() strategies.Info { return strategies.Info{Name: "script", Source: f.source} }
func (f *script) Close() error          { return nil }

func (f *script) note(call string, open int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call)
	f.open += open
}

func (f *script) New(_ context.Context, s strategies.Setup) (strategies.Strategy, error) {
	f.note("start", 0)
	if f.start != nil {
		if err := f.start(s); err != nil {
			return nil, err
		}
	}
	f.note("open", 1)
	return &scriptSeat{f: f, setup: s}, nil
}

type scriptSeat struct {
	f     *script
	setup strategies.Setup
}

func (s *scriptSeat) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	s.f.note(fmt.Sprintf("choose %d", t.Match), 0)
	if s.f.choose != nil {
		return s.f.choose(ctx, s.setup, t)
	}
	return strategies.Even, nil
}

func (s *scriptSeat) Observe(ctx context.Context, o *strategies.Outcome) error {
	call := fmt.Sprintf("observe %d", o.Match)
	if o.Result == game.TechnicalLoss {
		call += " technical_loss"
	}
	s.f.note(call, 0)
	if s.f.observe != nil {
		return s.f.observe(ctx, s.setup, o)
	}
	return nil
}

func (s *scriptSeat) Close() error {
	s.f.note("close", -1)
	if s.f.end != nil {
		return s.f.end()
	}
	return nil
}

func newArena(tb testing.TB, plan results.Plan, opts arena.Config, factories ...strategies.Factory) *arena.Arena {
	tb.Helper()
	a, err := arena.New(plan, factories, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// play plays leagues 0 to n-1 in one call.
func play(tb testing.TB, a *arena.Arena, players, n int) []results.League {
	tb.Helper()
	w, err := a.NewWorker(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	out := make([]results.League, n)
	if err := w.Play(tb.Context(), 0, out, make([]bool, players)); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out
}

// sidesOf returns what a player brought to its matches, in order.
func sidesOf(plan results.Plan, l results.League, field int) []game.Side {
	sched, err := game.NewSchedule(len(plan.Field), plan.Legs)
	if err != nil {
		panic(err)
	}
	var out []game.Side
	for i, m := range sched.Matches() {
		switch field {
		case l.Seats[m.A]:
			out = append(out, l.Matches[i].A)
		case l.Seats[m.B]:
			out = append(out, l.Matches[i].B)
		}
	}
	return out
}

// erratic is a strategy that fails in every way now and then, by its own
// randomness and so always in the same places.
func erratic() *script {
	fail := func(s strategies.Setup) error {
		switch s.Rand.IntN(200) {
		case 0:
			return errBoom
		case 1:
			return strategies.ErrBudget
		case 2:
			panic("ouch")
		}
		return nil
	}
	return &script{
		start: fail,
		choose: func(_ context.Context, s strategies.Setup, _ *strategies.Turn) (strategies.Choice, error) {
			c := strategies.Choice(s.Rand.Float64() * 1.02) // above 1 now and then
			return c, fail(s)
		},
		observe: func(_ context.Context, s strategies.Setup, _ *strategies.Outcome) error { return fail(s) },
	}
}

// ways are a factory, and the same in batches.
func ways(f strategies.Factory) []strategies.Factory { return []strategies.Factory{f, batch.Of(f)} }

// mixed is a field of native strategies, one of which is erratic.
func mixed(tb testing.TB, players int) []strategies.Factory {
	tb.Helper()
	out := []strategies.Factory{erratic()}
	for _, name := range []string{"markov-2", "frequency", "biased", "random", "copy-last", "hedge"} {
		f, ok := builtin.Find(name)
		if !ok {
			tb.Fatalf("no strategy %s", name)
		}
		out = append(out, f)
	}
	return out[:players]
}

// sortNotes orders notes by player and fault: which of two players failed
// first is another thing in lockstep.
func sortNotes(l results.League) {
	slices.SortFunc(l.Notes, func(a, b results.Note) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Fault, b.Fault))
	})
}

func playInBlocks(t *testing.T, a *arena.Arena, players, runs int) []results.League {
	t.Helper()
	w, err := a.NewWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := make([]results.League, runs)
	for first := 0; first < runs; first += a.Block() {
		part := out[first:min(first+a.Block(), runs)]
		if err := w.Play(t.Context(), first, part, make([]bool, players)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out
}
