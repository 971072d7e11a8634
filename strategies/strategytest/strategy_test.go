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

// found runs Check over one of the beginners, in a bubble so that endless loops cost no time.
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
		must(t, err)
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
		must(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; rewrite with -update):\n%s", path, diff)
	}
}

// A cancelled check reports the cancellation and does not blame the strategy.
func TestCheckStops(t *testing.T) {
	t.Parallel()
	why := errors.New("the user pressed Ctrl-C")
	for stopAt := 0; stopAt < 400; stopAt += 57 {
		ctx, cancel := context.WithCancelCause(t.Context())
		calls := 0
		f := native(func(ctx context.Context, _ *strategies.Turn) (strategies.Choice, error) {
			if calls++; calls > stopAt {
				cancel(why)
			}
			return strategies.Even, ctx.Err() // notices
		})
		found := slices.DeleteFunc(strategytest.Check(ctx, f, strategytest.Config{}), func(f strategytest.Finding) bool { return f.Level <= strategytest.Info })
		if len(found) != 1 || found[0].ID != "stopped" || !strings.Contains(found[0].What, why.Error()) {
			t.Errorf("stopped in call %d: %v, want one finding that names %q", stopAt+1, found, why)
		}
		cancel(nil)
	}
}

// native is a strategy in Go that is one function.
type native func(ctx context.Context, t *strategies.Turn) (strategies.Choice, error)

func (native) Info() strategies.Info { return strategies.Info{Name: "native"} }
func (f native) New(context.Context, strategies.Setup) (strategies.Strategy, error) {
	return f, nil
}
func (f native) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	return f(ctx, t)
}
func (native) Observe(context.Context, *strategies.Outcome) error { return nil }
func (native) Close() error                                       { return nil }

func answers(c strategies.Choice, err error) native {
	return func(context.Context, *strategies.Turn) (strategies.Choice, error) { return c, err }
}

func TestCheckIsolated(t *testing.T) {
	t.Parallel()
	once := func(c strategies.Choice) native {
		return func(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
			if t.MatchID == "R1M1" || t.MatchID == "R1M2" || t.MatchID == "R1M3" {
				return c, nil
			}
			return strategies.Odd, nil
		}
	}
	for name, tc := range map[string]struct {
		here, there native
		level       strategytest.Level
		what        string
	}{
		"the same":         {once(strategies.Even), once(strategies.Even), strategytest.OK, "the same choices in a process of its own, in 50 matches"},
		"another way":      {once(strategies.Even), once(0.5), strategytest.Error, "it answered even here, 0.5 there"},
		"fails there":      {answers(1, nil), answers(1, strategies.ErrCrashed), strategytest.Error, "choose fails: process exited"},
		"fails everywhere": {answers(1, strategies.ErrBudget), answers(1, strategies.ErrBudget), strategytest.Info, "fails in the same way"},
	} {
		got := strategytest.CheckIsolated(t.Context(), tc.here, tc.there, strategytest.Config{})
		if got.Level != tc.level || !strings.Contains(got.What, tc.what) {
			t.Errorf("%s: %v, want %v: %q", name, got, tc.level, tc.what)
		}
	}
}

// What a seat keeps is told as a share of what it may keep.
func TestCheckOfMemory(t *testing.T) {
	t.Parallel()
	for kept, want := range map[uint64]strategytest.Level{0: strategytest.OK, 1 << 20: strategytest.OK, 100 << 20: strategytest.Warning} {
		held := uint64(50 << 20)
		memory := func() uint64 { held += kept; return held }
		findings := strategytest.Check(t.Context(), answers(1, nil), strategytest.Config{Memory: memory})
		i := slices.IndexFunc(findings, func(f strategytest.Finding) bool { return f.ID == "memory" })
		if i < 0 || findings[i].Level != want || findings[i].Share*budget.Memory != float64(kept) {
			t.Errorf("of %d bytes kept it finds %v", kept, findings)
		}
	}
}

// A script that fills its memory would end a process in each league.
func TestCheckEndsWithTheProcess(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lives            func(*strategies.Turn) bool
		failing, skipped string
	}{
		"at once":          {func(*strategies.Turn) bool { return false }, "league", "technical, two-players, byes, draws, long, foreign, untold, out-of-order"},
		"in a long league": {func(t *strategies.Turn) bool { return t.Round < 100 }, "long", "foreign, untold, out-of-order"},
	} {
		deaths := 0
		findings := strategytest.Check(t.Context(), native(func(_ context.Context, turn *strategies.Turn) (strategies.Choice, error) {
			if tc.lives(turn) {
				return strategies.Even, nil
			}
			deaths++
			return 0, strategies.ErrCrashed
		}), strategytest.Config{})
		failed := slices.IndexFunc(findings, func(f strategytest.Finding) bool { return f.Level == strategytest.Error })
		left := slices.IndexFunc(findings, func(f strategytest.Finding) bool { return f.ID == "unplayed" })
		if deaths != 1 || failed < 0 || findings[failed].ID != tc.failing || left < 0 || !strings.HasSuffix(findings[left].What, ": "+tc.skipped) {
			t.Errorf("%s: %d deaths, findings %v, want a failure in %q and %s unplayed", name, deaths, findings, tc.failing, tc.skipped)
		}
	}
}

// TestTimeIsUp: what has been seen counts, what was left out is named, and that the check
// ended is nobody's fault.
func TestTimeIsUp(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ends    int // the choice at which time is up
		fails   int // and the one that fails
		ready   bool
		has     string // in what was found
		left    string // the first that was left out
		steps   int    // that were shown
		verdict string
	}{
		{ends: 20, ready: true, has: "completes a league of six players: the first 19 of 50 matches without a fault",
			left: "completes a league of six players", steps: 1, verdict: "No problem found in the time of the check; not everything was checked."},
		{ends: 20, fails: 7, has: "choose fails in match R7M1: boom; it loses the match", left: "completes a league of six players", steps: 1,
			verdict: "Not ready: 1 problem to fix first."},
		{ends: 70, ready: true, has: "completes a league of six players: 50 matches without a fault", left: "equal seeds give equal choices", steps: 2,
			verdict: "No problem found in the time of the check; not everything was checked."},
		{ends: 1e9, ready: true, has: "handles missing outcomes", steps: 12, verdict: "Ready: all checks passed."},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		n := 0
		f := native(func(context.Context, *strategies.Turn) (strategies.Choice, error) {
			if n++; n == tt.ends {
				cancel(strategytest.ErrTime)
			}
			if n == tt.fails {
				return 0, errors.New("boom")
			}
			return strategies.Even, nil
		})
		var shown []string
		steps := &strategytest.Steps{Show: func(step string) { shown = append(shown, step) }}
		found := strategytest.Check(ctx, f, strategytest.Config{Seed: 1, Steps: steps})
		left := steps.Findings(10 * time.Second)
		found = append(found, left...)
		cancel(nil)
		if !slices.ContainsFunc(found, func(f strategytest.Finding) bool { return strings.Contains(f.What, tt.has) }) {
			t.Errorf("ended at %d: found %v, want %q", tt.ends, found, tt.has)
		}
		if ready := strategytest.Worst(found) < strategytest.Error; ready != tt.ready || strategytest.Verdict(found) != tt.verdict || len(shown) != tt.steps {
			t.Errorf("ended at %d: %s, ready %v, steps %q", tt.ends, strategytest.Verdict(found), ready, shown)
		}
		if want := "the check ended after 10s; left out for lack of time: " + tt.left; tt.left == "" && left != nil ||
			tt.left != "" && (len(left) != 1 || !strings.HasPrefix(left[0].What, want) || !strings.HasSuffix(left[0].What, "out of order")) {
			t.Errorf("ended at %d: left out %v, want %s", tt.ends, left, want)
		}
	}
}

// TestUrgent: a slip stands before what fails in its line, however doubtful it is.
func TestUrgent(t *testing.T) {
	t.Parallel()
	f := func(id string, level strategytest.Level, where string) strategytest.Finding {
		return strategytest.Finding{ID: id, Level: level, Where: where}
	}
	var got []string
	for _, f := range strategytest.Urgent([]strategytest.Finding{
		f("seeded", strategytest.Info, ""), f("slip", strategytest.Warning, "x.js:3"), f("slip", strategytest.Warning, "x.js:9"),
		f("league", strategytest.Error, "x.js:3"), f("two", strategytest.OK, ""), f("far", strategytest.Error, "x.js:5"),
	}) {
		got = append(got, f.ID+f.Where)
	}
	if want := []string{"slipx.js:3", "leaguex.js:3", "farx.js:5", "slipx.js:9", "seeded", "two"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// must ends a test at the first of some errors.
func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
