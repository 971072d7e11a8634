package report

import (
	"fmt"
	"strconv"

	"github.com/strategylab/strategylab/analysis/assert"
	"github.com/strategylab/strategylab/analysis/words"
)

// Assertion is a statement about an experiment, with the verdict of the experiment.
type Assertion struct {
	Assertion string `json:"assertion"`
	Verdict   string `json:"verdict"` // "holds", "refuted" or "undecided"
	Counted   bool   `json:"counted"` // the value is a count, not an estimate
	// Of is what was compared with the bound, and Value its estimate with an interval
	// at Level; null if nothing was measured.
	Of     string    `json:"of"`
	Op     string    `json:"op"`
	Bound  float64   `json:"bound"`
	Value  *Estimate `json:"value"`
	Level  *float64  `json:"level"`  // adjusted for several assertions; null for counts
	Paired bool      `json:"paired"` // computed within each league
	Note   string    `json:"note"`
}

func newAssertions(list []assert.Outcome) []Assertion {
	var out []Assertion
	for _, o := range list {
		a := Assertion{
			Assertion: o.Text, Verdict: o.Verdict.String(), Counted: o.Counted,
			Of: o.Of, Op: o.Op, Bound: o.Bound, Value: estimate(o.Value), Paired: o.Paired, Note: o.Note,
		}
		if !o.Counted {
			a.Level = &o.Level
		}
		out = append(out, a)
	}
	return out
}

// AssertionLines say for each assertion whether it holds, and why.
func AssertionLines(list []assert.Outcome) []string {
	if len(list) == 0 {
		return nil
	}
	head, estimated := "Assertions", 0
	for _, o := range list {
		if !o.Counted {
			estimated++
		}
	}
	if estimated > 1 {
		head += fmt.Sprintf(" (adjusted for %d of them)", estimated)
	}
	lines := []string{head + ":"}
	for _, o := range list {
		lines = append(lines, fmt.Sprintf("  %-9s  %s", o.Verdict, words.Printable(o.Text)), "             "+evidence(&o))
	}
	return lines
}

func evidence(o *assert.Outcome) string {
	of := words.Printable(o.Of)
	switch {
	case o.Counted:
		return fmt.Sprintf("%s was counted: %s", of, strconv.FormatFloat(o.Value.Estimate, 'f', -1, 64))
	case !o.Value.Defined():
		return of + ": " + o.Note
	}
	places := words.Decimals(1, o.Value)
	line := fmt.Sprintf("%s is %.*f (%s interval %.*f to %.*f", of, places, o.Value.Estimate,
		strconv.FormatFloat(100*o.Level, 'g', 4, 64)+" %", places, o.Value.Low, places, o.Value.High)
	if o.Paired {
		line += ", within leagues"
	}
	line += ")"
	if o.Note != "" {
		line += "; " + o.Note
	}
	return line
}
