package host_test

import (
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/mcptools"
)

// BenchmarkLeagueBesideMCP plays the same league of four players over HTTP with
// and without its messages offered as tools on the same endpoints, in turn, and
// states by how much the offer slows it down: nobody uses it, but every message
// is looked at to see whose it is. The median of the pairs' ratios counts, since
// whatever else the machine does hits single leagues.
func BenchmarkLeagueBesideMCP(b *testing.B) {
	percent := debug.SetGCPercent(400)
	b.Cleanup(func() { debug.SetGCPercent(percent) })
	sockets := host.NewSockets()
	b.Cleanup(func() { _ = sockets.Close() })
	const legs = 50
	play := func(offer *mcptools.Config) time.Duration {
		begun := time.Now()
		played, err := openLeague(b, sockets, legs, offer).Play(b.Context())
		if err != nil || len(played.Matches) != 6*legs {
			b.Fatal(err)
		}
		return time.Since(begun)
	}
	play(nil) // open connections and warm caches
	var alone, shared time.Duration
	var ratios []float64
	for n := 0; b.Loop(); n++ {
		var a, s time.Duration
		if n%2 == 0 {
			a, s = play(nil), play(new(mcptools.Config))
		} else {
			s, a = play(new(mcptools.Config)), play(nil)
		}
		alone, shared = alone+a, shared+s
		ratios = append(ratios, float64(s)/float64(a))
	}
	slices.Sort(ratios)
	b.ReportMetric(float64(6*legs*b.N)/alone.Seconds(), "matches/s-alone")
	b.ReportMetric(float64(6*legs*b.N)/shared.Seconds(), "matches/s-shared")
	b.ReportMetric(ratios[len(ratios)/2], "ratio-median")
	b.ReportMetric(shared.Seconds()/alone.Seconds(), "ratio-mean")
}
