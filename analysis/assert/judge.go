// Package assert judges statements about an experiment, such as
//
//	mine.adjusted > random.adjusted + 0.01
//	"my strat".win_rate >= 0.3
//	mine.technical_losses == 0
//
// A statement about counts is true or false. A statement about estimates holds if the
// whole interval of its left side minus its right side says so, is refuted if the whole
// interval says the opposite, and is undecided otherwise: then it needs more leagues.
// What both sides have in common cancels, because the difference is computed within
// each league. Several statements are adjusted for their number: the chance that any
// verdict is wrong is at most one minus the level.
package assert

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/results"
)

// Verdict is what an experiment has shown about an assertion.
type Verdict string

const (
	Undecided Verdict = "undecided" // too few leagues to tell
	Holds     Verdict = "holds"
	Refuted   Verdict = "refuted"
)

// Outcome is an assertion with its verdict and the evidence.
type Outcome struct {
	Text    string            `json:"assertion"`
	Verdict Verdict           `json:"verdict"`
	Counted bool              `json:"counted"` // the value is a count, not an estimate
	Of      string            `json:"of"`      // what was compared with Bound: "mine.adjusted - random.adjusted"
	Op      string            `json:"op"`
	Bound   float64           `json:"bound"`
	Value   analysis.Estimate `json:"value"`  // of it; the interval of a count is the count
	Level   *float64          `json:"level"`  // of the interval, adjusted for several assertions; nil for counts
	Paired  bool              `json:"paired"` // computed within each league
	Note    string            `json:"note"`   // a caveat; may be empty
}

// measure is a number of a player: a count, or an estimated quantity.
type measure struct {
	name     string
	quantity analysis.Quantity
	count    func(p *analysis.Player) int64 // nil for a quantity
}

// measures are the estimated ones first. Ties are also called draws, as in stored records.
var measures = func() (list []measure) {
	for _, q := range analysis.Quantities() {
		list = append(list, measure{name: q.String(), quantity: q})
	}
	return append(list,
		measure{name: "matches", count: func(p *analysis.Player) int64 { return p.Matches }},
		measure{name: "wins", count: func(p *analysis.Player) int64 { return p.Wins }},
		measure{name: "draws", count: func(p *analysis.Player) int64 { return p.Draws }},
		measure{name: "ties", count: func(p *analysis.Player) int64 { return p.Draws }},
		measure{name: "losses", count: func(p *analysis.Player) int64 { return p.Losses }},
		measure{name: "technical_losses", count: func(p *analysis.Player) int64 { return p.TechnicalLosses }})
}()

// assertion is one statement: a difference of its sides, compared with zero.
type assertion struct {
	text, op string          // op is "<", "<=", ">", ">=" or "=="
	linear                   // the left side minus the right
	joint    *analysis.Joint // of the parts and bases of its terms; nil if they are counted, or one
}

// linear is a constant and a sum of measures with coefficients.
type linear struct {
	constant *big.Rat
	terms    []term
}

type term struct {
	measure
	field       int    // index of the player
	text        string // "mine.adjusted"
	coefficient *big.Rat
}

var one, minusOne = big.NewRat(1, 1), big.NewRat(-1, 1)

func (l linear) times(factor *big.Rat) linear { return linear{constant: new(big.Rat)}.plus(factor, l) }

// plus adds a multiple, and drops what cancels.
func (l linear) plus(factor *big.Rat, o linear) linear {
	sum := linear{new(big.Rat).Mul(factor, o.constant), slices.Clone(l.terms)}
	sum.constant.Add(sum.constant, l.constant)
	for _, t := range o.terms {
		t.coefficient = new(big.Rat).Mul(factor, t.coefficient)
		if k := slices.IndexFunc(sum.terms, func(have term) bool { return have.field == t.field && have.measure.name == t.measure.name }); k >= 0 {
			sum.terms[k].coefficient = t.coefficient.Add(t.coefficient, sum.terms[k].coefficient)
		} else {
			sum.terms = append(sum.terms, t)
		}
	}
	sum.terms = slices.DeleteFunc(sum.terms, func(t term) bool { return t.coefficient.Sign() == 0 })
	return sum
}

// String says what is measured: "mine.adjusted - random.adjusted".
func (l linear) String() string {
	text := ""
	for _, t := range l.terms {
		factor := ""
		if f, _ := new(big.Rat).Abs(t.coefficient).Float64(); f != 1 {
			factor = fmt.Sprintf("%.6g * ", f)
		}
		text += map[int]string{1: " + ", -1: " - "}[t.coefficient.Sign()] + factor + t.text
	}
	if rest, negative := strings.CutPrefix(text, " - "); negative {
		return "-" + rest
	}
	return strings.TrimPrefix(text, " + ")
}

// Judge judges assertions about one plan. Feed it each league once, in any order. It is
// for one goroutine at a time.
type Judge struct {
	assertions []assertion
	estimates  int // assertions about estimates
	scorer     *analysis.Scorer
}

// NewJudge parses assertions about the players of a plan. Mistakes in them are *Errors,
// which suggest the name that nearest returns for one that is not among others.
func NewJudge(plan results.Plan, texts []string, nearest func(name string, names []string) string) (*Judge, error) {
	j, r := new(Judge), reader{nearest: nearest}
	for _, f := range plan.Field {
		r.players = append(r.players, f.Name)
	}
	for _, text := range texts {
		a, err := r.parse(text)
		if err != nil {
			return nil, err
		}
		if a.terms[0].count == nil {
			j.estimates++
			if len(a.terms) > 1 { // else the estimates have it
				a.joint = analysis.NewJoint(2 * len(a.terms))
			}
		}
		j.assertions = append(j.assertions, a)
	}
	var err error
	j.scorer, err = analysis.NewScorer(plan)
	return j, err
}

// Estimated reports whether any assertion is about estimates. Their intervals are for a
// fixed number of leagues.
func (j *Judge) Estimated() bool { return j.estimates > 0 }

// Append takes in one league.
func (j *Judge) Append(l *results.League) error {
	if !slices.ContainsFunc(j.assertions, func(a assertion) bool { return a.joint != nil }) {
		return nil
	}
	if err := j.scorer.Score(l); err != nil {
		return fmt.Errorf("judge assertions: %w", err)
	}
	for _, a := range j.assertions {
		if a.joint != nil {
			var values []int64
			for _, t := range a.terms {
				part, base := j.scorer.Value(t.quantity, t.field)
				values = append(values, part, base)
			}
			a.joint.Add(values)
		}
	}
	return nil
}

// Outcomes judges all assertions. The function estimates must return those of the
// appended leagues at the level it is given. The chance that any verdict is wrong is at
// most 1-level.
func (j *Judge) Outcomes(estimates func(level float64) analysis.Estimates, level float64) []Outcome {
	if len(j.assertions) == 0 {
		return nil
	}
	e := estimates(1 - (1-level)/float64(max(1, j.estimates)))
	list := make([]Outcome, len(j.assertions))
	for i, a := range j.assertions {
		o := &list[i]
		*o = Outcome{Text: a.text, Of: a.String(), Op: a.op}
		bound := new(big.Rat).Neg(a.constant)
		o.Bound, _ = bound.Float64()
		if a.terms[0].count != nil {
			count := new(big.Rat)
			for _, t := range a.terms {
				n := new(big.Rat).SetInt64(t.count(&e.Players[t.field]))
				count.Add(count, n.Mul(n, t.coefficient))
			}
			x, _ := count.Float64()
			o.Counted, o.Value = true, analysis.Estimate{Estimate: x, Low: x, High: x}
			o.Verdict = map[bool]Verdict{true: Holds, false: Refuted}[compare(count.Cmp(bound), a.op)]
			continue
		}
		o.Level, o.Value, o.Paired = &e.Level, j.estimated(&a, &e), a.joint != nil
		o.Verdict = decide(o.Value, o.Op, o.Bound)
		o.Note = note(o, &e)
	}
	return list
}

// compare reports whether a number with this sign relative to the bound fulfils op.
func compare(sign int, op string) bool { return strings.Contains(op, "<=>"[sign+1:sign+2]) }

// estimated returns the interval of a combination. One quantity of one player has its
// interval from the report.
func (j *Judge) estimated(a *assertion, e *analysis.Estimates) analysis.Estimate {
	var terms []analysis.Term
	low, high := 0.0, 0.0
	for i, t := range a.terms {
		f, _ := t.coefficient.Float64()
		if a.joint == nil {
			v := t.quantity.Of(&e.Players[t.field])
			v = analysis.Estimate{Estimate: f * v.Estimate, Low: f * v.Low, High: f * v.High}
			if f < 0 {
				v.Low, v.High = v.High, v.Low
			}
			return v
		}
		terms = append(terms, analysis.Term{Coefficient: t.coefficient, Part: 2 * i, Base: 2*i + 1})
		l, h := j.scorer.Range(t.quantity)
		if f < 0 {
			l, h = h, l
		}
		low += float64(f * l)
		high += float64(f * h)
	}
	return a.joint.Combine(terms...).Interval(e.Level, low, high)
}

// decide judges by the whole interval. An interval never shows that two numbers are
// equal.
func decide(v analysis.Estimate, op string, bound float64) Verdict {
	low, high := cmp.Compare(v.Low, bound), cmp.Compare(v.High, bound)
	switch {
	case !v.Defined() || op == "==" && low <= 0 && high >= 0:
	case compare(low, op) && compare(high, op):
		return Holds
	case !compare(low, op) && !compare(high, op):
		return Refuted
	}
	return Undecided
}

func note(o *Outcome, e *analysis.Estimates) string {
	switch {
	case !o.Value.Defined():
		return "nothing was measured"
	case o.Op == "==" && o.Verdict == Undecided:
		return "equality with a number can be refuted but never shown"
	case o.Paired && e.NothingToRank():
		return "two players and a fair draw: both expect the same points"
	case o.Verdict == Undecided && e.Leagues >= 2:
		return more(o, e.Leagues)
	}
	return ""
}

// more says how many leagues a new run needs to decide, if the estimate is the true
// value: with a chance of one half those that make the interval as short as the gap.
func more(o *Outcome, leagues int) string {
	gap := math.Abs(o.Value.Estimate - o.Bound)
	half := max(o.Value.Estimate-o.Value.Low, o.Value.High-o.Value.Estimate)
	if gap == 0 || half/gap > 100 {
		return "far too close to tell"
	}
	const digits = 100 // two, rounded up: it is a guess
	n := float64(leagues) * half * half / (gap * gap)
	z := distuv.UnitNormal.Quantile((1 + o.Value.Level) / 2)
	likely := 1 + distuv.UnitNormal.Quantile(0.9)/z
	rounded := func(n float64) float64 {
		unit := max(1, math.Pow(10, math.Ceil(math.Log10(n/digits))))
		return math.Ceil(n/unit) * unit
	}
	return fmt.Sprintf("a new run of about %.0f leagues would decide with a chance of one half, of %.0f with 90 %%, if the estimate is right",
		rounded(n), rounded(n*likely*likely))
}
