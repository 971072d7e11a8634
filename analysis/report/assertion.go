package report

import (
	"fmt"
	"strconv"

	"github.com/strategylab/strategylab/analysis/assert"
	"github.com/strategylab/strategylab/analysis/words"
)

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
		strconv.FormatFloat(100**o.Level, 'g', 4, 64)+" %", places, o.Value.Low, places, o.Value.High)
	if o.Paired {
		line += ", within leagues"
	}
	line += ")"
	if o.Note != "" {
		line += "; " + o.Note
	}
	return line
}
