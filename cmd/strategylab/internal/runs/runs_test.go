package runs

import (
	"errors"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis/assert"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/results"
)

// wantError fails the test unless the error and its hint contain all parts; no part
// stands for no error.
func wantError(t *testing.T, what string, err error, parts ...string) {
	t.Helper()
	if (err == nil) != (len(parts) == 0) {
		t.Errorf("%s: error %v, want %q", what, err, parts)
		return
	}
	for _, part := range parts {
		if text := err.Error() + "\n" + command.HintOf(err); !strings.Contains(text, part) {
			t.Errorf("%s: %q does not contain %q", what, text, part)
		}
	}
}

func TestParseSwaps(t *testing.T) {
	t.Parallel()
	got, err := parseSwaps([]string{" mine = scripts/new.lua", "other=random"})
	if err != nil || len(got) != 2 || got[0].player != "mine" || got[0].ref.Target != "scripts/new.lua" || got[1].player != "other" {
		t.Errorf("parsed as %+v, %v", got, err)
	}
	for text, part := range map[string]string{
		"mine":              "want PLAYER=STRATEGY",
		"=random":           "want PLAYER=STRATEGY",
		"mine= ":            "want PLAYER=STRATEGY",
		"mine=random*3":     "not 3 copies",
		"mine=a;mine=b":     "swaps mine twice",
		"mine=random*what?": "--replace",
	} {
		_, err := parseSwaps(strings.Split(text, ";"))
		wantError(t, text, err, part)
	}
}

func TestStoppingInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stop           *results.Stop
		leagues, after string
	}{
		{nil, "70 leagues", "plays a fixed number of leagues"},
		{&results.Stop{Until: "best"}, "at most 70 leagues (until best)", "ends by --until best"},
		{&results.Stop{Ratio: new(results.Ratio)}, "at most 70 leagues (until the test is decided)", "ends by --sprt"},
	} {
		plan := results.Plan{Runs: 70, Stop: c.stop}
		if got := howMany(plan); got != c.leagues {
			t.Errorf("howMany: %q, want %q", got, c.leagues)
		}
		if got := howItEnds(plan); got != c.after {
			t.Errorf("howItEnds: %q, want %q", got, c.after)
		}
	}
}

// An undecided assertion counts less than a refuted one, and neither ends a watch.
func TestVerdictOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		verdicts []assert.Verdict
		want     error
	}{
		{nil, nil},
		{[]assert.Verdict{assert.Holds}, nil},
		{[]assert.Verdict{assert.Holds, assert.Undecided}, command.ErrUndecided},
		{[]assert.Verdict{assert.Undecided, assert.Refuted}, command.ErrRefuted},
	} {
		run := &report.Document{}
		for _, v := range c.verdicts {
			run.Assertions = append(run.Assertions, assert.Outcome{Verdict: v})
		}
		err := verdictOn(run)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || err != nil && !command.IsReported(err) {
			t.Errorf("%v: %v, want %v", c.verdicts, err, c.want)
		}
		if err := withoutVerdict(err); err != nil {
			t.Errorf("%v ends a watch: %v", c.verdicts, err)
		}
	}
	if other := errors.New("disk full"); withoutVerdict(other) != other {
		t.Error("another error does not end a watch")
	}
}
