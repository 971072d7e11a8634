package main

import (
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// BenchmarkExperiment plays and counts leagues of 10 legs as "experiment"
// does, without its files: among eight built-in strategies, and among them
// with the eight example scripts.
func BenchmarkExperiment(b *testing.B) {
	const builtins = "random,alternate,copy-last,frequency,markov-1,markov-2,role,stay-or-flip"
	for _, bb := range []struct{ name, field string }{
		{"builtins", builtins},
		{"with-scripts", builtins + ",council,drift,pairwise,settle,bandit,echo,ledger,rhythm"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			cat, err := catalog.Load(b.Context(), catalog.Config{Scripts: "../../scripts", RequireScripts: true})
			if err != nil {
				b.Fatal(err)
			}
			defer cat.Close()
			refs, err := catalog.ParseRefs(bb.field)
			if err != nil {
				b.Fatal(err)
			}
			field, err := cat.Field(b.Context(), refs)
			if err != nil {
				b.Fatal(err)
			}
			plan := results.Plan{Schema: results.PlanSchema, Runs: b.N, Legs: 10, Seed: 1, Draw: "uniform:1-10", Transport: "direct"}
			var factories []strategies.Factory
			for _, p := range field.Players {
				plan.Field = append(plan.Field, results.Entrant{Name: p.Name})
				factories = append(factories, p.Factory)
			}
			acc, err := analysis.NewAccumulator(plan)
			if err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			if err := new(lab.Session).PlayUnrecorded(b.Context(), plan, factories, func(l *results.League) error { return acc.Add(*l) }); err != nil {
				b.Fatal(err)
			}
			matches := float64(len(factories)*(len(factories)-1)/2*10) * float64(b.N)
			b.ReportMetric(matches/b.Elapsed().Seconds(), "matches/s")
		})
	}
}
