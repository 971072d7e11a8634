package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/results"
)

const (
	// hostBound is how much memory the process may take in which a hostile
	// script plays: resident, at its peak.
	hostBound = 512 << 20
	// hostPatience is how long a run may take in which one plays. It is far
	// more than the budgets of its calls come to.
	hostPatience = 2 * time.Minute

	hostileLeagues = 2
	hostileField   = 1 // where it sits among honest players
)

// hostile is one script of the hostile set, with what its first two lines say.
type hostile struct {
	path     string
	kinds    []string // of fault, one of which has to be told; none at all if it is "none", and "load" if it must be refused
	from, to int      // the lines that may be named, if not 0
	limits   bool     // the default ones: it takes those to do harm
}

var hostileHeader = regexp.MustCompile(`^(?:--|//) Tries \S.*\.\n(?:--|//) Want ([a-z -]+?)(?: at (\d+)(?:-(\d+))?)?( with default limits)?\n`)

func hostileSet(t *testing.T) (set []hostile) {
	t.Helper()
	paths, err := filepath.Glob("../../strategies/strategytest/testdata/hostile/*.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m := hostileHeader.FindStringSubmatch(string(source))
		if m == nil {
			t.Fatalf("%s does not say what it tries and what is wanted", path)
		}
		h := hostile{kinds: strings.Fields(m[1]), limits: m[4] != ""}
		h.from, _ = strconv.Atoi(m[2])
		h.to, _ = strconv.Atoi(m[3])
		h.to = max(h.from, h.to)
		if h.path, err = filepath.Abs(path); err != nil {
			t.Fatal(err)
		}
		set = append(set, h)
	}
	if len(set) < 40 {
		t.Fatalf("%d hostile scripts, want at least 40", len(set))
	}
	return set
}

// TestHostileSet has each script of the set play in a process of the program
// among honest players. The process lives, within its memory and a bounded
// time; it leaves no other behind; the honest players' records are what they
// would have been beside anybody with the same answers; and the report says
// what the script did wrong, and where.
func TestHostileSet(t *testing.T) {
	t.Parallel()
	for _, h := range hostileSet(t) {
		t.Run(filepath.Base(h.path), func(t *testing.T) {
			t.Parallel()
			h.play(t)
		})
	}
}

// honest are the players beside the hostile one, in this order around it.
func honest(t *testing.T) []string {
	t.Helper()
	field := []string{"random", "markov-2", "../../scripts/council.lua", "../../scripts/bandit.js"}
	for i, name := range field[2:] {
		path, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		field[2+i] = path
	}
	return field
}

func (h hostile) play(t *testing.T, flags ...string) {
	dir := t.TempDir()
	field := slices.Insert(honest(t), hostileField, h.path)
	args := append([]string{"experiment", "--runs", fmt.Sprint(hostileLeagues), "--legs", "3", "--seed", "7", "--quiet", "--format", "json",
		"--out", "out", "--field", strings.Join(field, ",")}, flags...)
	switch {
	case h.limits:
	case filepath.Ext(h.path) == ".lua": // the instructions are to end it, however slow the machine is
		args = append(args, "--time-limit", "1m", "--instructions", "500000")
	default:
		args = append(args, "--time-limit", "100ms")
	}
	stdout, stderr, err := h.run(t, dir, args)
	if slices.Contains(h.kinds, "load") {
		h.refused(t, stderr, err)
		return
	}
	if err != nil {
		t.Fatalf("%v; stderr: %s", err, stderr)
	}
	h.told(t, stdout)
	h.sameBesideStandIn(t, filepath.Join(dir, "out"), field)
}

// run runs a command line in a process of its own and holds that to its
// bounds.
func (h hostile) run(t *testing.T, dir string, args []string) (stdout, stderr []byte, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hostPatience)
	defer cancel()
	cmd := command(ctx, dir, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("the host did not end within %v; stderr: %s", hostPatience, errs.Bytes())
	}
	if strings.Contains(errs.String(), "goroutine ") || strings.Contains(errs.String(), "panic") {
		t.Fatalf("the host died: %s", errs.Bytes())
	}
	if group := cmd.Process.Pid; syscall.Kill(-group, 0) == nil {
		t.Errorf("the host left processes behind")
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if peak := usage.Maxrss << 10; peak > hostBound {
		t.Errorf("the host took %d MiB, want at most %d", peak>>20, hostBound>>20)
	}
	t.Logf("%d MiB, %v of processor time", usage.Maxrss>>10, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(time.Millisecond))
	return out.Bytes(), errs.Bytes(), err
}

// refused looks at the end of a command that cannot load the script.
func (h hostile) refused(t *testing.T, stderr []byte, err error) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitStrategy {
		t.Fatalf("it loads: %v; stderr: %s", err, stderr)
	}
	h.wantPlace(t, strings.TrimPrefix(string(stderr), "strategylab: "), "load")
}

// wantPlace holds a message to the form "path:line: op: cause".
func (h hostile) wantPlace(t *testing.T, message string, ops ...string) {
	t.Helper()
	m := regexp.MustCompile(`^` + regexp.QuoteMeta(h.path) + `(?::(\d+))?: (\w+): \S`).FindStringSubmatch(message)
	if m == nil || !slices.Contains(ops, m[2]) {
		t.Errorf("%q does not name the file and one of %v", message, ops)
		return
	}
	if line, _ := strconv.Atoi(m[1]); line < h.from || line > h.to && h.to > 0 {
		t.Errorf("%q names line %d, want %d to %d", message, line, h.from, h.to)
	}
	if len(message) > 1500 || strings.ContainsFunc(strings.TrimSpace(message), func(r rune) bool { return r < ' ' && r != '\n' }) {
		t.Errorf("the message has %d bytes, or control characters: %.200q", len(message), message)
	}
}

// told looks for the offence in the report.
func (h hostile) told(t *testing.T, stdout []byte) {
	t.Helper()
	var report struct {
		Players []struct {
			Name   string
			Faults []struct {
				Kind  string
				Where string
			}
		}
	}
	if err := json.Unmarshal(stdout, &report); err != nil {
		t.Fatalf("%v in %s", err, stdout)
	}
	kinds := 0
	for _, p := range report.Players {
		if p.Name != strings.TrimSuffix(filepath.Base(h.path), filepath.Ext(h.path)) {
			if len(p.Faults) > 0 {
				t.Errorf("%s, who is honest, has the faults %v", p.Name, p.Faults)
			}
			continue
		}
		for _, f := range p.Faults {
			switch {
			case slices.Contains(h.kinds, f.Kind):
				kinds++
				h.wantPlace(t, f.Where, "start", "choose", "observe")
			case f.Kind != "forfeit":
				t.Errorf("a fault of kind %s (%s), want %v", f.Kind, f.Where, h.kinds)
			}
		}
	}
	if wanted := h.kinds[0] != "none"; wanted != (kinds > 0) {
		t.Errorf("%d kinds of fault are told, want %v", kinds, h.kinds)
	}
}

// sameBesideStandIn plays the leagues again with somebody in the script's
// place who gives the answers that are on record for it.
func (h hostile) sameBesideStandIn(t *testing.T, out string, field []string) {
	t.Helper()
	dir, err := results.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	var recorded []results.League
	for l, err := range dir.Leagues() {
		if err != nil {
			t.Fatal(err)
		}
		recorded = append(recorded, results.League{
			Index: l.Index, Seats: slices.Clone(l.Seats), Matches: slices.Clone(l.Matches),
		})
	}
	if len(recorded) != hostileLeagues {
		t.Fatalf("%d leagues on record, want %d", len(recorded), hostileLeagues)
	}
	for i, l := range playBeside(t, dir.Plan(), recorded, field) {
		if diff := cmp.Diff(l.Matches, recorded[i].Matches); diff != "" {
			t.Fatalf("league %d went another way (-beside a stand-in +beside the script):\n%s", i, diff)
		}
	}
}
