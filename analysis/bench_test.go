package analysis_test

import (
	"fmt"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/game"
)

// benchWorld is a field of n players, every third of which sometimes fails.
func benchWorld(b *testing.B, n, legs int, fault float64) *world {
	bots := make([]bot, n)
	for i := range bots {
		bots[i] = bot{even: 0.5, mood: 0.1}
		if i%3 == 0 {
			bots[i].fault, bots[i].kind = fault, game.FaultError
		}
	}
	return newWorld(b, "", legs, bots...)
}

// BenchmarkAdd gives the cost of taking in one league, and of one match in it.
func BenchmarkAdd(b *testing.B) {
	for _, size := range []struct {
		players, legs int
		fault         float64
	}{{2, 10, 0}, {8, 10, 0}, {18, 1, 0}, {18, 10, 0}, {18, 10, 0.01}, {100, 10, 0}} {
		b.Run(fmt.Sprintf("players=%d/legs=%d/faults=%v", size.players, size.legs, size.fault), func(b *testing.B) {
			w := benchWorld(b, size.players, size.legs, size.fault)
			leagues := w.leagues(1, 32)
			acc := analyse(b, w.plan, leagues[:1])
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; b.Loop(); i++ {
				if err := acc.Add(leagues[i%len(leagues)]); err != nil {
					b.Fatal(err)
				}
			}
			matches := float64(b.N) * float64(len(w.schedule.Matches()))
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/matches, "ns/match")
		})
	}
}

// BenchmarkEstimates gives the cost of turning sums into numbers.
func BenchmarkEstimates(b *testing.B) {
	for _, players := range []int{4, 18, 100} {
		b.Run(fmt.Sprintf("players=%d", players), func(b *testing.B) {
			w := benchWorld(b, players, 10, 0)
			acc := analyse(b, w.plan, w.leagues(1, 32))
			for b.Loop() {
				acc.Estimates(analysis.DefaultLevel)
			}
		})
	}
}

// BenchmarkRanking gives the cost of comparing all with all, with leagues enough
// for the step-down procedure.
func BenchmarkRanking(b *testing.B) {
	for _, players := range []int{4, 18, 100} {
		b.Run(fmt.Sprintf("players=%d", players), func(b *testing.B) {
			w := benchWorld(b, players, 2, 0)
			acc := analyse(b, w.plan, w.leagues(1, 600))
			for b.Loop() {
				acc.Ranking(analysis.DefaultLevel)
			}
		})
	}
}
