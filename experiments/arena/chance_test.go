package arena_test

import (
	"context"
	"testing"

	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/batch"
)

func TestProbabilitiesAreTossedByTheHost(t *testing.T) {
	t.Parallel()
	for _, batched := range []bool{false, true} {
		plan := planOf(3, 20, 4)
		maybe := &script{choose: func(context.Context, strategies.Setup, *strategies.Turn) (strategies.Choice, error) {
			return 0.3, nil
		}}
		f := strategies.Factory(maybe)
		if batched {
			f = batch.Of(maybe)
		}
		sched, err := game.NewSchedule(3, 20)
		if err != nil {
			t.Fatal(err)
		}
		for index, l := range play(t, newArena(t, plan, arena.Config{}, f, f, f), 3, 4) {
			for _, p := range sched.Matches() {
				for seat, side := range map[int]game.Side{p.A: l.Matches[p.Index].A, p.B: l.Matches[p.Index].B} {
					coin := game.NewRand(game.CoinKey(plan.Seed, index, l.Seats[seat]))
					coin.Rekey(uint64(p.Index))
					want := game.Odd
					if coin.Bernoulli(0.3) {
						want = game.Even
					}
					if side != (game.Side{Choice: want}) {
						t.Fatalf("league %d, %s, seat %d: %v, want %v", index, p.ID, seat, side, want)
					}
				}
			}
		}
	}
}

// TestDrawsDoNotShift plays one plan with and without technical losses.
func TestDrawsDoNotShift(t *testing.T) {
	t.Parallel()
	plan := planOf(4, 3, 3)
	plan.Draw = "weights:1=3,2=1,9=2"
	fails := &script{choose: func(_ context.Context, _ strategies.Setup, t *strategies.Turn) (strategies.Choice, error) {
		if t.Match%2 == 0 {
			return 0, errBoom
		}
		return strategies.Odd, nil
	}}
	fine := &script{}
	with := play(t, newArena(t, plan, arena.Config{}, fails, fine, fine, fine), 4, 3)
	without := play(t, newArena(t, plan, arena.Config{}, fine, fine, fine, fine), 4, 3)
	draw, err := game.ParseDraw(plan.Draw)
	if err != nil {
		t.Fatal(err)
	}
	missing := 0
	for i := range with {
		draws := game.NewDrawStream(plan.Seed, i)
		for m, got := range without[i].Matches {
			if want := int32(draw.Pick(draws.Next())); got.Number != want {
				t.Fatalf("league %d, match %d: drew %d, want %d", i, m, got.Number, want)
			}
			switch with[i].Matches[m].Number {
			case results.NoNumber:
				missing++
			case got.Number:
			default:
				t.Errorf("league %d, match %d: drew %d, and %d without the faults", i, m, with[i].Matches[m].Number, got.Number)
			}
		}
	}
	if missing == 0 {
		t.Error("nothing failed")
	}
}

func TestBarredPlayersAreNotCalled(t *testing.T) {
	t.Parallel()
	for _, batched := range []bool{false, true} {
		plan := planOf(3, 2, 1)
		out := &script{}
		f := strategies.Factory(out)
		if batched {
			f = batch.Of(out)
		}
		w, err := newArena(t, plan, arena.Config{}, &script{}, f, &script{}).NewWorker(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		leagues := make([]results.League, 2)
		if err := w.Play(t.Context(), 0, leagues, []bool{false, true, false}); err != nil {
			t.Fatal(err)
		}
		for _, l := range leagues {
			for i, side := range sidesOf(plan, l, 1) {
				if side != (game.Side{Fault: game.FaultQuarantined}) {
					t.Errorf("batched %v: match %d: %v, want quarantined", batched, i, side)
				}
			}
		}
		if len(out.calls) != 0 {
			t.Errorf("batched %v: called: %q", batched, out.calls)
		}
	}
}
