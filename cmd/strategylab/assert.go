package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/assert"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/host/results"
)

const flagAssert = "assert"

var (
	errRefuted   = errors.New("an assertion is refuted")
	errUndecided = errors.New("an assertion is not decided with these leagues")
)

// texts is a flag that can be given several times. Unlike cli's own it does not
// split at commas, which names may have.
type texts []string

func (t *texts) Set(s string) error { *t = append(*t, s); return nil }
func (t *texts) String() string     { return strings.Join(*t, "; ") }

func assertFlag() cli.Flag {
	return &cli.GenericFlag{Name: flagAssert, Value: &texts{}, Usage: "`STATEMENT` such as 'mine.adjusted > random.adjusted', judged by the leagues; repeatable"}
}

func textsOf(c *cli.Context, flag string) []string {
	if t, ok := c.Generic(flag).(*texts); ok {
		return *t
	}
	return nil
}

// newJudge reads the assertions of a command line.
func newJudge(c *cli.Context, plan results.Plan) (*assert.Judge, error) {
	j, err := assert.NewJudge(plan, textsOf(c, flagAssert))
	var mistake *assert.Error
	if errors.As(err, &mistake) {
		return nil, usagef("--%s: %w", flagAssert, err)
	}
	if err == nil && plan.Stop != nil && j.Estimated() {
		return nil, withHint(fmt.Errorf("--%s: this run ends by what it shows, and then the intervals that estimates are judged by do not hold", flagAssert),
			"judge counts only, or play a run of a fixed number of leagues")
	}
	return j, err
}

// judge completes a report with the verdicts on the assertions.
func judge(run *report.Run, j *assert.Judge, acc *analysis.Accumulator) {
	estimates := func(level float64) analysis.Estimates {
		if level == run.Estimates.Level {
			return run.Estimates
		}
		return acc.Estimates(level)
	}
	run.Assertions = j.Outcomes(estimates, run.Estimates.Level)
}

// verdictOn turns the assertions of a report into the command's outcome. The
// report has told the user about each.
func verdictOn(run *report.Run) error {
	switch assert.Conclude(run.Assertions) {
	case assert.Refuted:
		return &reported{errRefuted}
	case assert.Undecided:
		return &reported{errUndecided}
	}
	return nil
}

// withoutVerdict drops what [verdictOn] says: a watch goes on.
func withoutVerdict(err error) error {
	if errors.Is(err, errRefuted) || errors.Is(err, errUndecided) {
		return nil
	}
	return err
}

// assertionText is the verdicts for where the output has no place for them.
func assertionText(run report.Run) string {
	lines := report.AssertionLines(run.Assertions)
	if len(lines) == 0 {
		return ""
	}
	return fmt.Sprintln(strings.Join(lines, "\n"))
}
