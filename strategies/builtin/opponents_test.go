package builtin

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host/game"
)

// No two ids may be read as the same number.
func TestIDsAsNumbers(t *testing.T) {
	for seat := range 999 {
		id, two, three := game.PlayerID(seat), seat+1, -1
		if seat+1 > 99 {
			two, three = three, two
		}
		if gotTwo, gotThree := twoDigits(id), threeDigits(id); gotTwo != two || gotThree != three {
			t.Fatalf("%q is number %d by two digits and %d by three, want %d and %d", id, gotTwo, gotThree, two, three)
		}
	}
	for _, id := range []string{
		"", "P", "P7", "P007", "P07x", "p07", "Q07", "P 7", "P-7", "P+7", "P1000", "07", "P0x", "P/0", "P:0", "Pé", "PLAYER",
		"Q123", "P12x", "P1/0", "P:00",
	} {
		if two, three := twoDigits(id), threeDigits(id); two != -1 || three != -1 {
			t.Errorf("%q is number %d by two digits and %d by three, want none", id, two, three)
		}
	}
}

// Whatever the ids and the field, every id has a state of its own and keeps it.
func TestOpponentsAreKeptApart(t *testing.T) {
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
