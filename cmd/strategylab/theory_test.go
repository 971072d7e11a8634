package main

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// falseAlarm is the chance that a check of the theory fails though all is
// well. It is divided among all comparisons of the check (Bonferroni), and the
// seed is fixed, so the tests either always pass or have found something.
const falseAlarm = 1e-4

// theory plays every built-in, two of some, and the example scripts. Luck is what
// each player's raw points exceed its adjusted ones by, per match.
func theory(t *testing.T, runs int, draw string) (acc *analysis.Accumulator, luck []analysis.Sample) {
	t.Helper()
	cat, err := catalog.Load(t.Context(), catalog.Config{Scripts: "../../scripts", RequireScripts: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cat.Close() })
	field, err := cat.Field(t.Context(), nil)
	if err != nil || len(field.Warnings) > 0 {
		t.Fatalf("%v, warnings %q", err, field.Warnings)
	}
	twice, err := cat.Field(t.Context(), []catalog.Ref{{Target: "always-even", Copies: 2}, {Target: "role", Copies: 2}, {Target: "random", Copies: 2}})
	if err != nil {
		t.Fatal(err)
	}
	plan := results.Plan{Schema: results.PlanSchema, Runs: runs, Legs: 4, Seed: 20, Draw: draw, Transport: "direct"}
	var factories []strategies.Factory
	for _, p := range append(field.Players, twice.Players...) {
		plan.Field = append(plan.Field, results.Entrant{Name: p.Name, Kind: string(p.Info.Kind)})
		factories = append(factories, p.Factory)
	}
	acc, err = analysis.NewAccumulator(plan)
	if err != nil {
		t.Fatal(err)
	}
	scorer, err := analysis.NewScorer(plan)
	if err != nil {
		t.Fatal(err)
	}
	joints := make([]*analysis.Joint, len(plan.Field))
	for i := range joints {
		joints[i] = analysis.NewJoint(4)
	}
	err = lab.Session{}.PlayUnrecorded(t.Context(), plan, factories, func(l *results.League) error {
		if err := scorer.Score(l); err != nil {
			return err
		}
		for i, j := range joints {
			raw, matches := scorer.Value(analysis.Points, i)
			adjusted, units := scorer.Value(analysis.Adjusted, i)
			j.Add([]int64{raw, matches, adjusted, units})
		}
		return acc.Add(*l)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range joints {
		luck = append(luck, j.Combine(analysis.Term{Coefficient: big.NewRat(1, 1), Part: 0, Base: 1}, analysis.Term{Coefficient: big.NewRat(-1, 1), Part: 2, Base: 3}))
	}
	return acc, luck
}

// checkLuck fails for a player whose raw points exceed the adjusted ones, or fall
// short of them, on average. Nobody knows the draw, so nobody gains by it: the
// negative controls, who bet on it, as little as anybody.
func checkLuck(t *testing.T, est analysis.Estimates, luck []analysis.Sample) {
	t.Helper()
	bound := distuv.UnitNormal.Quantile(1 - falseAlarm/2/float64(len(luck)))
	for i, x := range luck {
		if z := x.Mean / math.Sqrt(x.Variance/float64(x.Leagues)); !(math.Abs(z) <= bound) {
			t.Errorf("%s: raw minus adjusted points are %.2f standard errors from zero, want at most %.2f", est.Players[i].Name, z, bound)
		}
	}
}

// The theory of the game, met in leagues that were really played.
func TestTheory(t *testing.T) {
	t.Parallel()
	notRaced(t, "it computes for long and shares nothing")
	acc, luck := theory(t, 40, game.FairDraw().String())
	est := acc.Estimates(analysis.DefaultLevel)
	wide := acc.Estimates(1 - falseAlarm/float64(len(est.Pairs)))
	checkLuck(t, est, luck)
	for _, p := range est.Players {
		if p.TechnicalLosses > 0 {
			t.Errorf("%s has %d technical losses: %+v", p.Name, p.TechnicalLosses, p.Faults)
		}
	}
	for i, pair := range est.Pairs {
		a, b := est.Players[pair.A].Name, est.Players[pair.B].Name
		// With a fair draw each expects 1 + p/2.
		if want := 1 + pair.Differ.Estimate/2; math.Abs(pair.AdjustedA-want) > 1e-12 || math.Abs(pair.AdjustedB-want) > 1e-12 {
			t.Errorf("%s against %s: adjusted %v and %v, want 1 + p/2 = %v", a, b, pair.AdjustedA, pair.AdjustedB, want)
		}
		if slices.Contains([]string{a, b}, "random") || slices.Contains([]string{a, b}, "random#1") {
			if d := wide.Pairs[i].Differ; d.Low > 0.5 || d.High < 0.5 {
				t.Errorf("%s against %s: P(differ) in [%.3f, %.3f], want 0.5 within", a, b, d.Low, d.High)
			}
		}
		exact := map[[2]string]float64{
			{"always-even", "always-odd"}: 1.5, {"always-even", "always-even#1"}: 1,
			{"always-even#1", "always-even#2"}: 1, {"role#1", "role#2"}: 1.5, {"role", "role#1"}: 1.5,
		}
		if want, ok := exact[[2]string{a, b}]; ok && (pair.AdjustedA != want || pair.AdjustedB != want) {
			t.Errorf("%s against %s: adjusted %v and %v, want exactly %v", a, b, pair.AdjustedA, pair.AdjustedB, want)
		}
	}
}

// Under a biased draw adjusting must still take out luck and nothing else.
func TestTheoryUnderABiasedDraw(t *testing.T) {
	t.Parallel()
	notRaced(t, "it computes for long and shares nothing")
	acc, luck := theory(t, 20, "weights:1=1,2=3")
	est := acc.Estimates(analysis.DefaultLevel)
	checkLuck(t, est, luck)
	for _, pair := range est.Pairs {
		a, b := est.Players[pair.A], est.Players[pair.B]
		if a.Name == "always-even" && b.Name == "always-odd" && (pair.AdjustedA != 2.25 || pair.AdjustedB != 0.75) {
			t.Errorf("always-even against always-odd with P(even) = 3/4: adjusted %v and %v, want exactly 2.25 and 0.75", pair.AdjustedA, pair.AdjustedB)
		}
	}
}
