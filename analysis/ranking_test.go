package analysis_test

import (
	"fmt"
	"testing"
)

// TestRankingCases goes through fields in which the answer is known.
func TestRankingCases(t *testing.T) {
	t.Parallel()
	even, odd, coin := bot{even: 1}, bot{even: 0}, bot{even: 0.5}
	for _, tt := range []struct {
		name    string
		w       *world
		leagues int
		tiers   string
		places  string
	}{
		{"no league", newWorld(t, "", 2, even, odd, coin), 0, "[[0 1 2]]", "[[1 3] [1 3] [1 3]]"},
		{"one league", newWorld(t, "", 2, even, odd, coin), 1, "[[0 1 2]]", "[[1 3] [1 3] [1 3]]"},
		{"two players", newWorld(t, "", 9, odd, coin), 100, "[[0 1]]", "[[1 2] [1 2]]"},
		{"two players, biased draw", newWorld(t, "weights:1=1,2=9", 9, odd, coin), 100, "[[1] [0]]", "[[2 2] [1 1]]"},
		// Nothing varies at all, and yet the order is known.
		{"constant", newWorld(t, "", 2, even, even, even, odd), 100, "[[3] [0 1 2]]", "[[2 4] [2 4] [2 4] [1 1]]"},
		{"constant, few leagues", newWorld(t, "", 2, even, even, even, odd), 3, "[[3 0 1 2]]", "[[1 4] [1 4] [1 4] [1 4]]"},
		// Two that are the same and one that only differs from one of them.
		{"three tiers", newWorld(t, "", 10, even, even, even, coin, odd), 200, "[[4] [3] [0 1 2]]", "[[3 5] [3 5] [3 5] [2 2] [1 1]]"},
	} {
		r := analyse(t, tt.w.plan, tt.w.leagues(1, tt.leagues)).Ranking(0.95)
		if got := fmt.Sprint(r.Tiers); got != tt.tiers {
			t.Errorf("%s: tiers %v, want %v", tt.name, got, tt.tiers)
		}
		if got := fmt.Sprint(r.Places); got != tt.places {
			t.Errorf("%s: places %v, want %v", tt.name, got, tt.places)
		}
	}
}
