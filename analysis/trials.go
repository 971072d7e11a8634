package analysis

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// fewTrials is how many leagues on either side Wilson's interval needs to hold a
// level of 95 % to one percent, whatever the chance.
const fewTrials = 50

// trials returns the interval for a chance, given that it came true in hits of n
// leagues. What a league does as a whole (who won it, who was third) is an
// independent trial, unlike its matches.
//
// It is that of E. B. Wilson, JASA 22 (1927), 209-212, or where fewer than 50
// leagues were on one of the two sides the exact one of C. J. Clopper and E. S.
// Pearson, Biometrika 26 (1934), 404-413: Wilson's holds its level on average
// over all chances, but not for a given small one.
func (c *intervals) trials(hits, n int64) Estimate {
	if n == 0 {
		return Estimate{math.NaN(), 0, 1}
	}
	share := float64(hits) / float64(n)
	if n == 1 || c.silent(n) {
		return Estimate{share, 0, 1}
	}
	if min(hits, n-hits) < fewTrials {
		return c.exact(hits, n)
	}
	z := c.normal(n)
	weight := float64(z*z) / float64(n)
	centre := (share + weight/2) / (1 + weight)
	half := float64(math.Sqrt(float64(share*(1-share))*weight+float64(weight*weight)/4)) / (1 + weight)
	return Estimate{share, centre - half, centre + half}
}

// exact is Clopper and Pearson's interval.
func (c *intervals) exact(hits, n int64) Estimate {
	e := Estimate{float64(hits) / float64(n), 0, 1}
	x, rest, tail := float64(hits), float64(n-hits), c.tail(n)
	if hits > 0 {
		e.Low = min(e.Estimate, rounded(mathext.InvRegIncBeta(x, rest+1, tail)))
	}
	if hits < n {
		e.High = max(e.Estimate, rounded(mathext.InvRegIncBeta(x+1, rest, 1-tail)))
	}
	return e
}
