package plugins_test

import (
	"context"
	"testing"
	"time"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// BenchmarkDecisions plays whole experiments among strategies in one plugin, and
// beside it has one seat of the same plugin make decisions one after another.
func BenchmarkDecisions(b *testing.B) {
	names := []string{"markov-1", "frequency", "alternate", "copy-last", "random", "stay-or-flip"}
	there := open(b, plugin(names...))
	const runs, legs = 4000, 10
	p := plan(runs, legs, there)
	a, err := arena.New(p, there, arena.Config{Block: 512})
	if err != nil {
		b.Fatal(err)
	}
	rate := func(f func() float64) float64 {
		start := b.Elapsed()
		n := f()
		return n / (b.Elapsed() - start).Seconds()
	}
	experiment := func() float64 {
		if _, err := experiments.Run(b.Context(), p, a, nobody{}, experiments.Config{}); err != nil {
			b.Fatal(err)
		}
		return float64(runs * legs * len(names) * (len(names) - 1))
	}
	var batched, single float64
	for b.Loop() {
		batched += rate(experiment)
		single += rate(func() float64 { return oneByOne(b, there[0]) })
	}
	b.ReportMetric(batched/float64(b.N), "decisions/s")
	b.ReportMetric(single/float64(b.N), "single/s")
	b.ReportMetric(batched/single, "ratio")
}

// oneByOne asks one seat for choices for a second, and returns how many it
// made.
func oneByOne(b *testing.B, f strategies.Factory) float64 {
	b.Helper()
	key := game.Key{1, 2}
	s, err := f.New(b.Context(), strategies.Setup{ID: "P01", Name: "P01", Field: []string{"P01", "P02"}, Key: key, Rand: game.NewRand(key)})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(b.Context(), time.Second)
	defer cancel()
	n := 0
	for ; ctx.Err() == nil; n++ {
		t := strategies.Turn{Match: uint64(n), MatchID: "R1M1", Round: 1, Opponent: "P02", Role: game.RoleA}
		if _, err := s.Choose(b.Context(), &t); err != nil {
			b.Fatal(err)
		}
	}
	return float64(n)
}
