package cluster_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/cluster"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// nothing is a driver that plays nothing: it copies seats and draws.
type nothing struct{ leagues []results.League }

func (n nothing) Block() int                                            { return 1 }
func (n nothing) NewWorker(context.Context) (experiments.Worker, error) { return n, nil }
func (n nothing) Close() error                                          { return nil }

func (n nothing) Play(_ context.Context, first int, out []results.League, _ []bool) error {
	for i := range out {
		l := n.leagues[first+i]
		out[i].Index, out[i].Seats, out[i].Matches = l.Index, append(out[i].Seats[:0], l.Seats...), append(out[i].Matches[:0], l.Matches...)
	}
	return nil
}

// single is a coordinator with one league in each chunk.
type single struct {
	*cluster.Coordinator
	chunks int
}

func (s single) Next(int) (leagues, chunks int) { return 1, s.chunks }

// BenchmarkCoordinator has 200 workers that answer at once: how many chunks a second one
// coordinator takes, and what a chunk costs the broker. Coordinator, broker and workers
// share this process.
func BenchmarkCoordinator(b *testing.B) {
	for _, file := range []bool{false, true} {
		for _, workers := range []int{1, 200} {
			b.Run(fmt.Sprintf("file=%v/workers=%d", file, workers), func(b *testing.B) { benchmarkCoordinator(b, file, workers) })
		}
	}
}

func benchmarkCoordinator(b *testing.B, file bool, workers int) {
	plan := planOf(b.N)
	plan.Legs = 2
	var played nothing
	draw, err := game.ParseDraw(plan.Draw)
	if err != nil {
		b.Fatal(err)
	}
	var words game.DrawStream
	for index := range plan.Runs {
		l := results.League{Index: index, Seats: game.Seats(plan.Seed, index, len(plan.Field)), Matches: make([]results.Match, 6)}
		words.Reset(plan.Seed, index)
		for i := range l.Matches {
			l.Matches[i] = results.Match{A: game.Side{Choice: game.Even}, B: game.Side{Choice: game.Odd}, Number: int32(draw.Pick(words.Next()))}
		}
		played.leagues = append(played.leagues, l)
	}
	config := cluster.BrokerConfig{}
	if file {
		config.Dir = b.TempDir()
	}
	br := startBroker(b, config)
	for range workers {
		serve(b, b.Context(), br.URL(), func(c *cluster.ServeConfig) {
			c.Open = func(context.Context, cluster.Job, func(string) ([]byte, error)) (experiments.Driver, func() error, error) {
				return played, func() error { return nil }, nil
			}
		})
	}
	c, err := link(b, cluster.Config{URL: br.URL(), Memory: !file, AckWait: cluster.DefaultAckWait}).Coordinate(b.Context(), cluster.RunConfig{Plan: plan, Version: "test"})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	before, bytes, err := br.Traffic()
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	out, err := experiments.Run(b.Context(), plan, single{c, 2*workers + 2}, experiments.Tee(), experiments.Config{Workers: 2*workers + 2})
	b.StopTimer()
	if err != nil || out.Leagues != plan.Runs {
		b.Fatalf("%+v, %v", out, err)
	}
	after, later, err := br.Traffic()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "chunks/s")
	b.ReportMetric(float64(after-before)/float64(b.N), "messages/chunk")
	b.ReportMetric(float64(later-bytes)/float64(b.N), "bytes/chunk")
}
