package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A watch gives its verdict again when the script is saved, and does not mind one
// that is broken in between.
func TestWhatifWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	save := func(text string) {
		t.Helper()
		write(t, dir, "new.lua", text)
	}
	save(`function choose(turn) return "odd" end`)
	run1(t, dir, exitOK, "experiment", "--runs", "50", "--legs", "2", "--seed", "1", "--field", "always-odd,always-even,random", "--out", "base", "--quiet", "--no-report")
	cmd := commandLine(t.Context(), dir, "whatif", "base", "--replace", "always-odd=new.lua", "--out", "again", "--watch")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	printed, logged := bufio.NewScanner(stdout), bufio.NewScanner(stderr)
	until := func(lines *bufio.Scanner, what string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), what) {
				return
			}
		}
		t.Fatalf("the command ended before it said %q", what)
	}
	until(printed, "The two runs are the same, match for match") // it plays what always-odd plays
	until(logged, "waiting for a script to change")
	save(`function choose(`)
	until(logged, "new.lua:1: load")
	until(logged, "waiting for a script to change")
	save(`function choose(turn) return "even" end`)
	until(logged, "edited new.lua")
	until(printed, "It also changes always-even: ")
	until(logged, "waiting for a script to change")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for printed.Scan() || logged.Scan() {
	}
	_ = cmd.Wait() // how it ends is told by the code
	if code := cmd.ProcessState.ExitCode(); code != exitOK {
		t.Errorf("exit code %d after an interrupt, want %d", code, exitOK)
	}
	if names, err := filepath.Glob(filepath.Join(dir, "*again*", "leagues.bin")); err != nil || len(names) != 1 {
		t.Errorf("folders %v, %v; want one", names, err)
	}
}
