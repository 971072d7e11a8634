package main

import (
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
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

const (
	// hostBound is how much memory a process may take while hostile scripts play:
	// resident, at its peak. It is what a worker may have, and the program itself: some
	// 64 MiB of its file, and what Go maps at its start, of which a heap takes 64 MiB.
	hostBound = budget.Memory + 192<<20

	// hostileTogether is how many scripts play in one league: each may be blamed for
	// its own faults only.
	hostileTogether = 10
)

// hostile is one script of the hostile set, with what its first two lines say.
type hostile struct {
	path     string
	kinds    []string // of fault, one of which has to be reported; none at all if it is "none", and "load" if it must be refused
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
	if wholeSets && !raced {
		return set
	}
	var sample []hostile // one of each language, and one that is refused
	known := make(map[string]bool)
	for _, h := range set {
		kind := fmt.Sprint(filepath.Ext(h.path), slices.Contains(h.kinds, "load"))
		if !h.limits && !known[kind] {
			known[kind] = true
			sample = append(sample, h)
		}
	}
	return sample
}

// TestHostileSet has each script of the set play among honest players. The command
// lives, within its memory and a bounded time; it leaves no process behind; the honest
// players' records are what they would have been beside anybody with the same answers; and
// the report says what the script did wrong, and where. A plain run plays
// a sample.
func TestHostileSet(t *testing.T) {
	t.Parallel()
	for name, scripts := range together(hostileSet(t)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t, scripts)
		})
	}
}

// together groups scripts for the leagues that they play in, by language and limits.
// Scripts that are refused play alone.
func together(set []hostile) map[string][]hostile {
	kinds, groups := make(map[string][]hostile), make(map[string][]hostile)
	for _, h := range set {
		if slices.Contains(h.kinds, "load") {
			groups[filepath.Base(h.path)] = []hostile{h}
			continue
		}
		kind := fmt.Sprintf("%s, default limits %v", filepath.Ext(h.path), h.limits)
		kinds[kind] = append(kinds[kind], h)
	}
	for kind, all := range kinds {
		for group := range slices.Chunk(all, hostileTogether) {
			groups[kind+" from "+filepath.Base(group[0].path)] = group
		}
	}
	return groups
}

// around puts honest players around hostile ones, and tells where these are.
func around(t *testing.T, scripts []hostile) (field []string, first int) {
	t.Helper()
	field = append(field, "random")
	for _, h := range scripts {
		field = append(field, h.path)
	}
	field = append(field, "markov-2")
	for _, name := range []string{"../../scripts/council.lua", "../../scripts/bandit.js"} {
		path, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		field = append(field, path)
	}
	return field, 1
}

// problems are what is wrong with the faults of a report.
type problems []string

func (p *problems) addf(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

// timeLimits are those of scripts that need no default limits. Where a machine is so busy
// that one of them ends a script too early, in an honest call or before it has come to its
// offence, the script plays again with the next.
var timeLimits = []string{"100ms", "500ms", "2500ms"}

// play has hostile scripts of one kind play.
func play(t *testing.T, scripts []hostile) {
	for i, limit := range timeLimits {
		wrong := playWithin(t, scripts, limit)
		if wrong == nil {
			return
		}
		if i < len(timeLimits)-1 {
			t.Logf("again with more time than %s: %q", limit, wrong)
			continue
		}
		for _, problem := range wrong {
			t.Error(problem)
		}
	}
}

// playWithin has scripts play with a time limit, where they have no other, and
// returns what is wrong with their faults.
func playWithin(t *testing.T, scripts []hostile, limit string) (wrong problems) {
	dir := t.TempDir()
	field, first := around(t, scripts)
	const leagues = 1
	args := []string{"experiment", "--runs", fmt.Sprint(leagues), "--legs", "2", "--seed", "7", "--workers", "1",
		"--quiet", "--format", "json", "--out", "out", "--no-report", "--field", strings.Join(field, ",")}
	if !scripts[0].limits {
		args = append(args, "--time-limit", limit, "--instructions", "500000")
	}
	stdout, stderr, err := runHost(t, dir, args, hostBound)
	if slices.Contains(scripts[0].kinds, "load") {
		scripts[0].refused(t, &wrong, stderr, err)
		return wrong
	}
	if err != nil {
		t.Fatalf("%v; stderr: %s", err, stderr)
	}
	var report hostileReport
	if err := json.Unmarshal(stdout, &report); err != nil {
		t.Fatalf("%v in %s", err, stdout)
	}
	for _, p := range report.Players {
		h := slices.IndexFunc(scripts, func(h hostile) bool { return h.name() == p.Name })
		if h >= 0 {
			scripts[h].wantFault(&wrong, p.Faults)
		} else if len(p.Faults) > 0 {
			wrong.addf("%s, who is honest, has the faults %v", p.Name, p.Faults)
		}
	}
	if wrong == nil {
		sameBesideStandIns(t, filepath.Join(dir, "out"), field, first, len(scripts), leagues)
	}
	return wrong
}

// hostileReport is what the test reads of a report.
type hostileReport struct {
	Players []struct {
		Name   string
		Faults []foundFault
	}
}

type foundFault struct{ Kind, Where string }

func (h hostile) name() string {
	return strings.TrimSuffix(filepath.Base(h.path), filepath.Ext(h.path))
}

// refused looks at the end of a command that cannot load the script.
func (h hostile) refused(t *testing.T, wrong *problems, stderr []byte, err error) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitStrategy {
		t.Fatalf("it loads: %v; stderr: %s", err, stderr)
	}
	message := strings.TrimPrefix(string(stderr), "strategylab: ")
	h.wantPlace(wrong, message, strings.Contains(message, strategies.ErrCrashed.Error()), "load")
}

// wantPlace holds a message to the form "path:line: op: cause". anywhere says
// that the line is wherever a guard happened to find the script, which may be
// where there is no line: in a built-in function, or in a process that is gone.
func (h hostile) wantPlace(wrong *problems, message string, anywhere bool, ops ...string) {
	m := regexp.MustCompile(`^` + regexp.QuoteMeta(h.path) + `(?::(\d+))?: (\w+): \S`).FindStringSubmatch(message)
	if m == nil || !slices.Contains(ops, m[2]) {
		wrong.addf("%q does not name the file and one of %v", message, ops)
		return
	}
	if line, _ := strconv.Atoi(m[1]); !anywhere && (line < h.from || line > h.to && h.to > 0) {
		wrong.addf("%q names line %d, want %d to %d", message, line, h.from, h.to)
	}
	if len(message) > 1500 || strings.ContainsFunc(strings.TrimSpace(message), func(r rune) bool { return r < ' ' && r != '\n' }) {
		wrong.addf("the message has %d bytes, or control characters: %.200q", len(message), message)
	}
}

// races are the kinds of fault of which no test can tell the first: instructions or the
// depth of calls, the clock, and the memory of a process race to end a script that goes too
// far.
var races = []string{"budget", timeoutKind, "crash"}

const timeoutKind = "timeout"

// wants reports whether a kind of fault is among those that a script is to have.
func (h hostile) wants(kind string) bool {
	if slices.Contains(races, kind) {
		return slices.ContainsFunc(h.kinds, func(k string) bool { return slices.Contains(races, k) })
	}
	return slices.Contains(h.kinds, kind)
}

// wantFault looks for the offence among the faults of the report.
func (h hostile) wantFault(wrong *problems, faults []foundFault) {
	kinds := 0
	for _, f := range faults {
		switch {
		case h.wants(f.Kind):
			kinds++
			h.wantPlace(wrong, f.Where, h.foundAnywhere(f), "load", "start", "choose", "observe")
		case f.Kind != "forfeit":
			wrong.addf("%s: a fault of kind %s (%s), want %v", h.name(), f.Kind, f.Where, h.kinds)
		}
	}
	if wanted := h.kinds[0] != "none"; wanted != (kinds > 0) {
		wrong.addf("%s: %d kinds of fault are reported, want %v", h.name(), kinds, h.kinds)
	}
}

// foundAnywhere reports whether a fault says where a guard of the process has
// found the script, rather than what the script was bound to do.
func (h hostile) foundAnywhere(f foundFault) bool {
	return f.Kind == "crash" || f.Kind == timeoutKind && (h.kinds[0] != timeoutKind || !lined.MatchString(f.Where))
}

var lined = regexp.MustCompile(`^\S+:\d+: `)

// sameBesideStandIns plays the leagues again with somebody in the place of each
// script who gives the answers that are on record for it.
func sameBesideStandIns(t *testing.T, out string, field []string, first, n, leagues int) {
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
	if len(recorded) != leagues {
		t.Fatalf("%d leagues on record, want %d", len(recorded), leagues)
	}
	for i, l := range playBeside(t, dir.Plan(), recorded, field, first, n) {
		if diff := cmp.Diff(l.Matches, recorded[i].Matches); diff != "" {
			t.Fatalf("league %d went another way (-beside stand-ins +beside the scripts):\n%s", i, diff)
		}
	}
}
