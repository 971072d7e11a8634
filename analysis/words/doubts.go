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

// Extended says what holds for a run that was looked at after some numbers of leagues
// and extended each time; level is that of its last look. It is "" without looks.
func (s Style) Extended(level float64, looks []int) string {
	if len(looks) == 0 {
		return ""
	}
	var after []string
	for _, n := range looks {
		after = append(after, s.Count(int64(n)))
	}
	return fmt.Sprintf("Extended when %s leagues had been looked at: intervals, places and tiers may now be wrong in one run of %s, so that with a chance of at most %s a place or a tier is wrong at any of these looks; the same holds for each interval by itself.",
		List(after, "and", len(after)), s.Count(int64(math.Round(1/(1-level)))), s.Percent(analysis.ErrorOfLooks(level, len(looks))))
}

// Unfinished says that some of the leagues of a run are missing, and what it means to
// stop there for what they show. A simulation in package analysis has the figure.
func (s Style) Unfinished(e *analysis.Estimates, planned int) string {
	return fmt.Sprintf("Unfinished: %s of %s. Stopping here for what they show is no fair look: four equal strategies, stopped at the best of 14 looks, differed in 26 %% of runs "+
		"instead of 5 %%. --until looks after every league and allows for it.", s.Count(int64(e.Leagues)), s.Plural(int64(planned), "league"))
}

// Mixed says which strategies stopped playing in the course of a run, so that its numbers
// are those of several fields, and how the leagues since the last of them rank the
// others, which is nil if unknown; "" if all played.
func (s Style) Mixed(e, since *analysis.Estimates) string {
	gone := e.Absences()
	if len(gone) == 0 {
		return ""
	}
	var who, names []string
	pronoun := "it"
	if len(gone) > 1 {
		pronoun = "them"
	}
	for _, a := range gone {
		who = append(who, fmt.Sprintf("%s from league %s on", Printable(e.Players[a.Field].Name), s.Count(int64(a.From))))
		names = append(names, e.Players[a.Field].Name)
	}
	text := fmt.Sprintf("Quarantined: %s. So points and places of all leagues mix fields with and without %s, however many follow; --without %s plays one field.",
		List(who, "and", 0), pronoun, ShellWord(strings.Join(names, ",")))
	if since == nil || since.Leagues < 2 || since.NothingToRank() {
		return text
	}
	const most = 5
	var ranked []string
	for _, i := range since.Order[:min(most, len(since.Order))] {
		p := &since.Players[i]
		ranked = append(ranked, fmt.Sprintf("%s %s%s", Printable(p.Name), PlusMinus(p.Adjusted, 1, RowDecimals(p.Adjusted)), s.placeRange(since.Ranking.Places[i])))
	}
	if rest := len(since.Order) - most; rest > 0 {
		ranked = append(ranked, s.Plural(int64(rest), "other"))
	}
	return text + fmt.Sprintf(" The %s since then rank the others by points per match: %s.", s.Plural(int64(since.Leagues), "league"), List(ranked, "and", 0))
}
