package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fileSizeEnv names the size, in bytes, beyond which the program of a test can write no
// file, as on a disk that is full.
const fileSizeEnv = "STRATEGYLAB_TEST_FILE_SIZE"

// crashing is a command that is started again in the folder that it has left behind.
type crashing struct {
	args  []string // that write into the folder "data"
	from  string   // the beginning of its result
	lines int      // of its result
	want  string   // its result after a run that nothing disturbs

	cases, again, refused int
}

// start runs the command in this process.
func (c *crashing) start(t *testing.T, dir string, args ...string) (code int, result, stderr string) {
	t.Helper()
	code, stdout, stderr := inside(t.Context(), in(dir), args...)
	return code, c.result(stdout), stderr
}

// result returns what the command has found out, if it has.
func (c *crashing) result(out string) string {
	i := strings.Index(out, c.from)
	if i < 0 {
		return ""
	}
	lines := strings.SplitAfter(out[i:], "\n")
	return strings.Join(lines[:min(c.lines, len(lines))], "")
}

// whole runs the command undisturbed and returns its folder.
func (c *crashing) whole(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	code, result, stderr := c.start(t, dir, c.args...)
	if code != exitOK || result == "" {
		t.Fatalf("exit code %d, %q: %s", code, result, stderr)
	}
	c.want = result
	return filepath.Join(dir, "data")
}

// fullDisk lets the disk be full at a size of files and then starts the command again,
// with the arguments that again returns for the folder.
func (c *crashing) fullDisk(t *testing.T, size int, again func(dir string) []string) {
	t.Helper()
	needsFullDisks(t)
	c.cases++
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), hostPatience)
	defer cancel()
	cmd := commandLine(ctx, dir, c.args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", fileSizeEnv, size))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		if result := c.result(string(out)); result != c.want {
			t.Errorf("files of %d bytes: %q, want %q", size, result, c.want)
		}
		return
	}
	if text := stderr.String(); cmd.ProcessState.ExitCode() != exitFailure || !strings.Contains(text, "file too large") || !strings.Contains(text, "data") || strings.Contains(text, "goroutine ") {
		t.Errorf("files of %d bytes: %v, want an error that names the file: %s", size, err, text)
	}
	code, result, text := c.start(t, dir, again(dir)...)
	if c.again++; code != exitOK || result != c.want {
		t.Errorf("files of %d bytes, then started again: exit code %d, %q, want %q: %s", size, code, result, c.want, text)
	}
}

// damages are what can have become of a file.
var damages = []struct {
	name string
	do   func(content []byte) []byte // nil takes the file away
}{
	{"missing", nil},
	{"empty", func([]byte) []byte { return nil }},
	{"cut in half", func(b []byte) []byte { return b[:len(b)/2] }},
	{"with a flipped bit", func(b []byte) []byte { b[len(b)/2] ^= 1; return b }},
}

// damaged damages every file of a folder in turn and starts the command again: it ends
// as if nothing had been, or with an error.
func (c *crashing) damaged(t *testing.T, whole string, args []string, step int) {
	t.Helper()
	var files []string
	err := filepath.WalkDir(whole, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			path, err = filepath.Rel(whole, path)
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for i, file := range files {
		for j, damage := range damages {
			if (i+j)%step != 0 {
				continue
			}
			c.cases++
			dir := t.TempDir()
			if err := os.CopyFS(filepath.Join(dir, "data"), os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(dir, "data", file)
			content, err := os.ReadFile(name)
			if err == nil && damage.do == nil {
				err = os.Remove(name)
			} else if err == nil && len(content) > 0 {
				err = os.WriteFile(name, damage.do(content), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			code, result, stderr := c.start(t, dir, args...)
			switch {
			case code == exitOK && result == c.want:
				c.again++
			case code != exitOK && result == "" && strings.Contains(stderr, "strategylab: "):
				c.refused++
			default:
				t.Errorf("%s %s: exit code %d, %q, want %q: %s", file, damage.name, code, result, c.want, stderr)
			}
		}
	}
}

// sizes returns sizes of files at which a disk can be full, a step apart, up to that of the
// largest of some files.
func sizes(t *testing.T, step int, files ...string) (all []int) {
	t.Helper()
	largest := 0
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, int(info.Size()))
	}
	for size := 0; size <= largest; size += step {
		all = append(all, size)
	}
	return append(all, largest)
}

// TestCrashOfALeague has the disk be full at each size of a journal, which ends a manager,
// a referee or the players within a record, and damages every file of their folder in
// every way. Started again, the league ends with the same table; what cannot be trusted
// is refused. All but make crash-tests take a sample.
func TestCrashOfALeague(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	crashLeague(t, 1400, 9, "league")
}

// TestCrashOfAHost is TestCrashOfALeague for a host, with its token and its page.
func TestCrashOfAHost(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	crashLeague(t, 2100, 13, "host", "--players", "3", "--listen", "127.0.0.1:0")
}

// crashLeague crashes a command that plays a league of three house players: the disk is
// full at sizes that are a step apart, and one in so many damages is done.
func crashLeague(t *testing.T, step, of int, command string, flags ...string) {
	t.Helper()
	c := &crashing{from: "  place", lines: 4, args: slices.Concat([]string{
		command, "--field", "random,markov-2,always-even", "--data-dir", "data", "--legs", "1", "--seed", "3",
		"--validation-log", "off", "--isolate=false",
	}, flags, patient)}
	whole := c.whole(t)
	step, of = sampled(step, 37), sampled(of, 1)
	for _, size := range sizes(t, step, filepath.Join(whole, "data/referees/REF01/journal")) {
		c.fullDisk(t, size, func(string) []string { return c.args })
	}
	c.damaged(t, whole, c.args, of)
	c.report(t, command)
}

// TestCrashOfAnExperiment is TestCrashOfALeague for the folder of a run.
func TestCrashOfAnExperiment(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	c := &crashing{from: "digest", lines: 1, args: []string{
		"experiment", "--runs", "6", "--legs", "1", "--seed", "3", "--field", "random,markov-2,always-even", "--out", "data", "--details", "--no-report", "--workers", "1",
	}}
	whole := c.whole(t)
	step, of := sampled(900, 11), sampled(7, 1)
	resume := []string{"experiment", "--resume", "data", "--details", "--no-report"}
	names, err := filepath.Glob(filepath.Join(whole, "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range sizes(t, step, slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(filepath.Base(name), ".") })...) {
		c.fullDisk(t, size, func(dir string) []string {
			if _, err := os.Stat(filepath.Join(dir, "data/plan.json")); err != nil {
				return c.args // there is nothing to resume yet
			}
			return resume
		})
	}
	c.damaged(t, whole, resume, of)
	c.report(t, "experiment")
}

// sampled returns how far apart cases are: as in a plain run, a third of that in a whole one,
// and with LONG_TESTS the least that there is.
func sampled(plain, least int) int {
	switch {
	case longTests:
		return least
	case wholeSets:
		return (plain + 2) / 3
	}
	return plain
}

func (c *crashing) report(t *testing.T, command string) {
	t.Helper()
	t.Logf("crash: %s: %d cases, %d had the same result after a restart, %d were refused", command, c.cases, c.again, c.refused)
}
