package words

import (
	"fmt"
	"math"
	"slices"

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

// Unseen says what a run is too short to show: "" if its players cannot fail, or it has
// enough leagues.
func (s Style) Unseen(e *analysis.Estimates) string {
	const enough = 400 // leagues, in which what occurs in one of a hundred is hardly missed
	written := slices.ContainsFunc(e.Players, func(p analysis.Player) bool { return p.Kind != "builtin" })
	if e.Leagues < 2 || e.Leagues >= enough || !written {
		return ""
	}
	share := 1 - math.Pow(1-e.Level, 1/float64(e.Leagues))
	return fmt.Sprintf("What a script or plugin does in fewer than %s of leagues, such as failing, may have stayed unseen in %s; intervals and places do not allow for it.",
		s.Percent(share), s.Plural(int64(e.Leagues), "league"))
}
