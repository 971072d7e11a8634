package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A calibration takes long. What it has measured when it is stopped is printed.
func TestStoppedCalibrationKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	cmd := commandLine(t.Context(), t.TempDir(), "calibrate", "--players", "2,20", "--repetitions", "30", "--leagues", "2000", "--legs", "1", "--seed", "1")
	var out, progress lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &progress
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	begun := func() bool { return strings.Contains(progress.String(), "\n2 of ") }
	until(t, "the second field begins", func() bool { return begun() || len(ended) > 0 })
	if len(ended) > 0 {
		t.Fatalf("it ended by itself: %v\n%s", <-ended, progress.String())
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := <-ended; !errors.As(err, &exit) || exit.ExitCode() != 4 {
		t.Errorf("ended with %v, want exit code 4; %s", err, progress.String())
	}
	if !strings.Contains(out.String(), "2 players") || !strings.Contains(out.String(), "coverage: P(differ) of a pair") || strings.Contains(out.String(), "20 equal") {
		t.Errorf("printed %q", out.String())
	}
	if !strings.Contains(progress.String(), "the measurements so far are above") {
		t.Errorf("said %q", progress.String())
	}
}
