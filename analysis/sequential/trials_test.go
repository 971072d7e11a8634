package sequential_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/strategylab/strategylab/analysis/sequential"
)

// The values were computed with the beta function of Python's mpmath, to 30 digits.
func TestTrialsAgainstReference(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		hits, misses int64
		low, high, p float64
	}{
		{0, 10, 0.0, 0.376987351, 0.005542445171},
		{1, 99, 1.417779546e-5, 0.08402231446, 2.785937134e-27},
		{30, 70, 0.1656515354, 0.4628398651, 0.003355702826},
		{50, 50, 0.3382575526, 0.6617424474, 1.0},
		{500, 400, 0.4949499251, 0.6150757902, 0.1437363242},
		{20000, 19000, 0.5023778647, 0.5232557044, 0.0006685082666},
		{7, 0, 0.5213828761, 1.0, 0.0372960373},
	} {
		low, high := sequential.TrialsInterval(tt.hits, tt.misses, 0.95)
		if math.Abs(low-tt.low) > 1e-6 || math.Abs(high-tt.high) > 1e-6 {
			t.Errorf("%d of %d: %v to %v, want %v to %v", tt.hits, tt.hits+tt.misses, low, high, tt.low, tt.high)
		}
		if p := sequential.SignsP(tt.hits, tt.misses); math.Abs(p-tt.p) > 1e-6*tt.p {
			t.Errorf("%d against %d: p = %v, want %v", tt.hits, tt.misses, p, tt.p)
		}
	}
}

// Looked at after every trial, an interval for a chance that is ever wrong is so in at
// most 5 % of experiments, and so is a test of equal chances.
func TestTrialsHoldAtEveryLook(t *testing.T) {
	t.Parallel()
	const experiments, trials = 400, 250
	// The same counts come again and again; what they show is computed once.
	type shown struct{ low, high, p float64 }
	var known [trials + 1][trials + 1]shown
	for hits := range int64(trials + 1) {
		for misses := range trials + 1 - hits {
			s := &known[hits][misses]
			s.low, s.high = sequential.TrialsInterval(hits, misses, 0.95)
			s.p = sequential.SignsP(hits, misses)
		}
	}
	for _, chance := range []float64{0.02, 0.3, 0.5} {
		source := rand.New(rand.NewPCG(1, 2))
		wrong, rejected := 0, 0
		for range experiments {
			var hits, misses int64
			missed, smallest := false, 1.0
			for range trials {
				if source.Float64() < chance {
					hits++
				} else {
					misses++
				}
				s := known[hits][misses]
				missed = missed || chance < s.low || chance > s.high
				smallest = min(smallest, s.p)
			}
			if missed {
				wrong++
			}
			if smallest <= 0.05 {
				rejected++
			}
		}
		most := experiments * 0.05 * 1.65 // three standard errors above
		if float64(wrong) > most {
			t.Errorf("chance %v: %d of %d experiments had a wrong interval", chance, wrong, experiments)
		}
		switch {
		case chance == 0.5 && float64(rejected) > most:
			t.Errorf("%d of %d experiments found equal chances different", rejected, experiments)
		case chance == 0.3 && rejected < experiments*9/10:
			t.Errorf("only %d of %d experiments told 30 %% from 70 %%", rejected, experiments)
		}
	}
}
