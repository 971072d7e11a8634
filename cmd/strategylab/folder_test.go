package main

import (
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
)

// TestRunsOfOneSecond starts runs in the same second, with the same seed: without --out
// each gets a folder of its own; a folder that the user names is kept.
func TestRunsOfOneSecond(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 2, 12, 6, 0, time.UTC)
	l := lab.Lab{Dir: t.TempDir(), Now: func() time.Time { return now }, Entropy: func() (uint64, error) { return 1, nil }}
	experiment := "experiment --runs 2 --legs 1 --seed 1 --no-report --field random,always-even"
	const base = "runs/20261123-021206-"
	for _, c := range []struct {
		line string
		code int
		says string
	}{
		{experiment, exitOK, "results in " + base + "1;"}, {experiment, exitOK, "results in " + base + "1-2;"}, {experiment, exitOK, "results in " + base + "1-3;"},
		{experiment + " --out " + base + "1", exitUsage, "already holds a run"},
		{"whatif " + base + "1 --replace random=markov-2", exitOK, "new leagues in " + base + "whatif;"},
		{"whatif " + base + "1 --replace random=markov-2", exitOK, "new leagues in " + base + "whatif-2;"},
	} {
		if code, _, stderr := inside(t.Context(), command.Process{Lab: l}, strings.Fields(c.line)...); code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: exit code %d, want %d and %s:\n%s", c.line, code, c.code, c.says, stderr)
		}
	}
}
