package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// A run that is interrupted keeps its complete leagues and says how to go on. Resumed, it
// comes to the digest of a run that nobody disturbed.
func TestInterruptedRunResumes(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	dir := t.TempDir()
	args := []string{"experiment", "--runs", "1000", "--seed", "11", "--field", "random,hedge,markov-3", "--format", "json", "--quiet", "--out"}
	want, _ := digestOf(t, []byte(run1(t, dir, exitOK, append(args, "whole")...)))
	e := launch(t, dir, append(args, "part")...)
	grows(t, e, filepath.Join(dir, "part"))
	e.signal(os.Interrupt)
	if code := e.code(); code == exitOK {
		t.Log("the run was over before the signal")
	} else if code != exitStopped {
		t.Errorf("exit code %d: %s", code, e.err.String())
	}
	if _, n := digestOf(t, []byte(e.out.String())); n < 1 || n > 1000 {
		t.Errorf("reported on %d leagues", n)
	}
	wantReadable(t, filepath.Join(dir, "part"))
	resumed := run1(t, dir, exitOK, "experiment", "--resume", "part", "--format", "json", "--quiet")
	if got, n := digestOf(t, []byte(resumed)); got != want || n != 1000 {
		t.Errorf("resumed to %d leagues and digest %s, want 1000 and %s", n, got, want)
	}
}

// With --watch the experiment runs again when a script is saved, says what
// changed, outlives a version that does not load, and ends with Ctrl-C.
func TestWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	save := func(body string) {
		t.Helper()
		write(t, dir, "scripts/mine.lua", "function choose(turn) "+body+" end\n")
	}
	save(`return "even"`)
	args := []string{"experiment", "--runs", "20", "--seed", "1", "--field", "mine,always-even,random", "--out"}
	e := launch(t, dir, append(args, "out", "--watch")...)
	e.err.until("waiting for a script to change")
	save(`return == "odd"`)
	e.err.until("scripts/mine.lua:1: load:")
	save(`return "odd"`)
	e.err.until(`(?s)(waiting for a script.*){3}`)
	e.out.until(`Changes since the run before, league by league over 20 leagues:[\s\S]*\n[!~] +\* +mine +1\.\d+ to 1\.\d+ +[+-]0\.\d+ ±0\.\d+ `)
	narrowing := regexp.MustCompile(`mine against its version before, (5|10|15|20) leagues: [+-]0\.\d+ adjusted points \([+-]\d\.\d+ to [+-]\d\.\d+\)`)
	if got := narrowing.FindAllString(e.err.String(), -1); len(got) != 4 {
		t.Errorf("differences while the leagues are played: %q", got)
	}
	save(`return "odd" --[[ the same choices ]]`)
	e.err.until(`(?s)(waiting for a script.*){4}`)
	e.err.until(`20 leagues of 20 are those of the run before`)
	e.err.until(`20 leagues: no difference yet`)
	want, _ := digestOf(t, []byte(run1(t, dir, exitOK, append(args, "fresh", "--format", "json", "--quiet")...)))
	summary, err := os.ReadFile(filepath.Join(dir, "out", "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := digestOf(t, summary); got != want {
		t.Errorf("digest %s with leagues taken over, %s without", got, want)
	}
	if names, err := filepath.Glob(filepath.Join(dir, "*out*")); err != nil || len(names) != 1 || strings.Count(e.err.String(), "results in out,") != 3 {
		t.Errorf("folders %v, %v; want out for all runs", names, err)
	}
	if hidden, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(hidden) > 0 {
		t.Errorf("left behind: %v, %v", hidden, err)
	}
	e.interrupt(exitOK)
	e.err.until("confirm them once with a fresh one: strategylab experiment --resume out --confirm")
}

// ofOwner fails unless every file below a folder belongs to its owner alone.
func ofOwner(t *testing.T, folder string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return // which has no such permissions
	}
	files := 0
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has permissions %v", name, info.Mode().Perm())
		}
		files++
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%s has %d files, %v", folder, files, err)
	}
}
