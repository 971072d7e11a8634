package analysis_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
)

// TestRankingCases goes through fields in which the answer is known.
func TestRankingCases(t *testing.T) {
	even, odd, coin := bot{even: 1}, bot{even: 0}, bot{even: 0.5}
	for _, tt := range []struct {
		name    string
		w       *world
		leagues int
		tiers   string
		places  string
	}{
		{"no league", newWorld("", 2, even, odd, coin), 0, "[[0 1 2]]", "[[1 3] [1 3] [1 3]]"},
		{"one league", newWorld("", 2, even, odd, coin), 1, "[[0 1 2]]", "[[1 3] [1 3] [1 3]]"},
		{"two players", newWorld("", 9, odd, coin), 100, "[[0 1]]", "[[1 2] [1 2]]"},
		{"two players, biased draw", newWorld("weights:1=1,2=9", 9, odd, coin), 100, "[[1] [0]]", "[[2 2] [1 1]]"},
		// Nothing varies at all, and yet the order is known.
		{"constant", newWorld("", 2, even, even, even, odd), 100, "[[3] [0 1 2]]", "[[2 4] [2 4] [2 4] [1 1]]"},
		{"constant, few leagues", newWorld("", 2, even, even, even, odd), 3, "[[3 0 1 2]]", "[[1 4] [1 4] [1 4] [1 4]]"},
		// Two that are the same and one that only differs from one of them.
		{"three tiers", newWorld("", 10, even, even, even, coin, odd), 200, "[[4] [3] [0 1 2]]", "[[3 5] [3 5] [3 5] [2 2] [1 1]]"},
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

// TestHolm uses values from R: p.adjust(p, "holm").
func TestHolm(t *testing.T) {
	for _, tt := range []struct{ p, want []float64 }{
		{nil, nil},
		{[]float64{0.04}, []float64{0.04}},
		{[]float64{0.01, 0.02, 0.03, 0.04}, []float64{0.04, 0.06, 0.06, 0.06}},
		{[]float64{0.6, 0.001, 0.04, 0.03, 1}, []float64{1, 0.005, 0.12, 0.12, 1}},
		{[]float64{0.02, 0.02, 0.5}, []float64{0.06, 0.06, 0.5}},
	} {
		got := analysis.Holm(tt.p)
		if len(got) != len(tt.want) {
			t.Fatalf("Holm(%v) = %v", tt.p, got)
		}
		for i := range got {
			if math.Abs(got[i]-tt.want[i]) > 1e-15 {
				t.Errorf("Holm(%v) = %v, want %v", tt.p, got, tt.want)
				break
			}
		}
	}
}

// TestAgreeingDifference: all leagues give one difference, so t is infinite. Two
// leagues prove nothing of it, many do, and the interval agrees with the test.
func TestAgreeingDifference(t *testing.T) {
	w := newWorld("", 1, bot{even: 1}, bot{even: 1}, bot{even: 0})
	decided := 0
	for _, n := range []int{2, 3, 5, 8, 12, 20, 1000} {
		acc := analyse(t, w.plan, w.leagues(1, n))
		c := acc.Compare(analysis.AdjustedPoints, 0.95)[0]
		if c.A != 2 || c.Difference.Estimate != 0.25 {
			t.Fatalf("odd player is not 0.25 ahead: %+v", c)
		}
		// All n differences are 0.25 in [-0.5, 0.5]: 2 * (0.5/0.75)^n.
		attest.Near(t, c.P, min(1, 2*math.Pow(2.0/3, float64(n))), 1e-7, "p of %d leagues", n)
		if outside := c.Difference.Low > 0; outside != (c.P < 0.05) {
			t.Errorf("%d leagues: interval %v and p = %v disagree", n, c.Difference, c.P)
		}
		if c.Verdict == analysis.Different {
			decided++
		} else if n > 20 {
			t.Errorf("%d leagues that agree do not decide: %+v", n, c)
		}
	}
	if decided == 0 || decided == 7 {
		t.Errorf("%d of 7 experiments were decided", decided)
	}
}
