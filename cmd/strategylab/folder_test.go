package main

import (
	"fmt"
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
	lines := func(args ...string) (code int, out string) {
		code, stdout, stderr := inside(t.Context(), command.Process{Lab: l}, args...)
		return code, stdout + stderr
	}
	experiment := []string{"experiment", "--runs", "2", "--legs", "1", "--seed", "1", "--no-report", "--field", "random,always-even"}
	base := "runs/20261123-021206-1"
	for _, folder := range []string{base, base + "-2", base + "-3"} {
		if code, out := lines(experiment...); code != exitOK || !strings.Contains(out, fmt.Sprintf("results in %s;", folder)) {
			t.Errorf("exit code %d, want results in %s:\n%s", code, folder, out)
		}
	}
	if code, out := lines(append(experiment, "--out", base)...); code != exitUsage || !strings.Contains(out, "already holds a run") {
		t.Errorf("exit code %d of a run into a folder that holds one:\n%s", code, out)
	}
	for _, folder := range []string{"runs/20261123-021206-whatif", "runs/20261123-021206-whatif-2"} {
		if code, out := lines("whatif", base, "--replace", "random=markov-2"); code != exitOK || !strings.Contains(out, fmt.Sprintf("new leagues in %s;", folder)) {
			t.Errorf("exit code %d, want new leagues in %s:\n%s", code, folder, out)
		}
	}
}
