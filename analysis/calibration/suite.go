package calibration

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/results"
)

// Suite is a set of measurements.
type Suite struct {
	Players       []int // sizes of fields; 2 or more each
	Legs, Leagues int   // of every experiment
}

// edgePlayers is the size of the field for measuring power: one player with an edge
// against seven equal ones.
const edgePlayers = 8

// Fields lists the fields of a suite: for two players their chance of differing from
// 0.1 to 0.9; for more, all equal, all unlike, for eight also one with an edge; and one
// with rare events.
func (s Suite) Fields() []Field {
	var list []Field
	for _, n := range s.Players {
		if n == 2 {
			for _, p := range []float64{0.1, 0.3, 0.5, 0.7, 0.9} {
				list = append(list, Pair(p, 0, s.Legs, s.Leagues))
			}
			list = append(list, Pair(0.5, 0.3, s.Legs, s.Leagues))
			continue
		}
		list = append(list, Equal(n, s.Legs, s.Leagues), Mixed(n, s.Legs, s.Leagues))
		if n != edgePlayers {
			continue
		}
		for _, e := range []float64{0.02, 0.05, 0.10} {
			f := Edge(n, s.Legs, s.Leagues, e)
			if e >= 0.10 && s.Legs >= 10 && s.Leagues >= 200 {
				f.Found = 0.95
			}
			list = append(list, f)
		}
	}
	if slices.ContainsFunc(s.Players, func(n int) bool { return n > 2 }) {
		list = append(list, Rare(s.Legs, s.Leagues))
	}
	return list
}

// Experiments for the comparison of raw and adjusted points.
const (
	adjustedLeagues   = 1000
	rawLeagues        = 15_000
	narrowRepetitions = 4
)

// MeasureNarrowing compares the intervals of adjusted points after 1,000 leagues with
// those of raw points after 15,000, among n players that all toss coins: the adjusted
// ones should be no wider.
func MeasureNarrowing(ctx context.Context, n, legs int, play Play, opts Options) (Row, error) {
	f := Equal(n, legs, rawLeagues)
	opts.Repetitions = narrowRepetitions
	opts.Level = cmp.Or(opts.Level, analysis.DefaultLevel)
	r := newRow(f, fmt.Sprintf("width, adjusted after %d leagues to raw after %d", adjustedLeagues, rawLeagues), opts)
	r.AtMost, r.Nominal, r.Error = 1, 1, analysis.Number(math.NaN())
	var adjusted, raw float64
	for rep := range opts.Repetitions {
		plan := f.Plan(opts.Seed + uint64(rep))
		acc, err := analysis.NewAccumulator(plan)
		if err != nil {
			return r, err
		}
		err = play(ctx, plan, f.Players, func(l *results.League) error {
			if err := acc.Add(*l); err != nil {
				return err
			}
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
