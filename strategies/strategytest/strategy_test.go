package strategytest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// ticker is a clock that only pass moves.
type ticker struct{ at time.Time }

func (c *ticker) now() time.Time       { return c.at }
func (c *ticker) pass(d time.Duration) { c.at = c.at.Add(d) }

// found runs Check over one of the beginners, in a bubble so that endless
// loops cost no time.
func found(t *testing.T, bug, name string) (findings []strategytest.Finding) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rt, clock := newToy(bug), new(ticker)
		h, ok := beginners(rt, clock)[name]
		if !ok {
			t.Fatalf("no script %q", name)
		}
		limits := budget.Limits{Time: 250 * time.Millisecond, Instructions: 5_000_000}
		f, err := rt.make(h)(limits)
		if err != nil {
			t.Fatal(err)
		}
		findings = strategytest.Check(t.Context(), f, strategytest.Config{Seed: 1, Now: clock.now, Limits: limits})
	})
	return findings
}

// TestCheckInWords has other flaws.
func TestCheckFindsFlaws(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		bug, name string
		want      []string // what is worse than Info, as "level id"
	}{
		{"", "panics at once", []string{"error league"}},
		{"", "panics in observe", []string{"error league"}},
		{"", "constant", nil},
		{"", "takes turns", nil},
		{"", "choose throws", []string{"error league"}},
		{"", "last of an empty list", []string{"error two-players"}},
		{"", "more than one opponent", []string{"error two-players"}},
		{"", "every round", []string{"error byes"}},
		{"", "number as index", []string{"error draws"}},
		{"", "too much memory", []string{"error long"}},
		{"", "slow", []string{"warning time-choose"}},
		{"", "needs the field", []string{"warning foreign"}},
		{"", "waits for observe", []string{"warning untold"}},
		{"seat-close", "constant", []string{"error league"}},
		{"unseeded", "sound", []string{"error deterministic"}},
		{"one-league", "sound", []string{"error independent"}},
		{"shared-memory", "takes turns", []string{"error independent"}},
		{"passes-on", "wrong answer", []string{"error league"}},
	} {
		t.Run(strings.TrimSpace(tt.bug+" "+tt.name), func(t *testing.T) {
			t.Parallel()
			findings := found(t, tt.bug, tt.name)
			var got []string
			for _, f := range findings {
				if s := fmt.Sprintf("%v %s", f.Level, f.ID); f.Level > strategytest.Info && !slices.Contains(got, s) {
					got = append(got, s)
				}
			}
			slices.Sort(got)
			slices.Sort(tt.want)
			if !slices.Equal(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
				for _, f := range findings {
					t.Log(f)
				}
			}
		})
	}
}

// The words are part of what the program promises: they are read by people
// who write their first strategy.
func TestCheckInWords(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"sound", "wrong answer", "start throws", "choice of a technical loss", "history grows",
		"never returns", "in order", "panics", "probability", "by the clock", "mixed by the clock", "for one league", "nearly too slow", "counts to a million", "counts to four million",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			findings := found(t, "", name)
			for _, f := range findings {
				fmt.Fprintln(&b, f)
			}
			fmt.Fprintln(&b, strategytest.Verdict(findings))
			golden(t, strings.ReplaceAll(name, " ", "-"), b.String())
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "check", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; rewrite with -update):\n%s", path, diff)
	}
}

func TestCheckWithoutClock(t *testing.T) {
	t.Parallel()
	f, err := newToy("").make(always("even"))(budget.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, finding := range strategytest.Check(t.Context(), f, strategytest.Config{}) {
		if strings.HasPrefix(finding.ID, "time-") || finding.ID == "growth" {
			t.Errorf("finding %v without a clock", finding)
		}
	}
}

func TestCheckUnderTightLimits(t *testing.T) {
	t.Parallel()
	rt, clock := newToy(""), new(ticker)
	f, err := rt.make(beginners(rt, clock)["sound"])(budget.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	findings := strategytest.Check(t.Context(), f, strategytest.Config{
		Now: clock.now, Limits: budget.Limits{Time: 20 * time.Microsecond},
	})
	i := slices.IndexFunc(findings, func(f strategytest.Finding) bool { return f.ID == "time-choose" })
	if i < 0 || findings[i].Level != strategytest.Warning || !strings.Contains(findings[i].What, "allowed 20µs") {
		t.Errorf("findings %v, want a warning that 12µs is more than half of 20µs", findings)
	}
}

// A cancelled check reports the cancellation and does not blame the strategy.
func TestCheckStops(t *testing.T) {
	t.Parallel()
	why := errors.New("the user pressed Ctrl-C")
	for stopAt := 0; stopAt < 400; stopAt += 57 {
		ctx, cancel := context.WithCancelCause(t.Context())
		calls := 0
		f, err := newToy("").make(hooks{choose: func(v *vm) any {
			if calls++; calls > stopAt {
				cancel(why)
				v.step() // notices
			}
			return "even"
		}})(budget.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var bad []strategytest.Finding
		for _, f := range strategytest.Check(ctx, f, strategytest.Config{}) {
			if f.Level > strategytest.Info {
				bad = append(bad, f)
			}
		}
		if len(bad) != 1 || bad[0].ID != "stopped" || !strings.Contains(bad[0].What, why.Error()) {
			t.Errorf("stopped in call %d: %v, want one finding that names %q", stopAt+1, bad, why)
		}
		cancel(nil)
	}
}

// A factory that keeps neither half of its promise.
type noSeat struct{ strategies.Factory }

func (noSeat) Info() strategies.Info { return strategies.Info{Name: "no-seat"} }
func (noSeat) New(context.Context, strategies.Setup) (strategies.Strategy, error) {
	return nil, nil
}

func TestCheckOfNoSeat(t *testing.T) {
	t.Parallel()
	findings := strategytest.Check(t.Context(), noSeat{}, strategytest.Config{})
	if len(findings) != 1 || findings[0].Level != strategytest.Error || findings[0].Where != "no-seat" {
		t.Errorf("findings %v, want one error at no-seat", findings)
	}
}
