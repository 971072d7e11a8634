package words

import (
	"fmt"
	"math"

	"github.com/strategylab/strategylab/analysis"
)

// NotReproducible says that a rerun of a plan may give other leagues.
const NotReproducible = "Not reproducible: time limits or lost connections decided matches, and a rerun may differ."

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

// Neighbours counts the verdicts on strategies next to each other in the ranking.
func (s Style) Neighbours(e *analysis.Estimates) string {
	all := len(e.Neighbours())
	different, equal := e.Distinguishable()
	line := fmt.Sprintf("Significant differences between neighbours: %s of %s (>)", s.Count(int64(different)), s.Count(int64(all)))
	if equal > 0 {
		line += fmt.Sprintf(", equal %s (=)", s.Count(int64(equal)))
	}
	if rest := all - different - equal; rest > 0 {
		line += fmt.Sprintf(", no evidence for %s (~)", s.Count(int64(rest)))
	}
	return line
}

// Narrower says what adjusting points gains, without a capital or a period.
func (s Style) Narrower(e *analysis.Estimates) string {
	switch ratio := e.VarianceRatio; {
	case math.IsNaN(ratio):
		return "adjusted points do not vary from league to league"
	case ratio < 1:
		return fmt.Sprintf("adjusted intervals are not narrower than raw ones here (variance ratio %s)", s.Number(ratio, 2))
	default:
		line := fmt.Sprintf("adjusted intervals are %s times narrower than raw ones (variance ratio %s)", s.Number(math.Sqrt(ratio), 1), s.Number(ratio, 1))
		if d := e.DifferenceRatio; d > 0 && !e.NothingToRank() {
			line += fmt.Sprintf(", those of differences %s times (%s)", s.Number(math.Sqrt(d), 1), s.Number(d, 1))
		}
		return line
	}
}

// Record writes how the matches of a player ended: "9 matches: 4 won, 3 tied, 2 lost,
// 15 points".
func (s Style) Record(matches, wins, ties, losses, points int64) string {
	return fmt.Sprintf("%s: %s won, %s tied, %s lost, %s", s.Plural(matches, "match"),
		s.Count(wins), s.Count(ties), s.Count(losses), s.Plural(points, "point"))
}
