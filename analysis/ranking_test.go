package analysis_test

import (
	"fmt"
	"testing"

	"github.com/strategylab/strategylab/analysis"
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

// TestStepDownAgainstHolm: the corrected p-values of the two methods are
// computed in different ways, one by simulation, and must tell one story. No
// correction goes below the single comparison, and none of the step-down's goes
// beyond Bonferroni's for both directions of all pairs.
func TestStepDownAgainstHolm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", 5, bot{even: 0.5}, bot{even: 0.55}, bot{even: 0.6, mood: 0.2}, bot{even: 0.35}, bot{even: 0.5, mood: 0.4}, bot{even: 0.8})
	acc := analyse(t, w.plan, w.leagues(8, 120))
	holm, step := acc.Compare(analysis.AdjustedPoints, 0.95), acc.Ranking(0.95).Comparisons
	agree := 0
	for k := range holm {
		h, s := holm[k], step[k]
		if h.A != s.A || h.B != s.B || h.P != s.P || h.Difference != s.Difference {
			t.Fatalf("comparisons are not of the same players: %+v, %+v", h, s)
		}
		if s.Corrected < s.P/2 || s.Corrected > min(1, float64(len(step))*s.P)+0.02 {
			t.Errorf("%d over %d: p = %v, step-down %v", s.A, s.B, s.P, s.Corrected)
		}
		if h.Verdict == s.Verdict {
			agree++
		}
	}
	if agree < len(holm)-2 {
		t.Errorf("the methods agree on %d of %d pairs", agree, len(holm))
	}
	again := acc.Ranking(0.95)
	if fmt.Sprint(again.Comparisons) != fmt.Sprint(step) {
		t.Error("a second ranking of the same leagues differs")
	}
}
