package analysis_test

import (
	"math"
	"slices"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/sequential"
)

// TestStoppingByEye measures what words.Unfinished says: a run of equal players that is
// watched at 14 looks and stopped at the best of them finds a false difference far more
// often than in 5 %, and one with confidence sequences does not.
func TestStoppingByEye(t *testing.T) {
	t.Parallel()
	repetitions := attest.Repetitions(12, 40, 800)
	errors := float64(attest.Repetitions(3, 3, 2))                                     // standard errors of a share that are allowed
	looks := []int{32, 43, 57, 76, 102, 136, 181, 242, 323, 431, 574, 766, 1021, 1362} // each a third later
	w := newWorld(t, "uniform:1-10", 1, bot{even: 0.5}, bot{even: 0.5}, bot{even: 0.5}, bot{even: 0.5})
	byEye, last, sequences := 0, 0, 0
	differs := func(e analysis.Estimates) bool {
		return slices.ContainsFunc(e.Ranking.Comparisons, func(c analysis.Comparison) bool { return c.Verdict == analysis.Different })
	}
	for rep := range repetitions {
		acc := analyse(t, w.plan, nil)
		tracker := attest.Must(acc.Tracker(sequential.Options{Rule: sequential.Rule{Kind: sequential.Best}, Guarantee: sequential.Asymptotic, Level: 0.95}))
		found, decided := false, false
		for n := range looks[len(looks)-1] {
			attest.OK(t, acc.Add(w.league(uint64(rep), n)))
			attest.OK(t, tracker.Add(acc.Last()))
			if slices.Contains(looks, n+1) {
				now := differs(acc.PointVerdicts(0.95))
				if found = found || now; now && n+1 == looks[len(looks)-1] {
					last++
				}
				decided = decided || tracker.Decided()
			}
		}
		if found {
			byEye++
		}
		if decided {
			sequences++
		}
	}
	n := float64(repetitions)
	t.Logf("of %d: a false difference at any look %.1f %%, at the last %.1f %%, with sequences %.1f %%", repetitions, 100*float64(byEye)/n, 100*float64(last)/n, 100*float64(sequences)/n)
	chance := func(p float64) float64 { return errors * math.Sqrt(p*(1-p)/n) }
	if share := float64(byEye) / n; math.Abs(share-0.25) > chance(0.25)+0.05 {
		t.Errorf("by eye in %.3f of runs", share)
	}
	for what, k := range map[string]int{"the last look": last, "sequences": sequences} {
		if float64(k)/n > 0.05+chance(0.05) {
			t.Errorf("%s: in %d of %d", what, k, repetitions)
		}
	}
}
