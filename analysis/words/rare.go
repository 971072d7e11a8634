package words

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/analysis"
)

// Skewed warns that a few leagues decide the points of some players, so that intervals
// and comparisons are too sure of themselves; "" if there are none.
func (s Style) Skewed(e *analysis.Estimates) string {
	if len(e.Skewed) == 0 {
		return ""
	}
	var names []string
	enough := 0
	failing := slices.ContainsFunc(e.Skewed, rarelyFails)
	for _, x := range e.Skewed {
		enough = max(enough, x.Enough)
		switch name := Printable(e.Players[x.Field].Name); {
		case !failing:
			names = append(names, name)
		case rarelyFails(x):
			if len(names) == 0 {
				name += " had technical losses"
			}
			names = append(names, name+" in "+s.Count(int64(x.Failed)))
		}
	}
	leagues, list := s.Plural(int64(e.Leagues), "league"), List(names, "and", 4)
	why := fmt.Sprintf("A few of %s decide the points of %s", leagues, list)
	if failing {
		why = list + " of " + leagues
	}
	digits := math.Pow(10, math.Floor(math.Log10(float64(enough))))
	return fmt.Sprintf("%s: with so few, intervals, places and tiers are too narrow; about %s would do.",
		why, s.Plural(int64(math.Ceil(float64(enough)/digits)*digits), "league"))
}

// rarelyFails reports whether technical losses in a few leagues explain the skewness.
func rarelyFails(x analysis.Skewed) bool { return x.Failed > 0 && x.Failed < 30 }

// Unseen says what a run is too short to show, however long it is: "" if its players
// cannot fail.
func (s Style) Unseen(e *analysis.Estimates) string {
	written := slices.ContainsFunc(e.Players, func(p analysis.Player) bool { return p.Kind != "builtin" })
	if e.Leagues < 2 || !written {
		return ""
	}
	share := -100 * math.Expm1(math.Log1p(-e.Level)/float64(e.Leagues)) // percent; log(1-level) is that of the chance to see nothing
	digits := max(0, 1-int(math.Floor(math.Log10(share))))              // two digits
	return fmt.Sprintf("What a script or plugin does in fewer than %s of leagues, such as failing, may have stayed unseen in %s; intervals and places do not allow for it.",
		s.percentOf(share, digits), s.Plural(int64(e.Leagues), "league"))
}

// percentOf writes a percentage with at most some decimals.
func (s Style) percentOf(percent float64, decimals int) string {
	text := s.Number(percent, decimals)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + s.space() + "%"
}

// Few warns that in few leagues of one leg differences take few values, so that tests are
// not exact; "" if there are more leagues or legs. A simulation in package analysis has
// the figure.
func (s Style) Few(e *analysis.Estimates, legs int) string {
	const enough = 25
	if legs > 1 || e.Leagues < 2 || e.Leagues >= enough || e.NothingToRank() {
		return ""
	}
	return fmt.Sprintf("In %s of one leg, differences take few values: equal strategies are found different in up to 7 %% of such runs instead of 5 %%.",
		s.Plural(int64(e.Leagues), "league"))
}
