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
	// hostBound is how much memory the process may take in which a hostile
	// script plays: resident, at its peak. isolatedBound is the same where the
	// script plays in another process, for the larger of the two.
	hostBound     = 512 << 20
	isolatedBound = 256 << 20

	// hostileLeagues is how many leagues are played, one after another, so that
	// the second is played by a process that has survived the first. One has to do
	// for scripts that need the default limits: each uses up a second.
	hostileLeagues = 2
	// hostileSample is of how many scripts one plays under the race detector and
	// with -short: the processes that play are what is slow there.
	hostileSample = 8
	// isolatedTogether is how many scripts play in one league where each has a
	// process of its own.
	isolatedTogether = 10
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
	if !raced && !testing.Short() {
		return set
	}
	sample := set[:0]
	for i, h := range set {
		if i%hostileSample == 0 {
			sample = append(sample, h)
		}
	}
	t.Logf("a sample of %d", len(sample))
	return sample
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
			play(t, []hostile{h}, hostBound)
		})
	}
}

// TestHostileSetIsolated is the same with every script in a process of its own.
// As none of them can reach another, several play in the same leagues.
func TestHostileSetIsolated(t *testing.T) {
	t.Parallel()
	groups := make(map[string][]hostile)
	for _, h := range hostileSet(t) {
		if slices.Contains(h.kinds, "load") {
			t.Run(filepath.Base(h.path), func(t *testing.T) {
				t.Parallel()
				play(t, []hostile{h}, isolatedBound, "--isolate")
			})
			continue
		}
		if !slices.Contains(h.kinds, "none") {
			h.kinds = append(h.kinds, "crash") // of the worker, if it is out of memory
		}
		kind := fmt.Sprintf("%s, default limits %v", filepath.Ext(h.path), h.limits)
		groups[kind] = append(groups[kind], h)
	}
	for kind, all := range groups {
		for group := range slices.Chunk(all, isolatedTogether) {
			t.Run(kind+" from "+filepath.Base(group[0].path), func(t *testing.T) {
				t.Parallel()
				play(t, group, isolatedBound, "--isolate")
			})
		}
	}
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

// timeLimits are those of scripts in JavaScript that only the clock ends. Where a
// machine is so busy that one of them ends a script too early, in an honest call or
// before it has come to its offence, the script plays again with the next.
var timeLimits = []string{"100ms", "500ms", "2500ms"}

// play has hostile scripts of one kind play in a host that may take so much
// memory.
func play(t *testing.T, scripts []hostile, bound int64, flags ...string) {
	for i, limit := range timeLimits {
		wrong := playWithin(t, scripts, bound, limit, flags...)
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
func playWithin(t *testing.T, scripts []hostile, bound int64, limit string, flags ...string) (wrong problems) {
	dir := t.TempDir()
	field, first := around(t, scripts)
	leagues := hostileLeagues
	if scripts[0].limits {
		leagues = 1
	}
	args := append([]string{"experiment", "--runs", fmt.Sprint(leagues), "--legs", "2", "--seed", "7", "--workers", "1",
		"--quiet", "--format", "json", "--out", "out", "--field", strings.Join(field, ",")}, flags...)
	switch {
	case scripts[0].limits:
	case filepath.Ext(scripts[0].path) == ".lua": // the instructions are to end it, however slow the machine is
		args = append(args, "--time-limit", "1m", "--instructions", "500000")
	case slices.ContainsFunc(scripts, func(s hostile) bool { return strings.HasPrefix(filepath.Base(s.path), "regexp-") }):
		// They do not overrun a longer one everywhere: an expression that
		// backtracks is cut off by a bound of its own, and counts as no match then.
		args = append(args, "--time-limit", "100ms")
	default:
		args = append(args, "--time-limit", limit)
	}
	stdout, stderr, err := runHost(t, dir, args, bound)
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

// races are the kinds of fault of which no test can tell the first: in
// JavaScript, which counts no instructions, the clock, the bounds of built-in
// functions and the memory of the process race to end a script that goes too far.
var races = []string{budgetKind, timeoutKind}

const (
	budgetKind  = "budget"
	timeoutKind = "timeout"
)

// wants reports whether a kind of fault is among those that a script is to have.
func (h hostile) wants(kind string) bool {
	if filepath.Ext(h.path) == ".js" && slices.Contains(races, kind) {
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
	return f.Kind == "crash" || f.Kind == timeoutKind && (h.kinds[0] != timeoutKind || !lined.MatchString(f.Where)) ||
		strings.Contains(f.Where, budget.ErrMemory.Error())
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
