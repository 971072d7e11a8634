package analysis_test

import (
	"fmt"
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
	w := newWorld("uniform:1-10", 1, bot{even: 0.5}, bot{even: 0.5}, bot{even: 0.5}, bot{even: 0.5})
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
		byEye += attest.One(found)
		sequences += attest.One(decided)
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
				w := newWorld("uniform:1-10", 1, slices.Repeat([]bot{{even: 0.5}}, players)...)
				wrong := 0
				for rep := range repetitions {
					e := analyse(t, w.plan, w.leagues(uint64(rep), leagues)).PointVerdicts(0.95)
					wrong += attest.One(slices.ContainsFunc(e.Ranking.Comparisons, func(c analysis.Comparison) bool { return c.Verdict == analysis.Different }))
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

func TestAfterLooks(t *testing.T) {
	sum := 0.0
	for looks := range 50 {
		level := analysis.AfterLooks(0.95, looks)
		sum += 1 - level
		if bound := analysis.ErrorOfLooks(level, looks); looks > 0 && math.Abs(bound-0.06) > 1e-12 || looks == 0 && math.Abs(bound-0.05) > 1e-12 {
			t.Errorf("after %d looks: the error is at most %v", looks, bound)
		}
	}
	attest.Near(t, sum, 0.05*(1+(1-1.0/50)/5), 1e-12, "errors of fifty looks in all") // the sum of 1/(k(k-1)) telescopes
}

// TestScoresLeast: against whom a player scores least is said of few equal opponents, and
// of the right one where one is unlike the others.
func TestScoresLeast(t *testing.T) {
	t.Parallel()
	repetitions := attest.Repetitions(20, 60, 600)
	equals := newWorld("uniform:1-10", 2, bot{even: 0.8}, bot{even: 0.4, mood: 0.2}, bot{even: 0.4, mood: 0.2}, bot{even: 0.4, mood: 0.2}, bot{even: 0.4, mood: 0.2})
	unlike := newWorld("uniform:1-10", 2, bot{even: 0.8}, bot{even: 0.3}, bot{even: 0.3}, bot{even: 0.9}, bot{even: 0.3})
	wrong, right := 0, 0
	for rep := range repetitions {
		e := analyse(t, equals.plan, equals.leagues(uint64(rep), 80)).Verdicts(0.95)
		if _, ok := e.ScoresLeast(0); ok {
			wrong++
		}
		e = analyse(t, unlike.plan, unlike.leagues(uint64(rep), 80)).Verdicts(0.95)
		if opponent, ok := e.ScoresLeast(0); ok && opponent == 3 {
			right++
		} else if ok {
			wrong++
		}
	}
	t.Logf("of %d: wrong %d, right %d", repetitions, wrong, right)
	if n := float64(repetitions); float64(wrong) > n*0.05+2*math.Sqrt(n*0.05*0.95) || right < repetitions/2 {
		t.Errorf("of %d: wrong %d, right %d", repetitions, wrong, right)
	}
}
