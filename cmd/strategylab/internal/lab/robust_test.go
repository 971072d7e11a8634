package lab

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/robust"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// Fields without some strategies are put together from pairs. Here such fields are
// really played, with other seeds.
func TestReducedFieldsScoreAsPlayed(t *testing.T) {
	names := []string{"always-even", "always-odd", "alternate", "copy-last", "opposite-last", "frequency", "markov-1", "markov-2", "random", "biased"}
	whole := playBuiltins(t, 1, names)
	r := robust.Of(&whole, 1)
	if len(r.Families) == 0 {
		t.Fatal("no family of strategies that play alike")
	}
	moved := 0.0 // the most that leaving strategies out changes anything
	for k, reduced := range append(slices.Clone(r.Without[len(r.Without)-len(r.Families):]), r.Without[0]) {
		var rest []string
		var fields []int // field indices in the whole field
		for i, name := range names {
			if !slices.Contains(reduced.Out, i) {
				rest, fields = append(rest, name), append(fields, i)
			}
		}
		played := playBuiltins(t, uint64(k)+2, rest)
		for i, p := range played.Players {
			said := reduced.Points[fields[i]]
			tolerance := 2 * p.Adjusted.Width() // four half-widths: both numbers have an error
			if math.Abs(p.Adjusted.Estimate-said) > tolerance {
				t.Errorf("without %v %s scored %.4f ± %.4f, put together %.4f", whole.Names(reduced.Out), p.Name, p.Adjusted.Estimate, p.Adjusted.Width()/2, said)
			}
			moved = max(moved, math.Abs(whole.Players[fields[i]].Adjusted.Estimate-said)/tolerance)
		}
		first := played.Order[0]
		if lead := reduced.Points[reduced.First] - reduced.Points[fields[first]]; lead > 2*played.Players[first].Adjusted.Width() {
			t.Errorf("without %v %s came first, put together %s", whole.Names(reduced.Out), rest[first], names[reduced.First])
		}
	}
	if moved < 3 {
		t.Errorf("leaving strategies out moves no points by more than %.1f tolerances, so this test cannot fail", moved)
	}
}

func playBuiltins(t *testing.T, seed uint64, names []string) analysis.Estimates {
	t.Helper()
	plan := results.Plan{Schema: results.PlanSchema, Runs: 200, Legs: 10, Seed: seed, Draw: "uniform:1-10", Transport: "direct"}
	var factories []strategies.Factory
	for _, name := range names {
		f, ok := builtin.Find(name)
		if !ok {
			t.Fatalf("no built-in strategy %q", name)
		}
		factories = append(factories, f)
		plan.Field = append(plan.Field, results.Entrant{Name: name, Kind: "builtin", Ref: name, Fingerprint: f.Info().Fingerprint})
	}
	e, err := PlayInMemory(context.Background(), plan, factories, analysis.DefaultLevel)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
