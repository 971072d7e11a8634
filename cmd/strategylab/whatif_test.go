package main

import (
	"fmt"
	"path/filepath"
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
	e := launch(t, dir, "whatif", "base", "--replace", "always-odd=new.lua", "--out", "again", "--watch")
	waits := func(times int) {
		t.Helper()
		e.err.until(fmt.Sprintf(`(?s)(waiting for a script to change.*){%d}`, times))
	}
	waits(1)
	e.out.until("The two runs are the same, match for match") // it plays what always-odd plays
	save(`function choose(`)
	e.err.until("new.lua:1: load")
	waits(2)
	save(`function choose(turn) return "even" end`)
	waits(3)
	e.err.until("edited new.lua")
	e.out.until("It also changes always-even: ")
	e.interrupt(exitOK)
	if names, err := filepath.Glob(filepath.Join(dir, "*again*", "leagues.bin")); err != nil || len(names) != 1 {
		t.Errorf("folders %v, %v; want one", names, err)
	}
}
