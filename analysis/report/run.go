package report

import (
	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/results"
)

// Run is all that a report is made from.
type Run struct {
	Plan      results.Plan
	Estimates analysis.Estimates // of accumulators made for Plan
	Facts     Facts
}

// Facts are what is known of a run beside its results.
type Facts struct {
	Messages         int64   // that travelled between agents; 0 for direct play
	Seconds          float64 // of wall time
	MatchesPerSecond float64 // not positive where there is no such rate
	Digest           string  // of the results, in hexadecimal
	Reproducible     bool    // whether the same plan gives the same digest elsewhere
}

// place returns the field indices of the players, best first.
func (r Run) places() []int { return r.Estimates.Order }
