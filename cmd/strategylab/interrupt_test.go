package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
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
	if err := readRun(filepath.Join(dir, "part")); err != nil {
		t.Error(err)
	}
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
	args := []string{"experiment", "--in-process", "--runs", "20", "--seed", "1", "--field", "mine,always-even,random", "--out"}
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
	files := namesIn(t, folder)
	for _, name := range files {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has permissions %v, %v", name, info.Mode().Perm(), err)
		}
	}
	if len(files) < 5 {
		t.Errorf("%s has only the files %q", folder, files)
	}
}

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

// A tune that is killed four times and resumed plays the same leagues, and says the same,
// as one that is not.
func TestTuneIsKilled(t *testing.T) {
	t.Parallel()
	whole(t, "a script resumes a tune whose file is torn")
	dir := t.TempDir()
	write(t, dir, "scripts/gain.lua", "-- param: x 0.0..1.0 = 0.2\nfunction choose() return 0.25 + (params.x - 0.7) ^ 2 end\n")
	fresh := []string{"tune", "--quiet", "scripts/gain.lua", "--against", "always-even,always-odd*2", "--runs", "900", "--confirm", "64", "--seed", "9", "--out"}
	want := run1(t, dir, exitOK, append(fresh, "whole")...)
	log := filepath.Join(dir, "cut", "evaluations.jsonl")
	lines := func() int {
		text, _ := os.ReadFile(log) // it may not be there yet
		return bytes.Count(text, []byte("\n"))
	}
	args := append(fresh, "cut")
	const kills = 4
	for kill := range kills {
		p := launch(t, dir, args...)
		until(t, "evaluations", func() bool { return p.over() || lines() >= 10*(kill+1) })
		if p.kill(); p.code() == exitOK {
			t.Fatalf("it was over before kill %d", kill+1)
		}
		args = []string{"tune", "--quiet", "--resume", "cut"}
	}
	if got := run1(t, dir, exitOK, args...); got != want {
		t.Errorf("after %d kills:\n%s\nwithout:\n%s", kills, got, want)
	}
	a, _ := os.ReadFile(filepath.Join(dir, "whole", "evaluations.jsonl"))
	if b, _ := os.ReadFile(log); len(a) == 0 || !bytes.Equal(a, b) {
		t.Errorf("%d bytes of evaluations after the kills, %d without", len(b), len(a))
	}
}

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

// A command that ends after a signal has the last word; one that takes a moment says what
// it finishes, and one that does not end is left behind.
func TestStoppable(t *testing.T) {
	t.Parallel()
	const notice, left = "stopping: writing a page, for 4s at most; a second signal ends it at once", "stopped before the end of this: writing a page"
	for _, tc := range []struct {
		takes time.Duration // after the signal
		code  int
		after time.Duration
		says  []string
	}{
		{0, 7, 0, nil},
		{time.Second, 7, time.Second, []string{notice}},
		{time.Hour, exitStopped, stopTime, []string{notice, left}},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var stderr bytes.Buffer
			p := command.Process{Stderr: &stderr, Stage: new(command.Stage)}
			p.Stage.Set("writing a page")
			time.AfterFunc(time.Minute, cancel)
			start := time.Now()
			code := stoppable(ctx, p, stopTime, func() int {
				time.Sleep(time.Minute + tc.takes)
				return 7
			})
			if took := time.Since(start) - time.Minute; code != tc.code || took != tc.after {
				t.Errorf("%v: code %d after %v, want %d after %v", tc.takes, code, took, tc.code, tc.after)
			}
			said := slices.Collect(strings.Lines(stderr.String()))
			if !slices.EqualFunc(said, tc.says, strings.Contains) {
				t.Errorf("%v: said %q, want %q", tc.takes, said, tc.says)
			}
			time.Sleep(2 * time.Hour) // the command that was left behind
		})
	}
}

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
