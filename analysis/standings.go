package analysis

import (
	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/host/game"
)

// Standing is what one player has done so far in a run that is still being played.
type Standing struct {
	Field            int // field index
	Points, Adjusted Estimate
	Differ           Estimate
	TechnicalLosses  int64
}

// Standings are a part of [Accumulator.Estimates] that takes microseconds: neither a
// ranking nor anything that is resampled or simulated. The first has the most adjusted
// points. With a tracker, which must have been given the same leagues, the intervals of
// adjusted points are the tracker's and hold however often somebody looks; else they are
// for a fixed number of leagues, and only show how precise the numbers are.
func (a *Accumulator) Standings(level float64, t *sequential.Tracker) []Standing {
	c := newIntervals(level)
	list := make([]Standing, 0, len(a.players))
	for _, i := range a.order() {
		p := &a.players[i]
		s := Standing{
			Field: i, TechnicalLosses: p.technical,
			Points:   c.of(a.rawSample(i), span{0, game.WinPoints}),
			Adjusted: c.of(a.adjSample(i), a.adjustedPoints(a.technical)),
			Differ:   c.of(p.differ.sample(), span{0, 1}),
		}
		if t != nil {
			s.Adjusted = c.tracked(t, i)
		}
		list = append(list, s)
	}
	return list
}
