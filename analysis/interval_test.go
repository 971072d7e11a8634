package analysis

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis/attest"
)

// TestPrintedValues: critical values of t from E. S. Pearson and H. O. Hartley, Biometrika
// Tables for Statisticians, vol. 1, 3rd ed. (1966), table 12, and R's qt; the Clopper-Pearson
// interval for 0 of n from R. G. Newcombe, Statistics in Medicine 17 (1998), Table I, and R's
// binom.test; two-sided p-values of t from R's 2 * pt(-t, n-1).
func TestPrintedValues(t *testing.T) {
	for _, tt := range []struct {
		df         int64
		t95, t99   float64
		lastPlaces float64
	}{
		{1, 12.706, 63.657, 5e-4}, {2, 4.303, 9.925, 5e-4}, {5, 2.571, 4.032, 5e-4},
		{10, 2.228, 3.169, 5e-4}, {30, 2.042, 2.750, 5e-4}, {120, 1.980, 2.617, 5e-4},
		{999, 1.96234146113345, 2.58075963726764, 1e-7}, {19999, 1.960082611, 2.576075165, 1e-7},
	} {
		attest.Near(t, newIntervals(0.95).t(tt.df+1), tt.t95, tt.lastPlaces, "t of 95 %%")
		attest.Near(t, newIntervals(0.99).t(tt.df+1), tt.t99, tt.lastPlaces, "t of 99 %%")
	}
	for n, want := range map[int64][2]float64{20: {0.1684, 5e-5}, 10: {0.3084971078187608, 1e-8}, 1000: {0.003682083896865672, 1e-10}, 2: {0.8418861169915810, 1e-8}} {
		attest.Near(t, newIntervals(0.95).unseen(n), want[0], want[1], "unseen")
	}
	for _, tt := range []struct {
		t    float64
		n    int64
		want float64
	}{
		{0, 10, 1}, {2, 11, 0.0733880347707404}, {-2, 11, 0.0733880347707404}, {5, 200, 1.25473932525009e-06},
		{30, 200, 8.94292876057451e-76}, {2, 20000, 0.0455137626334529}, {1, 2, 0.5}, // Cauchy: 1 - 2*atan(1)/pi
	} {
		attest.Near(t, tTest(tt.t, tt.n), tt.want, 1e-7*tt.want, "p")
	}
}

// sameEstimate compares the numbers of two estimates, and their method.
func sameEstimate(t *testing.T, what string, got, want Estimate, within float64) {
	t.Helper()
	if got.Method != want.Method || math.IsNaN(got.Estimate) != math.IsNaN(want.Estimate) ||
		math.Abs(got.Estimate-want.Estimate) > within || math.Abs(got.Low-want.Low) > within || math.Abs(got.High-want.High) > within {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

// TestIntervalCases goes through the branches with R. A. Fisher's sleep data:
// the second drug's extra hours, ten patients (datasets::sleep in R), for which
// t.test(extra)$conf.int is 0.8976775 to 3.7623225.
func TestIntervalCases(t *testing.T) {
	var sum, squares int64
	for _, tenths := range []int64{19, 8, 11, 1, -1, 44, 55, 16, 46, 34} {
		sum += tenths
		squares += tenths * tenths
	}
	sleep := newSample(10, sum, mul(squares), 10)
	all := func(n int64, v float64) Sample { return Sample{Leagues: n, Mean: v, Constant: true} }
	c := newIntervals(0.95)
	for _, tt := range []struct {
		name string
		s    Sample
		r    span
		want Estimate
	}{
		{"t", sleep, span{-10, 10}, c.by(ByStudent, 2.33, 0.8976775, 3.7623225)},
		{"0.4 and 0.6, cut off", newSample(2, 10, mul(52), 10), span{0, 1}, c.by(ByStudent, 0.5, 0, 1)},
		{"no league", Sample{}, span{0, 3}, c.by(ByRange, math.NaN(), 0, 3)},
		{"one league", all(1, 2), span{0, 3}, c.by(ByRange, 2, 0, 3)},
		{"all at the top", all(20, 1.5), span{1, 1.5}, c.by(ByUnseen, 1.5, 1.5-0.5*0.1684335, 1.5)},
		{"all at the bottom", all(20, 1), span{1, 1.5}, c.by(ByUnseen, 1, 1, 1+0.5*0.1684335)},
		{"all inside", all(20, 1.25), span{1, 1.5}, c.by(ByUnseen, 1.25, 1.25-0.25*0.1684335, 1.25+0.25*0.1684335)},
		{"two that agree", all(2, 0), span{0, 1}, c.by(ByUnseen, 0, 0, 0.8418861)},
	} {
		if got := c.of(tt.s, tt.r); got.Level != 0.95 {
			t.Errorf("%s: level %v", tt.name, got.Level)
		} else {
			sameEstimate(t, tt.name, got, tt.want, 1e-7)
		}
	}
}

// TestLopsided: events in single leagues, in one experiment with few of them and
// in one with many. Reference: R, binom.test and qbeta.
func TestLopsided(t *testing.T) {
	// hits of n leagues have the value 1, the others 0.
	share := func(hits, n int64) Sample { return newSample(n, hits, mul(hits), 1) }
	for _, tt := range []struct {
		name      string
		s         Sample
		r         span
		low, high float64
	}{
		// qbeta(c(.025,.975), x+0:1, ne-x+1:0) with ne = 999*(qnorm(.975)/qt(.975,999))^2, x = ne*hits/1000;
		// binom.test(1, 1000) gives 0.0000253 to 0.0055589, near that.
		{"1 of 1000", share(1, 1000), span{0, 1}, 0.0000250446, 0.0055720210},
		{"29 of 1000", share(29, 1000), span{0, 1}, 0.0194912893, 0.0414095483},
		{"999 of 1000", share(999, 1000), span{0, 1}, 1 - 0.0055720210, 1 - 0.0000250446},
		{"3 of 20", share(3, 20), span{0, 1}, 0.0257866825, 0.4068409846},
		{"3 of 20 in another range", newSample(20, 3*3-17, mul(3*9+17), 1), span{-1, 3}, -0.8968532700, 0.6273639384},
		// t.test: from 100 events on the t interval is used.
		{"101 of 1000", share(101, 1000), span{0, 1}, 0.0822917843, 0.1197082157},
		{"60 of 1000", share(60, 1000), span{0, 1}, 0.0460726678, 0.0765921440},
		// 200 leagues of a tenth of the range: no league is at the bound.
		{"spread out", newSample(200, 200*10, mul(200*(100+4)), 100), span{0, 1}, 0.0972042341, 0.1027957659},
	} {
		e := newIntervals(0.95).of(tt.s, tt.r)
		attest.Near(t, e.Low, tt.low, 1e-7, "%s", tt.name)
		attest.Near(t, e.High, tt.high, 1e-7, "%s", tt.name)
	}
}

// TestStudentisedBootstrap compares with boot.ci(type = "stud") of the R package
// boot: testdata/bootstrap.R. R made 100,000 replicates and we 999, so an end of
// our interval strays by about a twelfth of half the interval's width; the mean
// over 40 seeds by less than a fiftieth of it.
func TestStudentisedBootstrap(t *testing.T) {
	t.Parallel()
	const seeds = 40
	for _, name := range []string{"titles, skewed", "ranks of a strong player", "ranks of a middling player", "few leagues"} {
		row, ok := referenceRow("testdata/bootstrap-reference.csv", name)
		if !ok {
			t.Fatalf("no reference for %s", name)
		}
		var v valueCounts
		for i, value := range strings.Fields(row[1]) {
			v.values = append(v.values, number(value))
			v.counts = append(v.counts, int64(number(strings.Fields(row[2])[i])))
		}
		low, high := number(row[4]), number(row[5])
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
		if math.Abs(sum.Estimate-number(row[3])) > 1e-7 || math.Abs(sum.Low-low) > tol || math.Abs(sum.High-high) > tol {
			t.Errorf("%s: %v, want %v", name, sum, row[3:])
		}
	}
}

// TestResampledCases: what cannot be resampled gets the intervals that hold there.
func TestResampledCases(t *testing.T) {
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

// TestTrials uses R 4.2.2: binom.test(hits, n)$conf.int, and from 50 on each side
// prop.test(hits, n, correct = FALSE)$conf.int. The first two lines are also in
// R. G. Newcombe, Statistics in Medicine 17 (1998), 857-872, Table I, method 5
// and 3: 0/20 to 0.1684, 81/263 as 0.2553 to 0.3662.
func TestTrials(t *testing.T) {
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
		attest.Near(t, e.Estimate, float64(tt.hits)/float64(tt.n), 0, "%d of %d", tt.hits, tt.n)
		attest.Near(t, e.Low, tt.low, tt.tol, "lower end of %d of %d", tt.hits, tt.n)
		attest.Near(t, e.High, tt.high, tt.tol, "upper end of %d of %d", tt.hits, tt.n)
	}
	if e := newIntervals(0.95).trials(0, 0); e.Defined() || e.Width() != 1 {
		t.Errorf("no trial: %v", e)
	}
}
