package arena_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/batch"
)

// TestHandwritten holds the loop of BenchmarkMatch to the arena's records.
func TestHandwritten(t *testing.T) {
	t.Parallel()
	plan := handPlan(3)
	plan.Seed = 1
	var draws game.DrawStream
	for i, got := range play(t, newArena(t, plan, arena.Config{}, handFactories(t)...), 2, 3) {
		want := make([]results.Match, handLegs)
		points := byHand(1, i, game.FairDraw(), &draws, want)
		if diff := cmp.Diff(want, got.Matches); diff != "" {
			t.Fatalf("league %d (-hand +arena):\n%s", i, diff)
		}
		table := game.NewTable(2)
		sched, err := game.NewSchedule(2, handLegs)
		if err != nil {
			t.Fatal(err)
		}
		for m, p := range sched.Matches() {
			table.Add(p.A, p.B, got.Matches[m].Verdict())
		}
		for seat, field := range got.Seats {
			if p := table.Row(seat).Points; p != points[field] {
				t.Errorf("league %d: player %d scored %d, by hand %d", i, field, p, points[field])
			}
		}
	}
}

// TestWorkerMemory plays leagues in another order, over used memory.
func TestWorkerMemory(t *testing.T) {
	t.Parallel()
	plan := planOf(4, 2, 8)
	a := newArena(t, plan, arena.Config{}, mixed(t, 4)...)
	want := play(t, a, 4, 8)
	w, err := a.NewWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := make([]results.League, 1)
	for _, i := range []int{5, 1, 7, 0, 0, 3} {
		if err := w.Play(t.Context(), i, out, make([]bool, 4)); err != nil {
			t.Fatal(err)
		}
		wantSame(t, want[i], out[0])
	}
}

func wantSame(t *testing.T, want, got results.League) {
	t.Helper()
	for _, l := range []*results.League{&want, &got} {
		if len(l.Notes) == 0 {
			l.Notes = nil
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("league %d (-want +got):\n%s", want.Index, diff)
	}
}

// TestNoAllocationPerMatch compares a long league with a short one.
func TestNoAllocationPerMatch(t *testing.T) {
	allocs := func(legs int) float64 {
		quiet := &silent{}
		a := newArena(t, planOf(4, legs, 1), arena.Config{}, quiet, quiet, quiet, quiet)
		w, err := a.NewWorker(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out, quarantined := make([]results.League, 1), make([]bool, 4)
		return testing.AllocsPerRun(20, func() {
			if err := w.Play(t.Context(), 0, out, quarantined); err != nil {
				t.Fatal(err)
			}
		})
	}
	if short, long := allocs(1), allocs(500); long > short {
		t.Errorf("%v allocations in 3000 matches, %v in 6", long, short)
	}
}

// silent makes seats that throw a coin and keep nothing.
type silent struct{}

func (silent) Info() strategies.Info { return strategies.Info{} }
func (silent) Close() error          { return nil }
func (silent) New(context.Context, strategies.Setup) (strategies.Strategy, error) {
	return silentSeat{}, nil
}

type silentSeat struct{}

func (silentSeat) Choose(context.Context, *strategies.Turn) (strategies.Choice, error) {
	return 0.5, nil
}
func (silentSeat) Observe(context.Context, *strategies.Outcome) error { return nil }
func (silentSeat) Close() error                                       { return nil }

// TestCancel ends the context at every call of a player in turn. Whatever it
// answers then is not held against it, and no seat stays open.
func TestCancel(t *testing.T) {
	t.Parallel()
	cause := errors.New("enough")
	for _, batched := range []bool{false, true} {
		for stop := range 26 {
			ctx, cancel := context.WithCancelCause(t.Context())
			var calls atomic.Int64
			step := func() error {
				if calls.Add(1) > int64(stop) {
					cancel(cause)
					return ctx.Err()
				}
				return nil
			}
			impatient := &script{
				start:   func(strategies.Setup) error { return step() },
				choose:  func(context.Context, strategies.Setup, *strategies.Turn) (strategies.Choice, error) { return 1, step() },
				observe: func(context.Context, strategies.Setup, *strategies.Outcome) error { return step() },
			}
			calm := &script{}
			f := strategies.Factory(impatient)
			if batched {
				f = batch.Of(f)
			}
			w, err := newArena(t, planOf(3, 2, 6), arena.Config{Block: 3}, f, calm, calm).NewWorker(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			out := make([]results.League, 6) // 9 calls each
			err = w.Play(ctx, 0, out, make([]bool, 3))
			if !errors.Is(err, cause) {
				t.Fatalf("batched %v, after %d calls: error %v, want the cause", batched, stop, err)
			}
			if impatient.open != 0 || calm.open != 0 {
				t.Fatalf("batched %v, after %d calls: %d and %d seats stay open", batched, stop, impatient.open, calm.open)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	plan := planOf(2, 1, 1)
	f := strategies.Factory(&script{})
	noLegs := plan
	noLegs.Legs = 0
	for name, tc := range map[string]struct {
		plan      results.Plan
		factories []strategies.Factory
		want      string
	}{
		"too few factories": {plan, []strategies.Factory{f}, "1 factories for 2 players"},
		"no factory":        {plan, []strategies.Factory{f, nil}, "no factory for player-1"},
		"bad plan":          {noLegs, []strategies.Factory{f, f}, "0 legs"},
	} {
		if _, err := arena.New(tc.plan, tc.factories, arena.Config{}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", name, err, tc.want)
		}
	}
	w, err := newArena(t, plan, arena.Config{}, f, f).NewWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Play(t.Context(), 0, make([]results.League, 1), nil); err == nil {
		t.Error("played without knowing who is quarantined")
	}
}

// TestPlayingAheadChangesNothing plays drawn fields, of which drawn players are
// batched in one or two groups, directly and ahead of the answers.
func TestPlayingAheadChangesNothing(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 2))
	for range 60 {
		players, legs, runs, block := 2+r.IntN(18), 1+r.IntN(3), 1+r.IntN(4), 1+r.IntN(4)
		plan := planOf(players, legs, runs)
		some := mixed(t, 7)
		direct := make([]strategies.Factory, players)
		field := make([]strategies.Factory, players)
		var groups [2][7]strategies.Factory
		share := r.Float64()
		for i := range direct {
			n := r.IntN(len(some))
			direct[i], field[i] = some[n], some[n]
			if r.Float64() >= share {
				continue
			}
			g := &groups[r.IntN(2)][n]
			if *g == nil {
				*g = batch.Of(some[n])
			}
			field[i] = *g
		}
		want := play(t, newArena(t, plan, arena.Config{}, direct...), players, runs)
		got := playInBlocks(t, newArena(t, plan, arena.Config{Block: block}, field...), players, runs)
		for i := range want {
			sortNotes(want[i])
			sortNotes(got[i])
			wantSame(t, want[i], got[i])
		}
		if t.Failed() {
			t.Fatalf("%d players, %d legs, %d leagues in blocks of %d", players, legs, runs, block)
		}
	}
}

// held is a Batcher whose answers a test lets through.
type held struct {
	strategies.Batcher
	await func() // before a step is answered
}

func (h *held) NewBatch(ctx context.Context) (strategies.Batch, error) {
	b, err := h.Batcher.NewBatch(ctx)
	return &heldBatch{b, h}, err
}

type heldBatch struct {
	strategies.Batch
	h *held
}

func (b *heldBatch) Step(ctx context.Context, s *strategies.Step) error {
	b.h.await()
	return b.Batch.Step(ctx, s)
}

// TestPlaysAhead: in a field of 17, seat 16 of which is batched, everything is played
// while its first answer is awaited that does not depend on it. After that, most of its
// choices need no call of another player at all.
func TestPlaysAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, playsAhead)
}

func playsAhead(t *testing.T) {
	const players = 17
	var (
		mu     sync.Mutex
		calls  int // choices of the other players
		ahead  []int
		others = &script{choose: func(context.Context, strategies.Setup, *strategies.Turn) (strategies.Choice, error) {
			mu.Lock()
			defer mu.Unlock()
			calls++
			return strategies.Even, nil
		}}
	)
	slow := &held{Batcher: batch.Of(&script{}), await: func() {
		synctest.Wait() // for the worker, until it waits for the answer
		mu.Lock()
		defer mu.Unlock()
		ahead = append(ahead, calls)
	}}
	field := make([]strategies.Factory, players)
	for i := range field {
		field[i] = others
	}
	plan := planOf(players, 1, 1)
	field[game.Seats(plan.Seed, 0, players)[16]] = slow
	play(t, newArena(t, plan, arena.Config{Block: 1}, field...), players, 1)
	// Seat 16 has a bye in round 17, the last. By the circle method (host/game.NewSchedule)
	// its opponent of round r is seat 2r-1 modulo 17, which in round r+k plays seat 2k-1,
	// met by seat 16 in round k. So nobody whom it is still to meet depends on its choices.
	if len(ahead) != 17 {
		t.Fatalf("%d answers were awaited, want one for each of 16 matches, and one to close", len(ahead))
	}
	const all = players*(players-1) - 16 // choices of the others in a league
	for i, n := range ahead[:16] {
		if n != ahead[0] {
			t.Errorf("before answer %d the others had chosen %d times, before the first %d times: want no call between", i+1, n, ahead[0])
		}
	}
	if n := ahead[0]; n < all/2 || n >= all {
		t.Errorf("before the first answer the others had chosen %d times of %d, want more than half, and not all", n, all)
	}
	if calls != all {
		t.Errorf("the others have chosen %d times, want %d", calls, all)
	}
}
