package sequential

import (
	"math"
)

// claim is a statement about the mean difference between the first and the second
// player of a pair.
type claim int

const (
	above claim = iota // it is above zero: the first is better
	below
	aboveMargin // it is above minus the margin
	belowMargin // it is below the margin
	claims
)

// sign is the side of its bound on which the claim lies, and offset is that bound, in
// margins.
func (c claim) sign() float64   { return [...]float64{1, -1, 1, -1}[c] }
func (c claim) offset() float64 { return [...]float64{0, 0, -1, 1}[c] }

// pair has the evidence from the differences of two players.
type pair struct {
	values
	student [claims]float64 // most evidence so far
	bets    [claims]capital
	betting [claims]float64 // most evidence so far
	p       [claims]cached  // always-valid p-values
}

// cached is a p-value and the evidence it was computed from.
type cached struct{ student, betting, p float64 }

func newPair() *pair {
	q := &pair{}
	for c := range claims {
		q.student[c] = math.Inf(-1)
		q.bets[c] = newCapital()
		q.p[c].p = 1
		q.p[c].student = math.Inf(-1)
	}
	return q
}

// add takes in the difference of a league.
func (t *Tracker) add(q *pair, d int64) {
	q.values.add(d)
	if t.options.Guarantee == Finite || !q.normal(BurnIn) {
		x := float64(d) / t.scale
		for c := range t.claims {
			t.bet(q, c, x)
		}
		return
	}
	mean, spread := q.average()/t.scale, q.spread()/(t.scale*t.scale)
	for c := range t.claims {
		gap := c.sign() * (mean - float64(c.offset()*t.options.Margin))
		if gap > 0 {
			ratio := float64(float64(q.n)*gap*gap) / spread
			q.student[c] = max(q.student[c], Rounded(t.student.Evidence(q.n, ratio)))
		}
	}
}

// bet bets on a claim.
func (t *Tracker) bet(q *pair, c claim, x float64) {
	gain := c.sign() * (x - float64(c.offset()*t.options.Margin))
	least := t.shape.High + c.sign()*c.offset()*t.options.Margin // how far below zero the gain can be
	q.bets[c].bet(gain / least)
	q.betting[c] = max(q.betting[c], Rounded(q.bets[c].evidence()))
}

// The t sequence says nothing about differences that always agree, so without a finite
// guarantee one twentieth of the error goes to the bets.
const (
	toStudent = 0.95
	toBets    = 0.05
)

// pValue is that of the opposite of a claim: valid at all leagues so far at once.
func (t *Tracker) pValue(q *pair, c claim) float64 {
	known, evidence := &q.p[c], q.betting[c]
	if known.student == q.student[c] && known.betting == evidence {
		return known.p
	}
	p := Rounded(min(1, math.Exp(-evidence)))
	if t.options.Guarantee == Asymptotic {
		p = min(1, oneSided(t.student.P(q.student[c]))/toStudent, p/toBets)
	}
	*known = cached{q.student[c], evidence, p}
	return p
}

// equalP is the p-value of "they differ by the margin or more".
func (t *Tracker) equalP(q *pair) float64 {
	return max(t.pValue(q, aboveMargin), t.pValue(q, belowMargin))
}

// The bets of the hedged capital process: the shares of the largest bet within the
// bounds, and how much of the capital goes on each. League values vary far less than
// their bounds allow, so the largest bet is mostly the best one; smaller ones are for
// values that vary much, such as those of players that fail for a whole league. The capital of a mixture of fixed bets
// does not depend on the order of the values.
var (
	stakes  = [...]float64{1, 1. / 2, 1. / 4, 1. / 8, 1. / 16, 1. / 32, 1. / 64, 1. / 128}
	weights = [...]float64{1. / 2, 1. / 14, 1. / 14, 1. / 14, 1. / 14, 1. / 14, 1. / 14, 1. / 14}
)

// capital is the result of betting on "the mean is above zero", from values that are at
// least -1 in units of the bound. If the mean is zero or less, its expectation never
// grows, so the chance that it ever grows by a factor of c is at most 1/c (J. Ville,
// 1939).
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
