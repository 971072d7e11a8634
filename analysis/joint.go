package analysis

import (
	"fmt"
	"math"
	"math/big"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/strategylab/strategylab/analysis/sequential"
)

// Joint takes in several numbers per league and keeps their sums and sums of products:
// all that the variance of any combination of their means needs, covariances included.
// It is exact and does not depend on the order of the leagues. It is for one goroutine
// at a time.
type Joint struct {
	leagues  int64
	sums     []int64
	products products
}

// NewJoint returns an empty Joint of columns.
func NewJoint(columns int) *Joint {
	return &Joint{sums: make([]int64, columns), products: newProducts(columns)}
}

// Add takes in one league: a value, not negative, for each column. It panics on another
// number of values.
func (j *Joint) Add(values []int64) {
	if len(values) != len(j.sums) {
		panic(fmt.Sprintf("analysis: %d values for %d columns", len(values), len(j.sums)))
	}
	for i, v := range values {
		j.sums[i] += v
	}
	j.products.addOuter(values)
	j.leagues++
}

// Term is a coefficient times the ratio of the sums of two columns. If the base is the
// same in all leagues, it is a mean.
type Term struct {
	Coefficient *big.Rat
	Part, Base  int // columns
}

// Combine returns the sum of the terms, with the variance that follows from the
// columns: exactly if the bases are constant, and otherwise as the usual estimate for
// ratios (W. G. Cochran, Sampling Techniques, 3rd ed., Wiley 1977, chapter 6).
func (j *Joint) Combine(terms ...Term) Sample {
	s := Sample{Leagues: j.leagues, Constant: true}
	mean := new(big.Rat)
	gradient := make([]*big.Rat, len(j.sums)) // by the columns' sums
	for _, t := range terms {
		if j.sums[t.Base] == 0 {
			return Sample{Mean: math.NaN(), Constant: true}
		}
		base := new(big.Rat).SetInt64(j.sums[t.Base])
		ratio := new(big.Rat).Quo(new(big.Rat).SetInt64(j.sums[t.Part]), base)
		slope := new(big.Rat).Quo(t.Coefficient, base)
		mean.Add(mean, new(big.Rat).Mul(t.Coefficient, ratio))
		addTo(gradient, t.Part, slope)
		addTo(gradient, t.Base, new(big.Rat).Neg(new(big.Rat).Mul(slope, ratio)))
	}
	s.Mean, _ = mean.Float64()
	if j.leagues < 2 {
		return s
	}
	form := j.quadratic(gradient)
	s.Constant = form.Sign() == 0
	// The gradient is by sums, so the variance of a league's value is n^2 times that of
	// the products of sums, over n(n-1).
	form.Mul(form, big.NewRat(j.leagues, j.leagues-1))
	s.Variance, _ = form.Float64()
	return s
}

func addTo(row []*big.Rat, i int, x *big.Rat) {
	if row[i] == nil {
		row[i] = new(big.Rat)
	}
	row[i].Add(row[i], x)
}

// quadratic is g'(n*products - sums*sums')g.
func (j *Joint) quadratic(g []*big.Rat) *big.Rat {
	total := new(big.Rat)
	for a, x := range g {
		for b, y := range g[:a+1] {
			if x == nil || y == nil {
				continue
			}
			cell := new(big.Int).Mul(big.NewInt(j.leagues), j.products.at(a, b).big())
			cell.Sub(cell, mul(j.sums[a], j.sums[b]))
			if a != b {
				cell.Lsh(cell, 1)
			}
			term := new(big.Rat).SetInt(cell)
			total.Add(total, term.Mul(term, new(big.Rat).Mul(x, y)))
		}
	}
	return total
}

// Interval returns the mean with its interval at a confidence level, for single values
// between low and high; see docs/statistics.md.
func (s Sample) Interval(level, low, high float64) Estimate {
	return newIntervals(level).of(s, span{low, high})
}

// Zero is the two-sided p-value of the hypothesis that the mean is zero, for single
// values between -width and width: by Student's t, or from the chance that all leagues
// agree. It is 1 if nothing can be said.
//
// If all leagues agree on a mean other than zero, t would be infinite and claim
// certainty; instead p is twice the chance that bounded values with mean zero all agree
// on it, as in [intervals.unseen].
func (s Sample) Zero(width float64) float64 {
	switch {
	case s.Leagues < 2, s.Constant && s.Mean == 0:
		return 1
	case s.Constant:
		agree := width / (width + math.Abs(s.Mean))
		return min(1, 2*sequential.Rounded(math.Pow(agree, float64(s.Leagues))))
	}
	return tTest(s.Mean/s.standardError(), s.Leagues)
}

// Welch compares the means of two independent samples of values from one range: b's
// mean minus a's, and the two-sided p-value of their equality. It is the test of B. L.
// Welch, Biometrika 34 (1947), 28-35, with his degrees of freedom. If all leagues of a
// sample agree, so that its variance is unknown, the interval combines the intervals of
// the two samples, each at half the risk.
func Welch(a, b Sample, level, low, high float64) (Estimate, float64) {
	width := high - low
	if math.IsNaN(a.Mean) || math.IsNaN(b.Mean) || min(a.Leagues, b.Leagues) < 2 {
		return newIntervals(level).by(ByRange, b.Mean-a.Mean, -width, width), 1
	}
	if a.Constant || b.Constant {
		return apart(a, b, level, low, high), apartP(a, b, low, high)
	}
	va, vb := a.Variance/float64(a.Leagues), b.Variance/float64(b.Leagues)
	se := math.Sqrt(va + vb)
	df := float64(float64(va+vb)*float64(va+vb)) /
		(float64(va*va)/float64(a.Leagues-1) + float64(vb*vb)/float64(b.Leagues-1))
	mean := b.Mean - a.Mean
	t := mean / se
	half := float64(sequential.Rounded(distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(0.5+level/2)) * se)
	e := newIntervals(level).by(ByWelch, mean, max(-width, mean-half), min(width, mean+half))
	return e, sequential.Rounded(mathext.RegIncBeta(df/2, 0.5, df/(df+float64(t*t))))
}

// apart is the interval for b-a from those of a and b.
func apart(a, b Sample, level, low, high float64) Estimate {
	each := (1 + level) / 2
	x, y := a.Interval(each, low, high), b.Interval(each, low, high)
	return newIntervals(level).by(ByParts, b.Mean-a.Mean, y.Low-x.High, y.High-x.Low)
}

// apartP is the smallest risk at which [apart] excludes zero.
func apartP(a, b Sample, low, high float64) float64 {
	const steps = 50
	lo, hi := 0.0, 1.0 // risks at which zero is inside, and excluded
	for range steps {
		risk := (lo + hi) / 2
		if risk == 0 || risk == 1 {
			break
		}
		if e := apart(a, b, 1-risk, low, high); e.Low > 0 || e.High < 0 {
			hi = risk
		} else {
			lo = risk
		}
	}
	return sequential.Rounded(hi)
}
