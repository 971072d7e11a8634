package experiments_test

import (
	"testing"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// BenchmarkRun measures what a league costs besides its play: the smallest
// league there is, so that nothing hides behind matches.
func BenchmarkRun(b *testing.B) {
	for _, size := range []struct {
		name          string
		players, legs int
	}{{"2 players, 1 leg", 2, 1}, {"7 players, 10 legs", 7, 10}} {
		b.Run(size.name, func(b *testing.B) {
			plan, field := planOf(size.players, size.legs, 20_000/(size.players*size.legs)), builtin.All()[:size.players]
			a, err := arena.New(plan, field, arena.Config{})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := experiments.Run(b.Context(), plan, a, &plainSink{}, experiments.Config{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*plan.Runs), "ns/league")
		})
	}
}
