package plugins_test

import (
	"testing"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// nobody takes the leagues of a run.
type nobody struct{}

func (nobody) Append(*results.League) error { return nil }

func plan(runs, legs int, factories []strategies.Factory) results.Plan {
	p := results.Plan{Schema: results.PlanSchema, Runs: runs, Legs: legs, Seed: 11, Draw: "uniform:1-10", Transport: "direct"}
	for i := range factories {
		p.Field = append(p.Field, results.Entrant{Name: string(rune('a' + i))})
	}
	return p
}

// played plays an experiment and returns what came of it.
func played(tb testing.TB, p results.Plan, factories []strategies.Factory, o arena.Config, to experiments.Sink) experiments.Outcome {
	tb.Helper()
	a, err := arena.New(p, factories, o)
	if err != nil {
		tb.Fatal(err)
	}
	out, err := experiments.Run(tb.Context(), p, a, to, experiments.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}
