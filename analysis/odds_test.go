package analysis_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/sequential"
)

// Every number from the league values of TestBruteForce, which come straight from the
// rules.
func TestOddsBruteForce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := genWorld(rt, t)
		leagues := w.leagues(rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(1, 9).Draw(rt, "leagues"))
		e := analyse(t, w.plan, leagues).Estimates(0.95)
		b := bruteForce(w, leagues)
		for a := range w.bots {
			for z := range w.bots {
				if a == z {
					continue
				}
				var above, below, titlesA, titlesZ int64
				var difference []float64
				for l := range leagues {
					x, y := b.players[a], b.players[z]
					above += btoi(x.raw[l] > y.raw[l])
					below += btoi(x.raw[l] < y.raw[l])
					titlesA += btoi(x.share[l] > 0 && y.share[l] == 0)
					titlesZ += btoi(x.share[l] == 0 && y.share[l] > 0)
					difference = append(difference, x.raw[l]-y.raw[l])
				}
				o := e.OddsOf(a, z)
				if o.A != a || o.B != z || o.AboveA != above || o.AboveB != below || o.TitlesA != titlesA || o.TitlesB != titlesZ {
					rt.Errorf("%d and %d: %+v, want above %d and %d, titles %d and %d", a, z, o, above, below, titlesA, titlesZ)
				}
				if n := float64(len(leagues)); o.Above.Estimate != float64(above)/n || o.Below.Estimate != float64(below)/n {
					rt.Errorf("%d and %d: chances %v and %v of %d leagues", a, z, o.Above, o.Below, len(leagues))
				}
				if _, sd := meanSD(difference); len(leagues) > 1 && math.Abs(o.Spread-sd) > 1e-9 {
					rt.Errorf("%d and %d: standard deviation %v, want %v", a, z, o.Spread, sd)
				}
			}
		}
	})
}

// The values are sums of binomial coefficients in Python's exact integers.
func TestSignTest(t *testing.T) {
	for _, tt := range []struct {
		a, b int64
		p    float64
	}{
		{15, 5, 0.04138946533203125}, {5, 15, 0.04138946533203125}, {10, 0, 0.001953125}, {7, 3, 0.34375}, {60, 40, 0.05688793364098079},
		{530, 470, 0.06202319509836318}, {600, 450, 4.111890930721226e-06}, {1, 0, 1}, {4, 4, 1}, {0, 0, 1},
	} {
		attest.Near(t, analysis.SignTest(tt.a, tt.b), tt.p, 1e-7*tt.p, "SignTest(%d, %d)", tt.a, tt.b)
	}
}

// Against strategies that always say even, one that says the same throughout a league, now
// even and now odd, expects what a coin does. But it is either far ahead or far behind, and
// so takes more titles than each of three coins.
func TestMoreTitlesOnEqualPoints(t *testing.T) {
	t.Parallel()
	bots := []bot{{even: 0.5, mood: 0.5}, {even: 0.5}, {even: 0.5}, {even: 0.5}}
	for range 8 {
		bots = append(bots, bot{even: 1})
	}
	w := newWorld("", 10, bots...)
	acc := analyse(t, w.plan, w.leagues(4, 1400))
	e := acc.Estimates(0.95)
	if c, _ := e.Compared(0, 1); c.Verdict == analysis.Different {
		t.Fatalf("the points differ: %+v", c)
	}
	o := e.OddsOf(0, 1)
	if o.Titles != analysis.Different || o.TitlesA < o.TitlesB || o.TitlesP > 1e-3 {
		t.Errorf("%+v, want significantly more titles for the first", o)
	}
	if back := e.OddsOf(1, 0); back.TitlesB != o.TitlesA || back.AboveB != o.AboveA || back.Below != o.Above || back.Titles != o.Titles {
		t.Errorf("reversed %+v", back)
	}

	// In standard deviations of a league: the difference by the spread.
	if got := o.Effect(analysis.Estimate{Estimate: o.Spread, Low: 0, High: 2 * o.Spread}); got != (analysis.Estimate{Estimate: 1, Low: 0, High: 2}) {
		t.Errorf("effect %+v, want 1 (0 to 2)", got)
	}
	if got := (analysis.Odds{}).Effect(analysis.Estimate{}); got.Defined() {
		t.Errorf("effect %+v where leagues do not vary", got)
	}

	// Looked at after every league, the evidence is weaker.
	tracker := attest.Must(acc.Tracker(sequential.Options{Guarantee: sequential.Asymptotic, Level: 0.95, Rule: sequential.Rule{Kind: sequential.Best}}))
	looked := acc.SequentialEstimates(tracker)
	if s := looked.OddsOf(0, 1); s.Titles != analysis.Different || !(s.TitlesP > o.TitlesP) ||
		!(s.Above.Width() > o.Above.Width()) || s.Above.Method != analysis.ByTrialsSequence || s.Method != analysis.BySignsSequence {
		t.Errorf("in a sequential experiment %+v, want less evidence than %+v", s, o)
	}
}
