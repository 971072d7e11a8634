package analysis

import (
	"math"
	"testing"
)

// TestTrials uses R 4.2.2: binom.test(hits, n)$conf.int, and from 50 on each side
// prop.test(hits, n, correct = FALSE)$conf.int. The first two lines are also in
// R. G. Newcombe, Statistics in Medicine 17 (1998), 857-872, Table I, method 5
// and 3: 0/20 to 0.1684, 81/263 as 0.2553 to 0.3662.
func TestTrials(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		hits, n   int64
		low, high float64
		tol       float64
	}{
		{0, 20, 0, 0.1684, 5e-5},
		{81, 263, 0.2553, 0.3662, 5e-5},
		{1, 10, 0.002528578544, 0.445016117028, 1e-8},
		{0, 200, 0, 0.01827534036, 1e-8},
		{29, 1000, 0.01950593732, 0.04138471912, 1e-8},
		{30, 1000, 0.02033048568, 0.04255140247, 1e-8},
		{120, 200, 0.5308367204, 0.6653942143, 1e-8},
		{171, 200, 0.7984385038, 0.9006913774, 1e-8},
		{200, 200, 0.9817246596, 1, 1e-8},
		{0, 1, 0, 1, 0},
		{1, 1, 0, 1, 0},
	} {
		e := newIntervals(0.95).trials(tt.hits, tt.n)
		if math.Abs(e.Low-tt.low) > tt.tol || math.Abs(e.High-tt.high) > tt.tol || e.Estimate != float64(tt.hits)/float64(tt.n) {
			t.Errorf("%d of %d: %v, want %v to %v", tt.hits, tt.n, e, tt.low, tt.high)
		}
	}
	if e := newIntervals(0.95).trials(0, 0); e.Defined() || e.Width() != 1 {
		t.Errorf("no trial: %v", e)
	}
}
