package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// command runs this test binary as strategylab (see TestMain).
func commandLine(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Args = append([]string{"strategylab"}, args...)
	cmd.Dir = dir
	return cmd
}

// until waits for a condition of another process.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if !comes(timeUp(t), ok) {
		t.Fatalf("waited in vain: %s", what)
	}
}

// comes waits for something that happens elsewhere, and reports whether it has
// before the end.
func comes(end <-chan time.Time, ok func() bool) bool {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			return false
		}
	}
	return true
}

// timeUp returns a channel that delivers shortly before the time of all tests is
// up (-timeout), so that what waits can still say for what; nil if they may
// take for ever.
func timeUp(t *testing.T) <-chan time.Time {
	end, limited := t.Deadline()
	if !limited {
		return nil
	}
	return time.After(time.Until(end) - 10*time.Second)
}

func digestOf(t *testing.T, document []byte) (digest string, leagues int) {
	t.Helper()
	var doc struct {
		Digest  string
		Leagues int
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatalf("%v in %q", err, document)
	}
	return doc.Digest, doc.Leagues
}

const longRun = 2000

func longArgs(out string) []string {
	return []string{"experiment", "--runs", fmt.Sprint(longRun), "--seed", "11", "--field", "random,ctw,hedge,markov-3", "--format", "json", "--quiet", "--out", out}
}

// A run that is interrupted keeps its complete leagues and says how to go on;
// one that is killed is repaired. Resumed, both come to the digest of a run
// that nobody disturbed.
func TestInterruptedRunsResume(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	dir := t.TempDir()
	undisturbed, err := commandLine(t.Context(), dir, longArgs("whole")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	want, _ := digestOf(t, undisturbed)
	for name, sig := range map[string]syscall.Signal{"interrupted": syscall.SIGINT, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			partial := disturb(t, dir, name, sig)
			if sig != syscall.SIGKILL {
				if _, n := digestOf(t, partial); n < 1 || n > longRun {
					t.Errorf("reported on %d leagues", n)
				}
				wantReadable(t, filepath.Join(dir, name))
			}
			resumed, err := commandLine(t.Context(), dir, "experiment", "--resume", name, "--format", "json", "--quiet").Output()
			if err != nil {
				t.Fatal(err)
			}
			if got, n := digestOf(t, resumed); got != want || n != longRun {
				t.Errorf("resumed to %d leagues and digest %s, want %d and %s", n, got, longRun, want)
			}
		})
	}
}

// disturb starts a run, sends it a signal when leagues have been recorded, and
// returns what it printed.
func disturb(t *testing.T, dir, name string, sig syscall.Signal) []byte {
	t.Helper()
	cmd := commandLine(t.Context(), dir, longArgs(name)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "leagues on disk", func() bool {
		info, err := os.Stat(filepath.Join(dir, name, "leagues.bin"))
		return err == nil && info.Size() > 5000
	})
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		t.Logf("%s: the run was over before the signal", name)
	case sig == syscall.SIGKILL:
	case !errors.As(err, &exit) || exit.ExitCode() != exitStopped:
		t.Errorf("%v, want exit code %d; stderr: %s", err, exitStopped, stderr.String())
	}
	return stdout.Bytes()
}

// stops interrupts a command, which then has to end well.
func stops(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	err := cmd.Process.Signal(os.Interrupt)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		t.Errorf("interrupted, %q ended with %v", cmd.Args, err)
	}
}

// lines collects what a command prints while it runs.
type lines struct {
	t    *testing.T
	file *os.File
}

func (l lines) until(text string) string {
	l.t.Helper()
	var all []byte
	until(l.t, text, func() bool {
		var err error
		if all, err = os.ReadFile(l.file.Name()); err != nil {
			l.t.Fatal(err)
		}
		return strings.Contains(string(all), text)
	})
	return string(all)
}

func collect(t *testing.T, name string) lines {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return lines{t, f}
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
	cmd := commandLine(t.Context(), dir, "experiment", "--watch", "--runs", "20", "--seed", "1", "--field", "mine,always-even,random", "--out", "out")
	stdout, stderr := collect(t, "stdout"), collect(t, "stderr")
	cmd.Stdout, cmd.Stderr = stdout.file, stderr.file
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stderr.until("waiting for a script to change")
	save(`return == "odd"`)
	stderr.until("scripts/mine.lua:1: load:")
	save(`return "odd"`)
	until(t, "the changes", func() bool { return strings.Count(stderr.until("waiting"), "waiting for a script") == 3 })
	text := stdout.until("Changes since the run before, league by league over 20 leagues:")
	if !regexp.MustCompile(`\n[!~] +\* +mine +1\.\d+ to 1\.\d+ +[+-]0\.\d+ ±0\.\d+ `).MatchString(text) {
		t.Errorf("stdout: %s", text)
	}
	narrowing := regexp.MustCompile(`mine against its version before, (5|10|15|20) leagues: [+-]0\.\d+ adjusted points \([+-]\d\.\d+ to [+-]\d\.\d+\)`)
	if got := narrowing.FindAllString(stderr.until("results"), -1); len(got) != 4 {
		t.Errorf("differences while the leagues are played: %q", got)
	}
	save(`return "odd" --[[ the same choices ]]`)
	until(t, "the same leagues", func() bool { return strings.Count(stderr.until("waiting"), "waiting for a script") == 4 })
	if text := stderr.until("results"); !strings.Contains(text, "20 leagues of 20 are those of the run before") || !strings.Contains(text, "20 leagues: no difference yet") {
		t.Errorf("after an edit that changes nothing: %s", text)
	}
	afresh := run1(t, dir, exitOK, "experiment", "--runs", "20", "--seed", "1", "--field", "mine,always-even,random", "--out", "fresh", "--format", "json", "--quiet")
	digest, _ := digestOf(t, []byte(afresh))
	summary, err := os.ReadFile(filepath.Join(dir, "out", "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := digestOf(t, summary); got != digest {
		t.Errorf("digest %s with leagues taken over, %s without", got, digest)
	}
	if names, err := filepath.Glob(filepath.Join(dir, "*out*")); err != nil || len(names) != 1 || strings.Count(stderr.until("results"), "results in out,") != 3 {
		t.Errorf("folders %v, %v; want out for all runs", names, err)
	}
	if hidden, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(hidden) > 0 {
		t.Errorf("left behind: %v, %v", hidden, err)
	}
	stops(t, cmd)
	stderr.until("confirm them once with a fresh one: strategylab experiment --resume out --confirm")
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
