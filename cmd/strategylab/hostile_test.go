package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
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
		kind := filepath.Ext(h.path)
		if slices.Contains(h.kinds, "load") {
			kind = "load"
		}
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

// around puts honest players around hostile ones.
func around(t *testing.T, scripts []hostile) (field []string) {
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
	return field
}

// problems are what is wrong with the faults of a report.
type problems []string

func (p *problems) addf(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

// play has hostile scripts of one kind play, with a time limit where they need no default limits. Where a machine is so
// busy that it ends a script too early, in an honest call or before it has come to its offence, they play with the next.
func play(t *testing.T, scripts []hostile) {
	var wrong problems
	for _, limit := range []string{"100ms", "500ms", "2500ms"} {
		if wrong = playWithin(t, scripts, limit); wrong == nil {
			return
		}
		t.Logf("with %s: %q", limit, wrong)
	}
	for _, problem := range wrong {
		t.Error(problem)
	}
}

// playWithin has scripts play with a time limit, where they have no other, and
// returns what is wrong with their faults.
func playWithin(t *testing.T, scripts []hostile, limit string) (wrong problems) {
	dir := t.TempDir()
	field := around(t, scripts)
	args := []string{"experiment", "--runs", "1", "--legs", "2", "--seed", "7", "--workers", "1",
		"--quiet", "--format", "json", "--out", "out", "--no-report", "--field", strings.Join(field, ",")}
	if !scripts[0].limits {
		args = append(args, "--time-limit", limit, "--instructions", "500000")
	}
	host := runHost(t, dir, args, hostBound)
	if slices.Contains(scripts[0].kinds, "load") {
		scripts[0].refused(t, &wrong, host)
		return wrong
	}
	if host.code() != exitOK {
		wrong.addf("%v; stderr: %s", host.ProcessState, host.err.String())
		return wrong
	}
	var report struct {
		Players []struct {
			Name   string
			Faults []foundFault
		}
	}
	if err := json.Unmarshal([]byte(host.out.String()), &report); err != nil {
		t.Fatalf("%v in %s", err, host.out.String())
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
		sameBesideStandIns(t, filepath.Join(dir, "out"), field, scripts)
	}
	return wrong
}

type foundFault struct{ Kind, Where string }

func (h hostile) name() string {
	return strings.TrimSuffix(filepath.Base(h.path), filepath.Ext(h.path))
}

// refused looks at the end of a command that cannot load the script.
func (h hostile) refused(t *testing.T, wrong *problems, host *process) {
	t.Helper()
	message := strings.TrimPrefix(host.err.String(), "strategylab: ")
	if host.code() != exitStrategy {
		t.Fatalf("it loads: %v; stderr: %s", host.ProcessState, message)
	}
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

// sameBesideStandIns plays the league again with somebody in the place of each
// script who gives the answers that are on record for it.
func sameBesideStandIns(t *testing.T, out string, field []string, scripts []hostile) {
	t.Helper()
	dir, err := results.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	var recorded results.League
	for l, err := range dir.Leagues() {
		if err != nil {
			t.Fatal(err)
		}
		recorded = results.League{Seats: slices.Clone(l.Seats), Matches: slices.Clone(l.Matches)}
	}
	cat, err := catalog.Load(t.Context(), catalog.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer cat.Close()
	factories := make([]strategies.Factory, len(field))
	for i, name := range field {
		if slices.ContainsFunc(scripts, func(h hostile) bool { return h.path == name }) {
			factories[i] = newStandIn(t, dir.Plan(), recorded, i)
			continue
		}
		e, err := cat.Resolve(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		factories[i] = e.Factory
	}
	again, err := arena.PlayLeague(t.Context(), dir.Plan(), factories, 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(again.Matches, recorded.Matches); diff != "" {
		t.Fatalf("the league went another way (-beside stand-ins +beside the scripts):\n%s", diff)
	}
}

// standIn plays what is on record for a player: the same choices, and the same faults in the same matches.
type standIn struct {
	matches []uint64 // of the player, in their order
	sides   map[uint64]game.Side
}

func newStandIn(t *testing.T, plan results.Plan, recorded results.League, field int) *standIn {
	t.Helper()
	schedule, err := game.NewSchedule(len(plan.Field), plan.Legs)
	if err != nil {
		t.Fatal(err)
	}
	s := &standIn{sides: map[uint64]game.Side{}}
	for i, m := range schedule.Matches() {
		side := recorded.Matches[i].A
		if field == recorded.Seats[m.B] {
			side = recorded.Matches[i].B
		} else if field != recorded.Seats[m.A] {
			continue
		}
		s.matches = append(s.matches, uint64(i))
		s.sides[uint64(i)] = side
	}
	return s
}

func (s *standIn) Info() strategies.Info { return strategies.Info{Name: "stand-in"} }
func (s *standIn) Close() error          { return nil }

func (s *standIn) New(context.Context, strategies.Setup) (strategies.Strategy, error) {
	return s, s.ahead(0)
}

// standInErrors are those of the kinds that a seat may end with.
var standInErrors = map[game.Fault]error{
	game.FaultError: errors.New("on record"), game.FaultInvalid: strategies.ErrInvalidChoice,
	game.FaultTimeout: strategies.ErrTimeout, game.FaultBudget: strategies.ErrBudget, game.FaultCrash: strategies.ErrCrashed,
}

// ahead fails if the player is to be out from its match of a number on, for a reason that the
// match itself bears: what comes after it is forfeited.
func (s *standIn) ahead(number int) error {
	if number+1 < len(s.matches) && s.sides[s.matches[number+1]].Fault == game.FaultForfeit {
		return standInErrors[s.sides[s.matches[number]].Fault] // nil if it is out already
	}
	return nil
}

func (s *standIn) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	side := s.sides[t.Match]
	if side.Fault != game.NoFault {
		return 0, standInErrors[side.Fault]
	}
	return strategies.Play(side.Choice), nil
}

func (s *standIn) Observe(_ context.Context, o *strategies.Outcome) error {
	return s.ahead(slices.Index(s.matches, o.Match) + 1)
}

// hostPatience is how long a run may take in which hostile scripts play. It is
// far more than the budgets of their calls come to, for the disk of a busy
// machine may keep a process waiting for a minute or more until its files are safe.
const hostPatience = 5 * time.Minute

// runHost runs a command line in a process of its own and holds that to its bounds.
func runHost(t *testing.T, dir string, args []string, bound int64) *process {
	t.Helper()
	cmd, peak := own(t, dir, args...), filepath.Join(dir, "peak")
	cmd.Env = append(os.Environ(), peakEnv+"="+peak)
	p := begin(t, cmd)
	if errs := p.err.String; !comes(time.After(hostPatience), p.over) {
		t.Fatalf("the host did not end within %v; stderr: %s", hostPatience, errs())
	} else if strings.Contains(errs(), "goroutine ") || strings.Contains(errs(), "panic") {
		t.Fatalf("the host died: %s", errs())
	}
	vanishes(t, cmd.Path)
	used, err := os.ReadFile(peak)
	if err != nil {
		t.Fatalf("the host did not say what memory it took: %v", err)
	}
	took, _ := strconv.ParseInt(string(used), 10, 64)
	if took > bound && !raced { // whose own memory is several times that
		t.Errorf("the host took %d MiB, want at most %d", took>>20, bound>>20)
	}
	t.Logf("%d MiB, %v of processor time", took>>20, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(time.Millisecond))
	return p
}

// peakEnv names the file into which the program of a test writes the memory that it took.
const peakEnv = "STRATEGYLAB_TEST_PEAK"

// tellPeak writes the largest memory of this process and its children, resident, in
// bytes. The test cannot ask the system for it: what wait4 returns counts what the
// test itself had when it started the process, whose memory the two shared until exec.
// Where there is no /proc, it is 0.
func tellPeak() {
	path := os.Getenv(peakEnv)
	if path == "" {
		return
	}
	var took int64 // in KiB
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		_, line, _ := strings.Cut(string(status), "VmHWM:")
		_, _ = fmt.Sscan(line, &took)
		took = max(took, childrenPeak())
	}
	if err := os.WriteFile(path, fmt.Append(nil, took<<10), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
