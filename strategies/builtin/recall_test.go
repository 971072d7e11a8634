package builtin

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host/game"
)

func parities() *rapid.Generator[[]game.Parity] {
	one := rapid.SampledFrom([]game.Parity{game.Even, game.Odd})
	return rapid.OneOf(
		rapid.SliceOfN(one, 0, 150),
		rapid.Custom(func(t *rapid.T) []game.Parity { // a cycle, so that long matches occur
			return slices.Repeat(rapid.SliceOfN(one, 1, 20).Draw(t, "pattern"), rapid.IntRange(1, 10).Draw(t, "times"))
		}),
	)
}

// The search by shifted words finds what a search of one match after another finds.
func TestLagsMatchTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opponent := parities().Draw(t, "opponent")
		own := parities().Draw(t, "own")
		length := min(len(own), len(opponent))
		own, opponent = own[:length], opponent[:length]
		var r recall
		for i := range length {
			r.add(own[i], opponent[i])
		}
		own, opponent = own[max(0, length-window):], opponent[max(0, length-window):]
		same := func(p []game.Parity) func(i, j int) bool { return func(i, j int) bool { return p[i] == p[j] } }
		want := [3]int{
			slowLag(len(own), func(i, j int) bool { return own[i] == own[j] && opponent[i] == opponent[j] }),
			slowLag(len(own), same(opponent)),
			slowLag(len(own), same(own)),
		}
		if got := r.lags(); got != want {
			t.Fatalf("lags = %v, want %v", got, want)
		}
	})
}

// slowLag is the definition: the lag at which the longest run of the latest
// matches repeats, the smallest of equals.
func slowLag(n int, same func(i, j int) bool) int {
	best, longest := 0, 0
	for lag := 1; lag < n; lag++ {
		run := 0
		for run < n-lag && same(n-1-run, n-1-run-lag) {
			run++
		}
		if run > longest {
			best, longest = lag, run
		}
	}
	return best
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
