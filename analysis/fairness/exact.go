package fairness

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// binomial is the exact two-sided test of k out of n against a probability p: the
// probability of all outcomes that are no more likely than k.
func binomial(k, n int, p float64) Test { return twoBinomials(k, n, 0, p) }

// twoBinomials is the same for k successes in a trials with probability p and b trials
// with probability 1-p.
func twoBinomials(k, a, b int, p float64) Test {
	n := a + b
	t := Test{N: n, P: 1, Corrected: 1, Method: TooFew, Detectable: math.Inf(1)}
	if n == 0 {
		return t
	}
	t.Observed = float64(k) / float64(n)
	t.Expected = (float64(float64(a)*p) + float64(float64(b)*(1-p))) / float64(n)
	mass := convolve(masses(a, p), masses(b, 1-p))
	// As in R's binom.test, outcomes within rounding of k's count as equal.
	const slightly = 1 + 1e-7
	t.P = 0
	for _, m := range mass {
		if m <= mass[k]*slightly {
			t.P += m
		}
	}
	t.P = min(t.P, 1)
	t.Corrected, t.Method = t.P, Exact
	t.Detectable = detectable(t.Expected, n)
	return t
}

// detectable returns by how many percentage points a share has to be off to be found in
// n trials, in the normal approximation. It is infinite if the share would have to
// leave [0, 1].
func detectable(share float64, n int) float64 {
	z := distuv.UnitNormal
	off := (z.Quantile(1-Alpha/2) + z.Quantile(Power)) * math.Sqrt(share*(1-share)/float64(n))
	if share+off > 1 && share-off < 0 {
		return math.Inf(1)
	}
	return 100 * off
}

// masses returns the probabilities of 0 to n successes.
func masses(n int, p float64) []float64 {
	out := make([]float64, n+1)
	if n == 0 {
		out[0] = 1
		return out
	}
	d := distuv.Binomial{N: float64(n), P: p}
	for k := range out {
		out[k] = d.Prob(float64(k))
	}
	return out
}

func convolve(x, y []float64) []float64 {
	out := make([]float64, len(x)+len(y)-1)
	for i, a := range x {
		for j, b := range y {
			out[i+j] += float64(a * b)
		}
	}
	return out
}

// noncentrality returns the parameter of the noncentral chi-square distribution with df
// degrees of freedom that exceeds the central quantile at Alpha with probability Power.
func noncentrality(df int) float64 {
	critical := distuv.ChiSquared{K: float64(df)}.Quantile(1 - Alpha)
	low, high := 0.0, 1000.0
	for range 60 {
		mid := (low + high) / 2
		if noncentralSurvival(critical, df, mid) < Power {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// noncentralSurvival is the survival function of the noncentral chi-square
// distribution: a Poisson mixture of central ones (Johnson, Kotz and Balakrishnan,
// Continuous Univariate Distributions 2, 29.2).
func noncentralSurvival(x float64, df int, lambda float64) float64 {
	if lambda == 0 {
		return distuv.ChiSquared{K: float64(df)}.Survival(x)
	}
	mixture := distuv.Poisson{Lambda: lambda / 2}
	sum := 0.0
	for j := range int(lambda/2+12*math.Sqrt(lambda/2)) + 40 {
		sum += float64(mixture.Prob(float64(j)) * distuv.ChiSquared{K: float64(df + 2*j)}.Survival(x))
	}
	return sum
}
