package arena_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// talker says what it is asked and fails in one match.
type talker struct{ strategies.Factory }

func (f talker) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	seat, err := f.Factory.New(ctx, s)
	return talking{seat, s}, err
}

type talking struct {
	strategies.Strategy
	setup strategies.Setup
}

func (s talking) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	s.setup.Log.Info("asked in " + t.MatchID)
	if t.Round == 2 {
		return 0, fmt.Errorf("no idea")
	}
	return s.Strategy.Choose(ctx, t)
}

// The steps of a player have its matches in order, with what it said in each, and add up.
func TestFollow(t *testing.T) {
	t.Parallel()
	plan := results.Plan{Schema: results.PlanSchema, Runs: 5, Legs: 4, Seed: 7, Draw: game.FairDraw().String(), Transport: "direct"}
	var field []strategies.Factory
	for i, name := range []string{"always-odd", "always-even", "random"} {
		f, ok := builtin.Find(name)
		if !ok {
			t.Fatalf("no built-in strategy %s", name)
		}
		if i == 0 {
			f = talker{f}
		}
		field = append(field, f)
		plan.Field = append(plan.Field, results.Entrant{Name: name, Kind: "builtin"})
	}
	for league := range plan.Runs {
		steps, err := arena.Follow(t.Context(), plan, field, league, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(steps) != 2*plan.Legs {
			t.Fatalf("%d steps, want %d", len(steps), 2*plan.Legs)
		}
		total := 0
		for _, s := range steps {
			total += s.Points
			said := strings.Join(s.Said, "; ")
			switch failed := s.Mine.Fault != game.NoFault; {
			case s.Total != total || s.Place < 1 || s.Place > 3:
				t.Errorf("%s: place %d with %d points, want %d", s.Match.ID, s.Place, s.Total, total)
			case failed != (s.Match.Round == 2) || failed != strings.Contains(said, "no idea"):
				t.Errorf("%s failed: %v, and said %q", s.Match.ID, failed, said)
			case !strings.HasPrefix(said, "asked in "+s.Match.ID):
				t.Errorf("in %s it said %q", s.Match.ID, said)
			case !failed && (s.Mine.Choice != game.Odd || s.Opponent == 1 && s.Theirs.Choice != game.Even):
				t.Errorf("%s: %v against %v", s.Match.ID, s.Mine, s.Theirs)
			case s.Number == results.NoNumber != failed:
				t.Errorf("%s: the number is %d", s.Match.ID, s.Number)
			}
		}
	}
}
