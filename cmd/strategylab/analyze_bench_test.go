package main

import (
	"fmt"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"path/filepath"
	"testing"
)

// BenchmarkAnalyze analyses a folder of 18 players and 10 legs, as the command does
// from the first byte read to the last printed. 20,000 leagues are to take less than
// 5 s and 200 MB.
func BenchmarkAnalyze(b *testing.B) {
	for _, leagues := range []int{1000, 20_000} {
		b.Run(fmt.Sprintf("leagues=%d", leagues), func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "run")
			line := func(args ...string) {
				b.Helper()
				if code, _, stderr := inside(b.Context(), command.Process{}, args...); code != exitOK {
					b.Fatalf("%q ended with %d: %s", args, code, stderr)
				}
			}
			// Playing looks at the clock, so it is a process of its own.
			play := commandLine(b.Context(), b.TempDir(), "experiment", "--runs", fmt.Sprint(leagues), "--seed", "1",
				"--field", "random*18", "--no-report", "--out", dir)
			if out, err := play.CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			b.ReportAllocs()
			for b.Loop() {
				line("analyze", dir)
			}
			matches := float64(b.N) * float64(leagues) * 1530
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/matches, "ns/match")
		})
	}
}
