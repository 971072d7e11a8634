package report

import (
	"io"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/results"
)

// WriteMatch writes what two strategies have shown against each other.
func WriteMatch(w io.Writer, plan results.Plan, est analysis.Estimates) error {
	about := struct {
		*analysis.Estimates
		analysis.Pair
		Plan results.Plan
		Wins [2]int64
	}{&est, est.Pairs[0], plan, [2]int64{est.Pairs[0].WinsA, est.Pairs[0].WinsB}}
	var s sheet
	s.lines(words.Plain.Say("met", about)[0], "")
	s.lines(words.Plain.Say("match", about)...)
	if est.NothingToRank() {
		s.lines("", "The draw is fair, so neither strategy can beat the other: each expects 1 + P(differ)/2 points a match.")
	}
	return s.send(w, "match")
}
