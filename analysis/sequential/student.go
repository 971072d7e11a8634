package sequential

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mathext"
)

// BurnIn is the number of leagues before the t sequence begins. A longer burn-in costs
// leagues if the effect is large, and brings the sequence closer to its level if league
// values are not normal.
const BurnIn = 32

// Student is the t-statistic mixture sequence that begins at a burn-in. For normal
// values with mean zero and any variance, let t[n] be Student's statistic after n
// of them. The likelihood ratio of t[n], mixed over all standardized effects with
// a flat prior, is up to a constant
//
//	V[n] = (1 + t[n]^2/(n-1))^(n/2) / sqrt(n)
//
// It is a nonnegative martingale that starts from infinity. Started at n = m
// instead, the extended inequality of Ville gives, with V the value that belongs to
// |t[m]| = a, and F and f the distribution and the density of Student's t with m-1
// degrees of freedom,
//
//	P(V[n] >= V for some n >= m) <= 2 (1 - F(a) + a f(a)),
//
// which is theorem 2 of Lai (1976). The bound is nearly an equality: the martingale
// tends to zero, and only jumps over V are lost.
//
// The zero value is not ready for use; see [NewStudent].
type Student struct{ burnIn float64 }

// NewStudent returns the sequence that begins after burnIn values. It panics if there
// are fewer than 2.
func NewStudent(burnIn int) Student {
	if burnIn < 2 {
		panic(fmt.Sprintf("sequential: a burn-in of %d values has no t; want at least 2", burnIn))
	}
	return Student{float64(burnIn)}
}

// Evidence is the logarithm of V[n], where ratio is t^2/(n-1), which is n times the
// squared mean over the sum of squared deviations from it.
func (s Student) Evidence(n int64, ratio float64) float64 {
	return float64(0.5*float64(n)*math.Log1p(ratio)) - float64(0.5*math.Log(float64(n)))
}

// P is the chance that values with mean zero ever reach this evidence, on either side:
// an always-valid p-value. It is 1 for minus infinity.
func (s Student) P(evidence float64) float64 {
	m := s.burnIn
	grown := math.Expm1(2 / m * (evidence + 0.5*math.Log(m)))
	if !(grown > 0) {
		return 1
	}
	return Rounded(min(1, s.exceeds(math.Sqrt((m-1)*grown))))
}

// exceeds is 2 (1 - F(a) + a f(a)).
func (s Student) exceeds(a float64) float64 {
	df := s.burnIn - 1
	tail := mathext.RegIncBeta(df/2, 0.5, df/(df+float64(a*a))) // both sides
	return tail + 2*float64(a*density(a, df))
}

// density is that of Student's t.
func density(t, df float64) float64 {
	up, _ := math.Lgamma((df + 1) / 2)
	down, _ := math.Lgamma(df / 2)
	return math.Exp(up-down-float64((df+1)/2*math.Log1p(t*t/df))) / math.Sqrt(df*math.Pi)
}

// Threshold is the evidence that values with mean zero ever reach, on either side, with
// a chance of at most alpha in (0, 1).
func (s Student) Threshold(alpha float64) float64 {
	low, high := 0.0, 1.0
	for s.exceeds(high) > alpha {
		low, high = high, 2*high
	}
	for range 60 {
		if mid := (low + high) / 2; s.exceeds(mid) > alpha {
			low = mid
		} else {
			high = mid
		}
	}
	return Rounded(s.Evidence(int64(s.burnIn), high*high/(s.burnIn-1)))
}

// Critical is the |t[n]| at a threshold of evidence: the replacement for the quantile
// of Student's t in an interval that holds after every league. Before the burn-in it is
// infinite.
func (s Student) Critical(n int64, threshold float64) float64 {
	if float64(n) < s.burnIn {
		return math.Inf(1)
	}
	x := float64(n)
	return Rounded(math.Sqrt((x - 1) * math.Expm1(2/x*(threshold+0.5*math.Log(x)))))
}

// oneSided turns the p-value of both sides into that of the side on which the mean
// lies: half of it, plus the chance of reaching the evidence on both sides, which is at
// most its square over two.
func oneSided(p float64) float64 { return min(1, p/2+float64(p*p/4)) }

// Rounded keeps eight significant digits, more than a critical value or a p-value is
// good for. Logarithms and exponentials differ in their last bits between
// architectures; decisions and numbers built on them must not.
func Rounded(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 7, 64), 64)
	if err != nil {
		panic(err) // what FormatFloat writes, ParseFloat reads
	}
	return y
}
