package analysis_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
)

// TestFewLeaguesOfOneLeg measures what words.Few says: among equal players, differences
// that take few values are found significant in up to 7 of 100 runs of fewer than 25 leagues
// of one leg, and in 5 of longer ones.
func TestFewLeaguesOfOneLeg(t *testing.T) {
	t.Parallel()
	repetitions, lengths := attest.Repetitions(300, 600, 4000), []int{10, 40, 15, 20, 25, 30, 60}
	for players := 3; players <= attest.Repetitions(3, 3, 5); players++ {
		for _, leagues := range lengths[:attest.Repetitions(2, 2, len(lengths))] {
			t.Run(fmt.Sprint(players, " ", leagues), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, "uniform:1-10", 1, slices.Repeat([]bot{{even: 0.5}}, players)...)
				wrong := 0
				for rep := range repetitions {
					e := analyse(t, w.plan, w.leagues(uint64(rep), leagues)).PointVerdicts(0.95)
					if slices.ContainsFunc(e.Ranking.Comparisons, func(c analysis.Comparison) bool { return c.Verdict == analysis.Different }) {
						wrong++
					}
				}
				most := 0.05
				if leagues < 25 {
					most = 0.07
				}
				share, chance := float64(wrong)/float64(repetitions), 2*math.Sqrt(most*(1-most)/float64(repetitions))
				t.Logf("wrong in %.1f %% of %d runs", 100*share, repetitions)
				if share > most+chance {
					t.Errorf("wrong in %.3f of runs, want at most %v", share, most)
				}
			})
		}
	}
}
