package arena_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/batch"
)

// TestBatchingChangesNothing plays one field directly and with some of it, one
// factory behind several players among it, in batches, in blocks of several
// sizes. Records are the same, notes and kinds of fault included.
func TestBatchingChangesNothing(t *testing.T) {
	t.Parallel()
	const players, runs = 7, 40
	plan := planOf(players, 3, runs)
	direct := mixed(t, players)
	direct[4] = direct[0] // a second seat of the erratic one
	want := play(t, newArena(t, plan, arena.Config{}, direct...), players, runs)
	faults := 0
	for _, l := range want {
		sortNotes(l)
		for _, m := range l.Matches {
			if m.A.Fault|m.B.Fault != game.NoFault {
				faults++
			}
		}
	}
	if faults < 50 {
		t.Fatalf("only %d faults: this test needs more", faults)
	}
	for _, wrapped := range [][]int{{0}, {0, 4}, {1, 2}, {0, 1, 2, 3, 4, 5, 6}} {
		for _, block := range []int{1, 3, 20, 64} {
			t.Run(fmt.Sprintf("players %v, block %d", wrapped, block), func(t *testing.T) {
				t.Parallel()
				field := append([]strategies.Factory(nil), direct...)
				made := make(map[strategies.Factory]strategies.Factory)
				for _, i := range wrapped {
					if made[direct[i]] == nil {
						made[direct[i]] = batch.Of(direct[i])
					}
					field[i] = made[direct[i]]
				}
				a := newArena(t, plan, arena.Config{Block: block}, field...)
				if a.Block() != block {
					t.Errorf("takes %d leagues at once, want %d", a.Block(), block)
				}
				got := playInBlocks(t, a, players, runs)
				for i := range got {
					sortNotes(got[i])
					wantSame(t, want[i], got[i])
				}
			})
		}
	}
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
