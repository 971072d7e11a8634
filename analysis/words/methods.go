package words

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/strategylab/strategylab/analysis"
)

// Methods says for a paper how the numbers of a run came about: what was played, what the
// numbers are, and how intervals and comparisons were made. legs is how often two players met in a league.
func (s Style) Methods(e *analysis.Estimates, legs int, draw string, seeds []uint64) string {
	text := fmt.Sprintf("We played %s of %s in which each pair met %s (%s), with numbers drawn from %s and %s.",
		s.Plural(int64(e.Leagues), "league"), s.Plural(int64(len(e.Players)), "strategy"), s.Times(legs), s.Plural(e.Matches, "match"),
		draw, Seeds(seeds))
	text += " Adjusted points replace the points of a match by their expectation given the two choices, so that they have the same mean without the luck of the draw"
	if e.Leagues < 2 {
		return text + "."
	}
	var methods []string
	for i := range e.Players {
		if m := method(e.Players[i].Adjusted.Method); !slices.Contains(methods, m) {
			methods = append(methods, m)
		}
	}
	text += fmt.Sprintf("; %s. Matches of a league are dependent, so the unit of replication is the league: %s intervals are computed from league values by %s.",
		s.Narrower(e), s.Level(e.Level), List(methods, "and", 0))
	if e.NothingToRank() {
		return text
	}
	return text + fmt.Sprintf(" Strategies are compared by paired differences within leagues, and the p-values of all %s are corrected by %s. "+
		"Tiers and ranges of places hold jointly with %s confidence.", s.Plural(int64(len(e.Ranking.Comparisons)), "pair"), method(e.Ranking.Method), s.Level(e.Ranking.Level))
}

// method is the name of a method in a sentence.
func method(m analysis.Method) string {
	switch m {
	case analysis.ByRange:
		return "the range of possible values"
	case analysis.ByStudent:
		return "Student's t"
	case analysis.ByUnseen:
		return "a bound on what as many leagues leave unseen"
	case analysis.ByEvents:
		return "the method of Korn and Graubard"
	case analysis.ByMixture:
		return "confidence sequences from a mixture of t statistics"
	case analysis.ByBetting:
		return "confidence sequences from betting"
	case analysis.ByStepDown:
		return "the step-down method of Romano and Wolf"
	case analysis.ByHolm:
		return "Holm's method"
	}
	return "the method " + string(m)
}

// Seeds names the seeds of one or several runs.
func Seeds(seeds []uint64) string {
	var all []string
	for _, seed := range seeds {
		all = append(all, strconv.FormatUint(seed, 10))
	}
	if len(all) == 1 {
		return "seed " + all[0]
	}
	return "seeds " + List(all, "and", 0)
}
