package analysis_test

import (
	"math"
	"testing"

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
