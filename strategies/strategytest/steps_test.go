package strategytest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// counting is a strategy whose n-th choice calls at.
type counting struct {
	strategies.Factory
	n  int
	at func(n int) error
}

func (f *counting) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	made, err := f.Factory.New(ctx, s)
	return &countingSeat{made, f}, err
}

type countingSeat struct {
	strategies.Strategy
	of *counting
}

func (s *countingSeat) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	s.of.n++
	if err := s.of.at(s.of.n); err != nil {
		return 0, err
	}
	return s.Strategy.Choose(ctx, t)
}

// TestTimeIsUp: what has been seen counts, what was left out is named, and that the check
// ended is nobody's fault.
func TestTimeIsUp(t *testing.T) {
	t.Parallel()
	random, _ := builtin.Find("random")
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
		f := &counting{Factory: random, at: func(n int) error {
			if n == tt.ends {
				cancel(strategytest.ErrTime)
			}
			if n == tt.fails {
				return fmt.Errorf("boom")
			}
			return nil
		}}
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
