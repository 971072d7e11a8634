package main

import (
	"strings"
	"testing"
)

// A calibration takes long. What it has measured when it is stopped is printed.
func TestStoppedCalibrationKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	p := launch(t, t.TempDir(), "calibrate", "--players", "2,20", "--repetitions", "30", "--leagues", "2000", "--legs", "1", "--seed", "1")
	p.err.until("\n2 of ") // the second field begins
	p.interrupt(exitStopped)
	if out := p.out.String(); !strings.Contains(out, "2 players") || !strings.Contains(out, "coverage: P(differ) of a pair") || strings.Contains(out, "20 equal") {
		t.Errorf("printed %q", out)
	}
	p.err.until("the measurements so far are above")
}
