package lab

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// here returns a lab in a folder of its own, without processes.
func here(t *testing.T) Lab {
	t.Helper()
	return Lab{Dir: t.TempDir(), Now: time.Now, Entropy: func() (uint64, error) { return 1 << 20, nil }}
}

// fieldOf loads strategies by name and makes the plan of a run with them.
func fieldOf(t *testing.T, l Lab, runs int, names ...string) (results.Plan, []strategies.Factory, *catalog.Catalog) {
	t.Helper()
	cat, err := l.Load(t.Context(), Supply{Limits: budget.Limits{Time: budget.DefaultTime, Instructions: budget.DefaultInstructions}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cat.Close() })
	plan := results.Plan{Schema: results.PlanSchema, Runs: runs, Legs: 4, Seed: 7, Draw: "uniform:1-10", Transport: "direct"}
	var factories []strategies.Factory
	for _, name := range names {
		e, err := cat.Resolve(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		plan.Field = append(plan.Field, results.Entrant{Name: name, Kind: string(e.Info.Kind), Ref: name, Fingerprint: e.Info.Fingerprint})
		factories = append(factories, e.Factory)
	}
	return plan, factories, cat
}

func create(t *testing.T, l Lab, name string, plan results.Plan) *results.Dir {
	t.Helper()
	dir, err := results.Create(l.Path(name), plan)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A recorded run shows what it showed when it was played, and so does the last look at it.
func TestReadShowsWhatPlayShowed(t *testing.T) {
	t.Parallel()
	l := here(t)
	plan, factories, _ := fieldOf(t, l, 30, "random", "role", "always-even", "always-odd")
	var last report.Progress
	watch := func(so Sofar) {
		now := so.Progress()
		if now.Leagues != last.Leagues+1 {
			t.Errorf("league %d after %d", now.Leagues, last.Leagues)
		}
		last = now
	}
	played, err := Session{Lab: l, Report: true, Watch: watch}.Play(t.Context(), create(t, l, "run", plan), l.Path("run"), factories)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(l.Path("run"), "report.html")); err == nil {
		t.Error("the page is written before what the run shows can be told")
	}
	if err := played.WritePage(t.Context()); err != nil {
		t.Fatal(err)
	}
	read, err := l.Read(t.Context(), "run", Reading{Level: 0.95, Explain: true, Mirrors: true})
	if err != nil {
		t.Fatal(err)
	}
	if played.Interrupted || played.Run.Estimates.Leagues != 30 || read.Run.Facts.Digest != played.Run.Facts.Digest {
		t.Errorf("played %d leagues with digest %s, read digest %s", played.Run.Estimates.Leagues, played.Run.Facts.Digest, read.Run.Facts.Digest)
	}
	for k, s := range last.Standings {
		if e := &played.Run.Estimates; last.Leagues != 30 || s.Adjusted != e.Players[e.Order[k]].Adjusted {
			t.Errorf("after league %d place %d was %+v", last.Leagues, k+1, s)
		}
	}
	if len(read.Mirrors) != 4 || len(played.Mirrors) != 4 {
		t.Errorf("%d and %d mirrors", len(played.Mirrors), len(read.Mirrors))
	}
	var then, now strings.Builder
	if err := errors.Join(report.WriteTable(&then, played.Document, report.Screen{}), report.WriteTable(&now, read.Document, report.Screen{})); err != nil {
		t.Fatal(err)
	}
	if then.String() != now.String() {
		t.Errorf("played:\n%s\nread:\n%s", then.String(), now.String())
	}
	if len(read.Explanations.Players) != 4 || read.Explanations.Players[1].Even != played.Explanations.Players[1].Even {
		t.Errorf("explanations %+v, want %+v", read.Explanations.Players, played.Explanations.Players)
	}
	for _, file := range []string{"report.html", "summary.json", "mirrors.json", "leagues.bin", "plan.json"} {
		if _, err := os.Stat(filepath.Join(l.Path("run"), file)); err != nil {
			t.Error(err)
		}
	}
}

// Mistakes of the caller are InputErrors with a hint.
func TestInputErrors(t *testing.T) {
	t.Parallel()
	l := here(t)
	plan, _, cat := fieldOf(t, l, 1, "random", "role")
	create(t, l, "empty", plan).Close()
	changed := plan
	changed.Field = []results.Entrant{{Name: "random", Ref: "random", Fingerprint: "of another version"}}
	unknown := plan
	unknown.Field = []results.Entrant{{Name: "nobody", Ref: "nobody"}}
	read := func(dir string) error {
		_, err := l.Read(t.Context(), dir, Reading{Op: "analyze", Level: 0.95})
		return err
	}
	factories := func(p results.Plan) error {
		_, err := (&Code{Catalog: cat, Lab: l, Folder: "empty"}).All(t.Context(), p)
		return err
	}
	isolated := func() error {
		_, err := l.Load(t.Context(), Supply{Isolate: true})
		return err
	}
	for name, tt := range map[string]struct {
		err        error
		want, hint string
	}{
		"no folder": {read("nowhere"), "analyze nowhere: ", "results in"},
		"no league": {read("empty"), "analyze empty: no league", "--resume empty"},
		"changed":   {factories(changed), "random: the code of random has changed", "--seed 7"},
		"unknown":   {factories(unknown), "nobody", "strategies list"},
		"isolation": {isolated(), "cannot be isolated", "--isolate=false"},
	} {
		var input *InputError
		if !errors.As(tt.err, &input) || !strings.Contains(tt.err.Error(), tt.want) || !strings.Contains(input.Hint, tt.hint) {
			t.Errorf("%s: %v, hint %+v; want %q with hint %q", name, tt.err, input, tt.want, tt.hint)
		}
	}
	if !errors.Is(factories(changed), ErrChanged) {
		t.Error("code that has changed is not ErrChanged")
	}
}

// A check of one strategy gives the same verdict every time, and tries a strategy
// that is ready against the known opponents.
func TestCheck(t *testing.T) {
	t.Parallel()
	l := here(t)
	_, _, cat := fieldOf(t, l, 1, "random")
	e, err := cat.Resolve(t.Context(), "always-even")
	if err != nil {
		t.Fatal(err)
	}
	c := Checking{Seed: CheckSeed, Limits: budget.Limits{Time: time.Hour, Instructions: budget.DefaultInstructions}}
	first, err := l.Check(t.Context(), e, c)
	if err != nil {
		t.Fatal(err)
	}
	second, err := l.Check(t.Context(), e, c)
	if err != nil {
		t.Fatal(err)
	}
	a, b := first.Trial, second.Trial
	if !first.Ready || a == nil || b == nil || a.Adjusted != b.Adjusted || a.Place != b.Place || a.Players != 1+len(Opponents()) {
		t.Errorf("first %+v %+v, then %+v", first, a, b)
	}
	if text := a.String(); !strings.Contains(text, "adjusted points per match") {
		t.Errorf("trial: %s", text)
	}
}

func TestSeedFitsJSON(t *testing.T) {
	t.Parallel()
	l := Lab{Entropy: func() (uint64, error) { return 1<<64 - 1, nil }}
	if s, err := l.Seed(); err != nil || s != 1<<53-1 {
		t.Errorf("seed %d, %v; want %d", s, err, uint64(1<<53-1))
	}
}

// The program that this one serves as a plugin has the time limit of the command, too.
func TestOwnPluginHasTheTimeLimit(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	l := here(t)
	l.Exe = l.Path("program")
	told := l.Path("told")
	if err := os.WriteFile(l.Exe, []byte("#!/bin/sh\necho $STRATEGYLAB_CALL_US >'"+told+"'\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	all, err := l.ownPlugin(t.Context(), Supply{Limits: budget.Limits{Time: 90 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	defer all[0].Close()
	_, err = all[0].(strategies.Batcher).NewBatch(t.Context())
	if got, _ := os.ReadFile(told); strings.TrimSpace(string(got)) != "90000000" {
		t.Errorf("the plugin was told a limit of %q microseconds (%v)", got, err)
	}
}
