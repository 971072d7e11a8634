package isolate_test

import (
	"runtime/debug"
	"testing"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// BenchmarkExperiment plays a thousand leagues among the example scripts, in
// process and isolated, with the heap tuned as the command tunes it.
func BenchmarkExperiment(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(1600))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(192 << 20))
	inside := load(b, catalog.Formats(), examples...)
	outside := load(b, formats(plugins.Config{}), examples...)
	p := plan(1000, 10, inside)
	var seconds [2]float64
	for b.Loop() {
		before := b.Elapsed()
		played(b, p, inside)
		middle := b.Elapsed()
		played(b, p, outside)
		seconds[0] += (middle - before).Seconds()
		seconds[1] += (b.Elapsed() - middle).Seconds()
	}
	b.ReportMetric(seconds[0]/float64(b.N), "s/in-process")
	b.ReportMetric(seconds[1]/float64(b.N), "s/isolated")
	b.ReportMetric(seconds[1]/seconds[0], "times-as-long")
}
