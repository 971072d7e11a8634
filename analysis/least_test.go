package analysis_test

import (
	"math"
	"testing"

	"github.com/strategylab/strategylab/analysis/attest"
)

// TestScoresLeast: against whom a player scores least is said of few equal opponents, and
// of the right one where one is unlike the others.
func TestScoresLeast(t *testing.T) {
	t.Parallel()
	repetitions := attest.Repetitions(20, 60, 600)
	equals := newWorld(t, "uniform:1-10", 2, bot{even: 0.8}, bot{even: 0.4, mood: 0.2}, bot{even: 0.4, mood: 0.2}, bot{even: 0.4, mood: 0.2}, bot{even: 0.4, mood: 0.2})
	unlike := newWorld(t, "uniform:1-10", 2, bot{even: 0.8}, bot{even: 0.3}, bot{even: 0.3}, bot{even: 0.9}, bot{even: 0.3})
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
