package analysis

import "slices"

// Measure says which points [Accumulator.Compare] uses.
type Measure uint8

// Strategies are compared on adjusted points; R checks the method on raw points too.
const (
	AdjustedPoints Measure = iota
	RawPoints
)

// Compare compares every player with every other by the paired t test, adjusted by
// Holm's method for one direction of all pairs.
func (a *Accumulator) Compare(m Measure, level float64) []Comparison {
	if m == RawPoints {
		a = a.withRaw()
	}
	list := a.differences(a.order(), newIntervals(level))
	p := make([]float64, len(list))
	for k := range list {
		p[k] = list[k].P
	}
	for k, corrected := range Holm(p) {
		list[k].Corrected, list[k].Holm = corrected, corrected
		if list[k].Verdict != Equal && corrected <= 1-level {
			list[k].Verdict = Different
		}
	}
	return list
}

// withRaw returns an accumulator whose adjusted points are the raw ones.
func (a *Accumulator) withRaw() *Accumulator {
	raw, l := *a, *a.layout
	l.unit, l.even = 1, 1
	raw.layout, raw.adj, raw.technical = &l, a.raw, true // so that the range is that of raw points
	raw.players = slices.Clone(a.players)
	for i := range raw.players {
		raw.players[i].adj = raw.players[i].raw
	}
	return &raw
}

// Skewness is the squared skewness of a player's adjusted points over the number of
// leagues.
func (a *Accumulator) Skewness(player int) float64 { return a.skewness(player) }

// StandardError is that of the mean.
func (s Sample) StandardError() float64 { return s.standardError() }

// SignTest makes signTest testable.
var SignTest = signTest
