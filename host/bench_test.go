package host_test

import (
	"testing"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// BenchmarkLeague plays one league of four players and one leg, from
// registration to completion, on one goroutine's worth of work.
func BenchmarkLeague(b *testing.B) {
	for _, transport := range []string{"loopback", "http"} {
		b.Run(transport, func(b *testing.B) {
			plan := results.Plan{Schema: results.PlanSchema, Runs: 1, Legs: 1, Seed: 1, Draw: "uniform:1-10", Transport: transport}
			var factories []strategies.Factory
			for _, name := range []string{"random", "markov-1", "role", "frequency"} {
				f, _ := builtin.Find(name)
				plan.Field = append(plan.Field, results.Entrant{Name: name})
				factories = append(factories, f)
			}
			d, err := host.NewDriver(plan, factories)
			if err != nil {
				b.Fatal(err)
			}
			w, err := d.NewWorker(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close()
			out := make([]results.League, 1)
			for b.Loop() {
				if err := w.Play(b.Context(), 0, out, make([]bool, 4)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(d.Messages())/float64(b.N), "messages/op")
		})
	}
}
