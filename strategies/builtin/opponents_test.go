package builtin

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host/game"
)

func TestPlayerNumber(t *testing.T) {
	t.Parallel()
	for seat := range 999 {
		if got := playerNumber(game.PlayerID(seat)); got != seat+1 {
			t.Fatalf("playerNumber(%q) = %d, want %d", game.PlayerID(seat), got, seat+1)
		}
	}
	for _, id := range []string{
		"", "P", "P7", "P007", "P07x", "p07", "Q07", "P 7", "P-7", "P+7", "P1000", "07", "P0x", "P/0", "P:0", "Pé", "PLAYER",
	} {
		if got := playerNumber(id); got != -1 {
			t.Errorf("playerNumber(%q) = %d, want none", id, got)
		}
	}
}

// Whatever the ids and the field, every id has a state of its own and keeps it.
func TestOpponentsAreKeptApart(t *testing.T) {
	t.Parallel()
	ids := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`P\d{0,4}`),
		rapid.SampledFrom([]string{"", "P00", "P01", "P1", "P001", "P10", "P100", "P1000", "alice"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		field := make([]string, rapid.IntRange(0, 120).Draw(t, "field"))
		states := newOpponents[int](field)
		want := map[string]int{}
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			id := ids.Draw(t, "id")
			if got := *states.at(id); got != want[id] {
				t.Fatalf("at(%q) = %d, want %d", id, got, want[id])
			}
			n := rapid.Int().Draw(t, "state")
			*states.at(id), want[id] = n, n
		}
		for id, n := range want {
			if got := *states.at(id); got != n {
				t.Fatalf("in the end at(%q) = %d, want %d", id, got, n)
			}
		}
	})
}

func BenchmarkOpponents(b *testing.B) {
	states := newOpponents[int](make([]string, 64))
	for _, id := range []string{"P07", "P100", "alice"} {
		b.Run(id, func(b *testing.B) {
			for b.Loop() {
				*states.at(id)++
			}
		})
	}
}
