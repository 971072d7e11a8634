package sequential_test

import (
	"testing"

	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/sequential"
)

// The values were computed with the beta function of Python's mpmath, to 30 digits.
func TestTrialsAgainstReference(t *testing.T) {
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
		attest.Near(t, low, tt.low, 1e-6, "lower end of %d of %d", tt.hits, tt.hits+tt.misses)
		attest.Near(t, high, tt.high, 1e-6, "upper end of %d of %d", tt.hits, tt.hits+tt.misses)
		attest.Near(t, sequential.SignsP(tt.hits, tt.misses), tt.p, 1e-6*tt.p, "p of %d against %d", tt.hits, tt.misses)
	}
}
