package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// hostPatience is how long a run may take in which hostile scripts play. It is
// far more than the budgets of their calls come to, for the disk of a busy
// machine may keep a process waiting for a minute or more until its files are safe.
const hostPatience = 5 * time.Minute

// runHost runs a command line in a process of its own and holds that to its
// bounds.
func runHost(t *testing.T, dir string, args []string, bound int64) (stdout, stderr []byte, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hostPatience)
	defer cancel()
	cmd := own(t, dir, args...)
	peak := filepath.Join(dir, "peak")
	cmd.Env = append(os.Environ(), peakEnv+"="+peak)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("the host did not end within %v; stderr: %s", hostPatience, errs.Bytes())
	}
	if strings.Contains(errs.String(), "goroutine ") || strings.Contains(errs.String(), "panic") {
		t.Fatalf("the host died: %s", errs.Bytes())
	}
	vanishes(t, cmd.Path)
	used, usedErr := os.ReadFile(peak)
	if usedErr != nil {
		t.Fatalf("the host did not say what memory it took: %v", usedErr)
	}
	took, _ := strconv.ParseInt(string(used), 10, 64)
	if took > bound && !raced { // whose own memory is several times that
		t.Errorf("the host took %d MiB, want at most %d", took>>20, bound>>20)
	}
	t.Logf("%d MiB, %v of processor time", took>>20, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(time.Millisecond))
	return out.Bytes(), errs.Bytes(), err
}

// peakEnv names the file into which the program of a test writes the memory that it took.
const peakEnv = "STRATEGYLAB_TEST_PEAK"

// tellPeak writes the largest memory of this process and its children, resident, in
// bytes. The test cannot ask the system for it: what wait4 returns counts what the
// test itself had when it started the process, whose memory the two shared until exec.
// Where there is no /proc, it is 0.
func tellPeak() {
	path := os.Getenv(peakEnv)
	if path == "" {
		return
	}
	var took int64 // in KiB
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		_, line, _ := strings.Cut(string(status), "VmHWM:")
		_, _ = fmt.Sscan(line, &took)
		took = max(took, childrenPeak())
	}
	if err := os.WriteFile(path, fmt.Append(nil, took<<10), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
