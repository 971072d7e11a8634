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

// The strongest score decides, whichever its sign; the first of equals counts,
// and a guess that was not made does not.
func TestRecallFollowsOrInvertsTheStrongest(t *testing.T) {
	for _, c := range []struct {
		guess [guesses]int8
		score [guesses]int32
		want  game.Parity
	}{
		{[guesses]int8{1, -1}, [guesses]int32{5, 4}, game.Even},
		{[guesses]int8{1, -1}, [guesses]int32{-5, 4}, game.Odd},
		{[guesses]int8{-1, -1}, [guesses]int32{4, -5}, game.Even},
		{[guesses]int8{1, -1}, [guesses]int32{5, 5}, game.Even},
		{[guesses]int8{0, -1}, [guesses]int32{9, 1}, game.Odd},
		{[guesses]int8{0, 0, 0, 1}, [guesses]int32{9}, game.Even},
		{[guesses]int8{}, [guesses]int32{9, -9}, game.NoParity},
	} {
		r := recall{guess: c.guess, score: c.score}
		if got := r.best(); got != c.want {
			t.Errorf("guesses %v with scores %v: plays %q, want %q", c.guess, c.score, got, c.want)
		}
	}
}

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
