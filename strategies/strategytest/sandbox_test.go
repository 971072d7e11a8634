package strategytest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

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
