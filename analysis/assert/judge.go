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

// Judge judges assertions about one plan. Feed it each league once, in any order. It is
// for one goroutine at a time.
type Judge struct {
	assertions []Assertion
	estimates  int // assertions about estimates
	scorer     *analysis.Scorer
	joint      *analysis.Joint
	fields     map[string]int // field indices by name
	columns    []column
	values     []int64
}

// column is the place of a player's quantity in the joint: part and base.
type column struct {
	player   int
	quantity analysis.Quantity
}

// NewJudge parses assertions about the players of a plan. Mistakes in them are *Errors.
func NewJudge(plan results.Plan, texts []string) (*Judge, error) {
	j := &Judge{fields: map[string]int{}}
	names := make([]string, len(plan.Field))
	for i, f := range plan.Field {
		names[i], j.fields[f.Name] = f.Name, i
	}
	for _, text := range texts {
		a, err := Parse(text, names)
		if err != nil {
			return nil, err
		}
		j.assertions = append(j.assertions, a)
		terms := a.difference.terms
		if terms[0].ref.Measure.Counted {
			continue
		}
		j.estimates++
		for _, t := range terms {
			if len(terms) > 1 { // else the estimates hold it
				j.column(t.ref)
			}
		}
	}
	var err error
	if j.scorer, err = analysis.NewScorer(plan); err != nil {
		return nil, err
	}
	j.joint = analysis.NewJoint(2 * len(j.columns))
	j.values = make([]int64, 2*len(j.columns))
	return j, nil
}

// column returns the index of the part of a measure; the base follows it.
func (j *Judge) column(r Ref) int {
	c := column{j.fields[r.Player], r.Measure.Quantity}
	for i, have := range j.columns {
		if have == c {
			return 2 * i
		}
	}
	j.columns = append(j.columns, c)
	return 2 * (len(j.columns) - 1)
}

// Estimated reports whether any assertion is about estimates. Their intervals are for a
// fixed number of leagues.
func (j *Judge) Estimated() bool { return j.estimates > 0 }

// Append takes in one league.
func (j *Judge) Append(l *results.League) error {
	if len(j.columns) == 0 {
		return nil
	}
	if err := j.scorer.Score(l); err != nil {
		return fmt.Errorf("judge assertions: %w", err)
	}
	for i, c := range j.columns {
		j.values[2*i], j.values[2*i+1] = j.scorer.Value(c.quantity, c.player)
	}
	j.joint.Add(j.values)
	return nil
}

// Outcomes judges all assertions. The function estimates must return those of the
// appended leagues at the level it is given. The chance that any verdict is wrong is at
// most 1-level.
func (j *Judge) Outcomes(estimates func(level float64) analysis.Estimates, level float64) []Outcome {
	if len(j.assertions) == 0 {
		return nil
	}
	each := 1 - (1-level)/float64(max(1, j.estimates))
	e := estimates(each)
	list := make([]Outcome, len(j.assertions))
	for i, a := range j.assertions {
		list[i] = j.outcome(&a, &e)
	}
	return list
}

func (j *Judge) outcome(a *Assertion, e *analysis.Estimates) Outcome {
	d := a.difference
	bound := new(big.Rat).Neg(d.constant)
	o := Outcome{Text: a.Text, Of: d.String(), Op: a.Op}
	o.Bound, _ = bound.Float64()
	if d.terms[0].ref.Measure.Counted {
		o.Counted = true
		count := j.counted(d, e)
		value, _ := count.Float64()
		o.Value = analysis.Estimate{Estimate: value, Low: value, High: value}
		o.Verdict = Refuted
		if compare(count.Cmp(bound), a.Op) {
			o.Verdict = Holds
		}
		return o
	}
	o.Level = &e.Level
	o.Value, o.Paired = j.estimated(d, e)
	o.Verdict = decide(o.Value, o.Op, o.Bound)
	o.Note = note(&o, e)
	return o
}

func (j *Judge) counted(d linear, e *analysis.Estimates) *big.Rat {
	total := new(big.Rat)
	for _, t := range d.terms {
		n := t.ref.Measure.count(&e.Players[j.fields[t.ref.Player]])
		total.Add(total, new(big.Rat).Mul(t.coefficient, new(big.Rat).SetInt64(n)))
	}
	return total
}

// compare reports whether a number with this sign relative to the bound fulfils op.
func compare(sign int, op string) bool { return strings.Contains(op, "<=>"[sign+1:sign+2]) }

// estimated returns the interval of a combination, and whether it was computed within
// leagues. One quantity of one player has its interval from the report.
func (j *Judge) estimated(d linear, e *analysis.Estimates) (analysis.Estimate, bool) {
	if len(d.terms) == 1 {
		t := d.terms[0]
		v := t.ref.Measure.Quantity.Of(&e.Players[j.fields[t.ref.Player]])
		f, _ := t.coefficient.Float64()
		v = analysis.Estimate{Estimate: f * v.Estimate, Low: f * v.Low, High: f * v.High}
		if f < 0 {
			v.Low, v.High = v.High, v.Low
		}
		return v, false
	}
	var terms []analysis.Term
	low, high := 0.0, 0.0
	for _, t := range d.terms {
		part := j.column(t.ref)
		terms = append(terms, analysis.Term{Coefficient: t.coefficient, Part: part, Base: part + 1})
		f, _ := t.coefficient.Float64()
		l, h := j.scorer.Range(t.ref.Measure.Quantity)
		if f < 0 {
			l, h = h, l
		}
		low += float64(f * l)
		high += float64(f * h)
	}
	return j.joint.Combine(terms...).Interval(e.Level, low, high), true
}

// decide judges by the whole interval. An interval never shows that two numbers are
// equal.
func decide(v analysis.Estimate, op string, bound float64) Verdict {
	low, high := cmp.Compare(v.Low, bound), cmp.Compare(v.High, bound)
	switch {
	case !v.Defined():
	case op == "==" && low <= 0 && high >= 0:
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

// Conclude is the verdict on all assertions together: refuted if one is, else undecided
// if one is.
func Conclude(list []Outcome) Verdict {
	all := Holds
	for _, o := range list {
		switch {
		case o.Verdict == Refuted:
			return Refuted
		case o.Verdict == Undecided:
			all = Undecided
		}
	}
	return all
}
