package analysis_test

import (
	"math"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/game"
)

// TestHolm uses values from R: p.adjust(p, "holm").
func TestHolm(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	w := newWorld(t, "", 1, bot{even: 1}, bot{even: 1}, bot{even: 0})
	decided := 0
	for _, n := range []int{2, 3, 5, 8, 12, 20, 1000} {
		acc := analyse(t, w.plan, w.leagues(1, n))
		c := acc.Compare(analysis.AdjustedPoints, 0.95)[0]
		if c.A != 2 || c.Difference.Estimate != 0.25 {
			t.Fatalf("odd player is not 0.25 ahead: %+v", c)
		}
		// All n differences are 0.25 in [-0.5, 0.5]: 2 * (0.5/0.75)^n.
		if want := min(1, 2*math.Pow(2.0/3, float64(n))); math.Abs(c.P-want) > 1e-7 {
			t.Errorf("%d leagues: p = %v, want %v", n, c.P, want)
		}
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

// TestTooFewLeagues: without two leagues nothing is compared, and no number
// claims anything.
func TestTooFewLeagues(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", 3, bot{even: 1}, bot{even: 0.5}, bot{even: 0})
	for n := range 2 {
		acc := analyse(t, w.plan, w.leagues(1, n))
		e := acc.Estimates(0.95)
		for _, c := range append(e.Neighbours(), acc.Compare(analysis.RawPoints, 0.95)...) {
			if c.P != 1 || c.Verdict != analysis.Undecided {
				t.Errorf("%d leagues: %+v", n, c)
			}
		}
		if !math.IsNaN(e.VarianceRatio) {
			t.Errorf("%d leagues: variance ratio %v", n, e.VarianceRatio)
		}
		for _, p := range e.Players {
			if p.Points.Low != 0 || p.Points.High != 3 || p.Adjusted.Low != 1 || p.Adjusted.High != 1.5 ||
				p.Rank.Low != 1 || p.Rank.High != 3 || p.ChampionShare.Width() != 1 || p.Points.Defined() != (n == 1) {
				t.Errorf("%d leagues: %+v", n, p)
			}
		}
		for _, p := range e.Pairs {
			if p.Differ.Width() != 1 || math.IsNaN(p.PointsA) != (n == 0) {
				t.Errorf("%d leagues: %+v", n, p)
			}
		}
	}
}

func TestNothingToRank(t *testing.T) {
	t.Parallel()
	coins := []bot{{even: 0.5}, {even: 0.9}}
	faulty := []bot{{even: 0.5}, {even: 0.9, fault: 0.1, kind: game.FaultError}}
	for _, tt := range []struct {
		name string
		w    *world
		want bool
	}{
		{"two and a fair draw", newWorld(t, "", 5, coins...), true},
		{"two and a biased draw", newWorld(t, "weights:1=1,2=2", 5, coins...), false},
		{"two and a fault", newWorld(t, "", 5, faulty...), false},
		{"three", newWorld(t, "", 5, bot{}, bot{}, bot{}), false},
	} {
		acc := analyse(t, tt.w.plan, tt.w.leagues(3, 50))
		e := acc.Estimates(0.95)
		if got := e.NothingToRank(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		// A field of two under a fair draw: both gain alike, always.
		if tt.want && e.Neighbours()[0].Verdict != analysis.Equal {
			t.Errorf("%s: %+v", tt.name, e.Neighbours()[0])
		}
	}
}
