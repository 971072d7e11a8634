package arena_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/batch"
)

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
