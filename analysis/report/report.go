package report

import (
	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/assert"
	"github.com/strategylab/strategylab/host/results"
)

// Run is all that a report is made from.
type Run struct {
	Plan      results.Plan
	Estimates analysis.Estimates // of accumulators made for Plan
	Facts     Facts
	Stopping  Stopping
	// Assertions are those that were asked for, judged by the same leagues.
	Assertions []assert.Outcome
}

// Facts are what is known of a run beside its results.
type Facts struct {
	Messages         int64   // that travelled between agents; 0 for direct play
	Seconds          float64 // of wall time
	MatchesPerSecond float64 // not positive where there is no such rate
	Digest           string  // of the results, in hexadecimal
	Reproducible     bool    // whether the same plan gives the same digest elsewhere
	Processes        []Process
}

// places returns the field indices of the players, best first.
func (r Run) places() []int { return r.Estimates.Order }

// tiers returns the names of the ranking's tiers.
func (r Run) tiers() [][]string {
	list := make([][]string, len(r.Estimates.Ranking.Tiers))
	for k, tier := range r.Estimates.Ranking.Tiers {
		for _, i := range tier {
			list[k] = append(list[k], r.Estimates.Players[i].Name)
		}
	}
	return list
}

// tierOf returns the tier of each player, from 1, by field index.
func (r Run) tierOf() []int {
	list := make([]int, len(r.Estimates.Players))
	for k, tier := range r.Estimates.Ranking.Tiers {
		for _, i := range tier {
			list[i] = k + 1
		}
	}
	return list
}

// differences returns the ranking's comparisons in the order of Estimates.Pairs,
// first player of the pair first.
func (r Run) differences() []analysis.Comparison {
	n := len(r.Estimates.Players)
	list := make([]analysis.Comparison, len(r.Estimates.Pairs))
	at := make([]int, n*n) // in list, by the pair's players
	for k, p := range r.Estimates.Pairs {
		at[p.A*n+p.B] = k
	}
	for _, c := range r.Estimates.Ranking.Comparisons {
		if c.A > c.B {
			d := c.Difference
			c.A, c.B, c.Difference = c.B, c.A, analysis.Estimate{Estimate: -d.Estimate, Low: -d.High, High: -d.Low}
		}
		list[at[c.A*n+c.B]] = c
	}
	return list
}
