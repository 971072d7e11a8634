package analysis_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/strategylab/strategylab/analysis"
)

func TestAfterLooks(t *testing.T) {
	sum := 0.0
	for looks := range 50 {
		level := analysis.AfterLooks(0.95, looks)
		sum += 1 - level
		if bound := analysis.ErrorOfLooks(level, looks); looks > 0 && math.Abs(bound-0.06) > 1e-12 || looks == 0 && math.Abs(bound-0.05) > 1e-12 {
			t.Errorf("after %d looks: the error is at most %v", looks, bound)
		}
	}
	if want := 0.05 * (1 + (1-1.0/50)/5); math.Abs(sum-want) > 1e-12 { // the sum of 1/(k(k-1)) telescopes
		t.Errorf("fifty looks err with %v in all, want %v", sum, want)
	}
}

// Two equal players are looked at with 100, 200, 400, 800 and 1600 leagues.
func TestExtendingEquals(t *testing.T) {
	const repetitions = 20_000
	rng := rand.New(rand.NewPCG(1, 2))
	var corrected, plain int
	for range repetitions {
		sum, leagues, wrong, alarm := 0.0, 0, false, false
		for look := range 5 {
			more := 100<<look - leagues
			sum += math.Sqrt(float64(more)) * rng.NormFloat64()
			leagues += more
			p := 2 * distuv.UnitNormal.Survival(math.Abs(sum)/math.Sqrt(float64(leagues)))
			wrong = wrong || p < 1-analysis.AfterLooks(0.95, look)
			alarm = alarm || p < 0.05
		}
		if wrong {
			corrected++
		}
		if alarm {
			plain++
		}
	}
	// Four standard errors of 20,000 repetitions are 0.7 %.
	if share := float64(corrected) / repetitions; share < 0.045 || share > 0.06+0.007 {
		t.Errorf("corrected looks err in %.4f of runs, want 0.05 to 0.06", share)
	}
	t.Logf("corrected looks err in %d of %d runs, uncorrected ones in %d", corrected, repetitions, plain)
	if share := float64(plain) / repetitions; share < 0.12 {
		t.Errorf("uncorrected looks err in %.4f of runs, so that this test shows nothing", share)
	}
}
