package report

import (
	"fmt"
	"io"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/results"
)

// WriteMatch writes what two strategies have shown against each other.
func WriteMatch(w io.Writer, plan results.Plan, est analysis.Estimates) error {
	a, b, pair := est.Players[0], est.Players[1], est.Pairs[0]
	fmt.Fprintf(w, "%s against %s: %s in %d series of %d, seed %d\n\n", a.Name, b.Name, words.Plain.Plural(pair.Matches, "match"), est.Leagues, plan.Legs, plan.Seed)
	if pair.Differ.Defined() {
		fmt.Fprintf(w, "  their choices differ in %.1f %% of matches (95 %% interval %.1f to %.1f; 50 is chance)\n",
			100*pair.Differ.Estimate, 100*pair.Differ.Low, 100*pair.Differ.High)
	} else {
		fmt.Fprintln(w, "  no match was decided by both choices")
	}
	for i, pl := range []analysis.Player{a, b} {
		wins := []int64{pair.WinsA, pair.WinsB}[i]
		fmt.Fprintf(w, "  %-20s  %s, %s, %.3f points a match, %.3f adjusted\n",
			pl.Name, words.Plain.Plural(wins, "win"), words.Plain.Plural(pair.Draws, "tie"), pl.Points.Estimate, pl.Adjusted.Estimate)
		for _, f := range pl.Faults {
			fmt.Fprintf(w, "  %-20s  %s (%s): %s\n", "", words.Plain.Plural(f.Count, "technical loss"), f.Kind, f.Where)
		}
	}
	if est.NothingToRank() {
		fmt.Fprint(w, "\nThe draw is fair, so neither strategy can beat the other: each expects 1 + P(differ)/2 points a match.\n")
	}
	return nil
}
