package sequential

import "math"

// claim is what can be shown of the mean difference between the first and the
// second player of a pair.
type claim int

const (
	above claim = iota // it is above zero: the first is better
	below
	aboveMargin // it is above minus the margin
	belowMargin // it is below the margin
	claims
)

// sign says on which side of its bound the claim lies, and offset where that is,
// in margins.
func (c claim) sign() float64   { return [...]float64{1, -1, 1, -1}[c] }
func (c claim) offset() float64 { return [...]float64{0, 0, -1, 1}[c] }

// pair is what two players' differences have shown so far.
type pair struct {
	values
	student [claims]float64    // most evidence so far
	bets    [claims][2]capital // one for each of the bounds, see [Bounds]
	betting [claims][2]float64 // most evidence so far
	p       [claims]cached     // always-valid p-values
}

// cached is a p-value and the evidence it was computed from.
type cached struct{ student, betting, p float64 }

func newPair() *pair {
	q := &pair{}
	for c := range claims {
		q.student[c] = math.Inf(-1)
		for k := range q.bets[c] {
			q.bets[c][k] = newCapital()
		}
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
	}
	if t.options.Guarantee == Finite || !q.normal(BurnIn) {
		return
	}
	mean, spread := q.mean()/t.scale, q.spread()/(t.scale*t.scale)
	for c := range t.claims {
		gap := c.sign() * (mean - float64(c.offset()*t.options.Margin))
		if gap > 0 {
			ratio := float64(float64(q.n)*gap*gap) / spread
			q.student[c] = max(q.student[c], rounded(t.student.Evidence(q.n, ratio)))
		}
	}
}

// bet bets on a claim, within the bounds that choices alone leave and within those
// that technical losses leave.
func (t *Tracker) bet(q *pair, c claim, x float64) {
	gain := c.sign() * (x - float64(c.offset()*t.options.Margin))
	for k, b := range t.bounds {
		least := b.Difference + c.sign()*c.offset()*t.options.Margin // how far below zero the gain can be
		if least <= 0 || (k == 0 && t.technical) {
			continue
		}
		q.bets[c][k].bet(gain / least)
		q.betting[c][k] = max(q.betting[c][k], rounded(q.bets[c][k].evidence()))
	}
}

// The t sequence says nothing of differences that always agree, so without a finite
// guarantee one twentieth of the error is left to the bets.
const (
	toStudent = 0.95
	toBets    = 0.05
)

// pValue is that of the opposite of a claim: valid at all leagues so far at once.
func (t *Tracker) pValue(q *pair, c claim) float64 {
	known, evidence := &q.p[c], q.betting[c][t.regime()]
	if known.student == q.student[c] && known.betting == evidence {
		return known.p
	}
	p := fromEvidence(evidence)
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
