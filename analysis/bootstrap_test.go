package analysis

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestStudentisedBootstrap compares with boot.ci(type = "stud") of the R package
// boot: testdata/bootstrap.R. R made 100,000 replicates and we 999, so an end of
// our interval strays by about a twelfth of half the interval's width; the mean
// over 40 seeds by less than a fiftieth of it.
func TestStudentisedBootstrap(t *testing.T) {
	t.Parallel()
	const seeds = 40
	for _, name := range []string{"titles, skewed", "ranks of a strong player", "ranks of a middling player", "few leagues"} {
		row, ok := referenceRow(t, "testdata/bootstrap-reference.csv", name)
		if !ok {
			t.Fatalf("no reference for %s", name)
		}
		var v valueCounts
		for i, value := range strings.Fields(row[1]) {
			v.values = append(v.values, number(t, value))
			v.counts = append(v.counts, int64(number(t, strings.Fields(row[2])[i])))
		}
		low, high := number(t, row[4]), number(t, row[5])
		var sum Estimate
		for seed := range uint64(seeds) {
			e := newIntervals(0.95).resampled(v, span{0, 100}, rand.NewPCG(seed, 1))
			sum.Estimate += e.Estimate / seeds
			sum.Low += e.Low / seeds
			sum.High += e.High / seeds
			if seed == 0 {
				if again := newIntervals(0.95).resampled(v, span{0, 100}, rand.NewPCG(seed, 1)); again != e {
					t.Errorf("%s: one seed gives %v and %v", name, e, again)
				}
			}
		}
		tol := (high - low) / 2 / 50
		if math.Abs(sum.Estimate-number(t, row[3])) > 1e-7 || math.Abs(sum.Low-low) > tol || math.Abs(sum.High-high) > tol {
			t.Errorf("%s: %v, want %v", name, sum, row[3:])
		}
	}
}

// TestResampledCases: what cannot be resampled gets the intervals that hold there.
func TestResampledCases(t *testing.T) {
	t.Parallel()
	c := newIntervals(0.95)
	r := span{1, 9}
	for _, tt := range []struct {
		name string
		v    valueCounts
		want Estimate // zero: that of Student
	}{
		{"all agree", valueCounts{[]float64{2}, []int64{100}}, c.by(ByUnseen, 2, 2-c.unseen(100), 2+7*c.unseen(100))},
		{"all but one agree", valueCounts{[]float64{2, 2.5}, []int64{99, 1}}, c.by(ByUnseen, 2.005, 2.005-1.005*c.unseen(100), 2.005+6.995*c.unseen(100))},
		{"few leagues", valueCounts{[]float64{2, 3, 4}, []int64{5, 5, 5}}, Estimate{}},
	} {
		if tt.want == (Estimate{}) {
			tt.want = c.of(tt.v.sample(), r)
		}
		sameEstimate(t, tt.name, c.resampled(tt.v, r, rand.NewPCG(1, 1)), tt.want, 1e-12)
	}
}
