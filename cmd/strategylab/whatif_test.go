package main

import (
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
	stdout, stderr := collect(t, "stdout"), collect(t, "stderr")
	cmd.Stdout, cmd.Stderr = stdout.file, stderr.file
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waits := func(times int) {
		t.Helper()
		until(t, "a script to change", func() bool {
			return strings.Count(stderr.until("waiting"), "waiting for a script to change") == times
		})
	}
	waits(1)
	stdout.until("The two runs are the same, match for match") // it plays what always-odd plays
	save(`function choose(`)
	stderr.until("new.lua:1: load")
	waits(2)
	save(`function choose(turn) return "even" end`)
	waits(3)
	stderr.until("edited new.lua")
	stdout.until("It also changes always-even: ")
	stops(t, cmd)
	if names, err := filepath.Glob(filepath.Join(dir, "*again*", "leagues.bin")); err != nil || len(names) != 1 {
		t.Errorf("folders %v, %v; want one", names, err)
	}
}
