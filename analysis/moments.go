package analysis

import (
	"math"
	"math/big"
	"math/bits"
)

// wide is an unsigned 128-bit sum. The largest league and draw that the rules allow
// make squares of 2^65, and 2^63 such leagues fit; of their cubes, 2^30.
type wide struct{ hi, lo uint64 }

// addProduct adds a*b. Neither is negative.
func (w *wide) addProduct(a, b int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, lo, 0)
	w.hi += hi + carry
}

// addCube adds the cube of a, which is not negative.
func (w *wide) addCube(a int64) {
	x := uint64(a)
	high, low := bits.Mul64(x, x)
	carried, low := bits.Mul64(low, x)
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, low, 0)
	w.hi += high*x + carried + carry
}

func (w wide) big() *big.Int {
	z := new(big.Int).SetUint64(w.hi)
	z.Lsh(z, 64)
	return z.Or(z, new(big.Int).SetUint64(w.lo))
}

func mul(factors ...int64) *big.Int {
	z := big.NewInt(1)
	for _, f := range factors {
		z.Mul(z, big.NewInt(f))
	}
	return z
}

// float returns the float64 nearest to z.
func float(z *big.Int) float64 {
	f, _ := new(big.Float).SetInt(z).Float64()
	return f
}

// Sample describes independent league values of one quantity by what an interval for
// their mean needs.
type Sample struct {
	Leagues  int64   // 0 if there is no mean
	Mean     float64 // NaN or 0 if there is none
	Variance float64 // of a league's value, with n-1 in the denominator
	Constant bool    // all leagues agree
}

// standardError is that of the mean; it needs two leagues.
func (s Sample) standardError() float64 { return math.Sqrt(s.Variance / float64(s.Leagues)) }

// newSample computes mean and variance of n league values v/scale from the exact sums
// of v and v*v. Nothing is rounded before the last division, so nothing cancels.
func newSample(n, sum int64, squares *big.Int, scale int64) Sample {
	s := Sample{Leagues: n}
	if n == 0 {
		return s
	}
	s.Mean = float64(sum) / (float64(n) * float64(scale))
	if n == 1 {
		s.Constant = true
		return s
	}
	spread := new(big.Int).Mul(big.NewInt(n), squares)
	spread.Sub(spread, mul(sum, sum))
	s.Constant = spread.Sign() == 0
	s.Variance = float(spread) / float(mul(n, n-1)) / float(mul(scale, scale))
	return s
}

// Ratio gathers a share per match whose number of matches may differ from league to
// league, such as that of differing matches among those decided by choices. It keeps
// integers; its memory does not depend on the number of leagues. The zero value is
// empty. It is for one goroutine at a time.
type Ratio struct {
	leagues    int64 // those with a base
	part, base int64
	partSq     int64
	partBase   int64
	baseSq     int64
}

// Add counts one league: the sum over its matches, which may be negative, and their
// number. A league without matches is left out. Neither may exceed 2^31.
func (r *Ratio) Add(part, base int64) {
	if base == 0 {
		return
	}
	r.leagues++
	r.part += part
	r.base += base
	r.partSq += part * part
	r.partBase += part * base
	r.baseSq += base * base
}

// sample returns the ratio estimate, all parts over all bases, and n times its
// estimated variance, from the residuals part - ratio*base of the leagues (W. G.
// Cochran, Sampling Techniques, 3rd ed., Wiley 1977, chapter 6). If every league has
// the same base, it is the mean of league values.
func (r *Ratio) sample() Sample {
	s := Sample{Leagues: r.leagues}
	if r.leagues == 0 {
		return s
	}
	s.Mean = float64(r.part) / float64(r.base)
	if r.leagues == 1 {
		s.Constant = true
		return s
	}
	// The squared residuals times base^2 are an integer.
	residuals := mul(r.base, r.base, r.partSq)
	residuals.Sub(residuals, mul(2, r.base, r.part, r.partBase))
	residuals.Add(residuals, mul(r.part, r.part, r.baseSq))
	s.Constant = residuals.Sign() == 0
	n := r.leagues
	s.Variance = float(mul(n, n)) / float(big.NewInt(n-1)) * float(residuals) / float(mul(r.base, r.base, r.base, r.base))
	return s
}

// valueCounts is how many leagues had each of the values that occurred.
type valueCounts struct {
	values []float64
	counts []int64 // positive
}

func newValueCounts(values []float64, counts []int64) valueCounts {
	var v valueCounts
	for i, count := range counts {
		if count > 0 {
			v.values = append(v.values, values[i])
			v.counts = append(v.counts, count)
		}
	}
	return v
}

// sample computes mean and variance.
func (v valueCounts) sample() Sample {
	var s Sample
	var sum float64
	for i, x := range v.values {
		s.Leagues += v.counts[i]
		sum += float64(x * float64(v.counts[i]))
	}
	switch len(v.values) {
	case 0:
		return s
	case 1:
		return Sample{Leagues: s.Leagues, Mean: v.values[0], Constant: true}
	}
	s.Mean = sum / float64(s.Leagues)
	var spread float64
	for i, x := range v.values {
		d := x - s.Mean
		spread += float64(float64(d*d) * float64(v.counts[i]))
	}
	s.Variance = spread / float64(s.Leagues-1)
	return s
}

// Estimate returns all parts over all bases, between low and high, with an interval of
// a confidence level in (0, 1) whose unit is the league.
func (r *Ratio) Estimate(level, low, high float64) Estimate {
	return newIntervals(level).of(r.sample(), span{low, high})
}
