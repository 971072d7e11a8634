package calibration

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/strategylab/strategylab/analysis"
)

// Experiments for the comparison of raw and adjusted points.
const (
	adjustedLeagues   = 1000
	rawLeagues        = 15_000
	narrowRepetitions = 4
)

// measureNarrowing compares the intervals of adjusted points after 1,000 leagues with
// those of raw points after 15,000, among n players that all toss coins: the adjusted
// ones should be no wider.
func measureNarrowing(ctx context.Context, n, legs int, opts Options) (Row, error) {
	f := Equal(n, legs, rawLeagues)
	opts.Repetitions = narrowRepetitions
	opts.Level = cmp.Or(opts.Level, analysis.DefaultLevel)
	r := newRow(f, fmt.Sprintf("width, adjusted after %d leagues to raw after %d", adjustedLeagues, rawLeagues), opts)
	r.AtMost, r.Nominal, r.Error = 1, 1, analysis.Number(math.NaN())
	var adjusted, raw float64
	for rep := range opts.Repetitions {
		acc, err := opts.experiment(ctx, f, rep, func(acc *analysis.Accumulator) error {
			if acc.Leagues() == adjustedLeagues {
				adjusted += meanWidth(acc, opts.Level, func(p *analysis.Player) analysis.Estimate { return p.Adjusted })
			}
			return nil
		})
		if err != nil {
			return r, fmt.Errorf("calibrate %s, 15,000 leagues: %w", f.Name, err)
		}
		raw += meanWidth(acc, opts.Level, func(p *analysis.Player) analysis.Estimate { return p.Points })
	}
	r.Measured = analysis.Number(adjusted / raw)
	return r, nil
}

func meanWidth(acc *analysis.Accumulator, level float64, of func(*analysis.Player) analysis.Estimate) float64 {
	sum := 0.0
	e := acc.Estimates(level)
	for i := range e.Players {
		sum += of(&e.Players[i]).Width() / float64(len(e.Players))
	}
	return sum
}
