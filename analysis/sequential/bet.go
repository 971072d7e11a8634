package sequential

import "math"

// The bets of the hedged capital process: the shares of the largest bet that the
// bounds allow, and how much of the capital goes on each. League values vary far
// less than their bounds allow, so the largest bet is mostly the best one; smaller
// ones are for small effects among values that vary much. What a mixture of fixed
// bets has earned does not depend on the order of the values.
var (
	stakes  = [...]float64{1, 1. / 2, 1. / 4, 1. / 8, 1. / 16, 1. / 32, 1. / 64, 1. / 128}
	weights = [...]float64{1. / 2, 1. / 14, 1. / 14, 1. / 14, 1. / 14, 1. / 14, 1. / 14, 1. / 14}
)

// capital is what betting on "the mean is above zero" has earned, from values that
// are at least -1 in units of the bound. If the mean is zero or less, its
// expectation never grows, so the chance that it ever comes to c times what it was
// is at most 1/c (J. Ville, 1939).
type capital [len(stakes)]account

// account is value * 2^exponent.
type account struct {
	value    float64
	exponent int
}

// newCapital divides a capital of one among the bets.
func newCapital() capital {
	var c capital
	for k := range c {
		c[k].value = weights[k]
	}
	return c
}

// bet takes in the next value in units of its bound, at least -1.
func (c *capital) bet(x float64) {
	for k := range c {
		a := &c[k]
		a.value *= 1 + float64(stakes[k]*x)
		if a.value > 0x1p200 || a.value < 0x1p-200 {
			a.settle()
		}
	}
}

func (a *account) settle() {
	fraction, exponent := math.Frexp(a.value)
	a.value = fraction
	if fraction != 0 {
		a.exponent += exponent
	}
}

// evidence is the logarithm of the capital.
func (c *capital) evidence() float64 {
	top := math.MinInt
	for _, a := range c {
		if a.value > 0 {
			top = max(top, a.exponent)
		}
	}
	sum := 0.0
	for _, a := range c {
		if a.value > 0 {
			sum += math.Ldexp(a.value, max(-2000, a.exponent-top))
		}
	}
	if sum == 0 {
		return math.Inf(-1)
	}
	return math.Log(sum) + float64(float64(top)*math.Ln2)
}

// fromEvidence is the p-value that belongs to the logarithm of a capital.
func fromEvidence(e float64) float64 { return rounded(min(1, math.Exp(-e))) }
