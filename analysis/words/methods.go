package words

import (
	"cmp"
	"fmt"

	"github.com/strategylab/strategylab/analysis"
)

// method is the name of a method in a sentence.
func method(m analysis.Method) string {
	return cmp.Or(map[analysis.Method]string{
		analysis.ByRange: "the range of possible values", analysis.ByStudent: "Student's t", analysis.ByUnseen: "a bound on what as many leagues leave unseen",
		analysis.ByEvents: "the method of Korn and Graubard", analysis.ByMixture: "confidence sequences from a mixture of t statistics",
		analysis.ByBetting: "confidence sequences from betting", analysis.ByStepDown: "the step-down method of Romano and Wolf", analysis.ByHolm: "Holm's method",
	}[m], "the method "+string(m))
}

// Mark says in one character what is known of a difference: ">" it is significant, "="
// both scored the same in every league, "~" no evidence.
func Mark(v analysis.Verdict) string {
	return map[analysis.Verdict]string{analysis.Different: ">", analysis.Equal: "=", analysis.Undecided: "~"}[v]
}

// Verdict says what a comparison has shown: "mine is better".
func Verdict(e *analysis.Estimates, c analysis.Comparison) string {
	switch {
	case c.Verdict == analysis.Equal:
		return "both scored the same in every league"
	case c.Verdict != analysis.Different:
		return "no evidence that these differ"
	case c.Difference.Estimate < 0:
		return e.Players[c.B].Name + " is better"
	}
	return e.Players[c.A].Name + " is better"
}

// Record writes how the matches of a player ended: "9 matches: 4 won, 3 tied, 2 lost,
// 15 points".
func (s Style) Record(matches, wins, ties, losses, points int64) string {
	return fmt.Sprintf("%s: %s won, %s tied, %s lost, %s", s.Plural(matches, "match"),
		s.Count(wins), s.Count(ties), s.Count(losses), s.Plural(points, "point"))
}
