package words

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/analysis"
)

// Skewed warns that a few leagues decide the points of some players, so that intervals
// and comparisons are too sure of themselves; "" if there are none. It names those that fail
// in a few leagues, if that explains it.
func (s Style) Skewed(e *analysis.Estimates) string {
	if len(e.Skewed) == 0 {
		return ""
	}
	enough, failing, who := 0.0, []string(nil), make([]int, len(e.Skewed))
	for k, x := range e.Skewed {
		enough, who[k] = max(enough, float64(x.Enough)), x.Field
		if x.Failed > 0 && x.Failed < 30 {
			failing = append(failing, fmt.Sprintf("%s%s in %s", e.Players[x.Field].Name,
				[]string{" had technical losses", ""}[min(1, len(failing))], s.Count(int64(x.Failed))))
		}
	}
	leagues := s.Plural(int64(e.Leagues), "league")
	why := fmt.Sprintf("A few of %s decide the points of %s", leagues, List(e.Names(who), "and", 4))
	if failing != nil {
		why = List(failing, "and", 4) + " of " + leagues
	}
	unit := math.Pow(10, math.Floor(math.Log10(enough)))
	return fmt.Sprintf("%s: with so few, intervals, places and tiers are too narrow; about %s would do.",
		Printable(why), s.Plural(int64(math.Ceil(enough/unit)*unit), "league"))
}

// Unseen says what a run is too short to show, however long it is: "" if its players
// cannot fail.
func (s Style) Unseen(e *analysis.Estimates) string {
	if e.Leagues < 2 || !slices.ContainsFunc(e.Players, func(p analysis.Player) bool { return p.Kind != "builtin" }) {
		return ""
	}
	share := -100 * math.Expm1(math.Log1p(-e.Level)/float64(e.Leagues)) // percent; log(1-level) is that of the chance to see nothing
	digits := max(0, 1-int(math.Floor(math.Log10(share))))              // two digits
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(share, 'f', digits, 64), 64)
	return fmt.Sprintf("What a script or plugin does in fewer than %s%s%% of leagues, such as failing, may have stayed unseen in %s; intervals and places do not allow for it.",
		strconv.FormatFloat(rounded, 'f', -1, 64), s.space(), s.Plural(int64(e.Leagues), "league"))
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
	after := make([]string, len(looks))
	for k, n := range looks {
		after[k] = s.Count(int64(n))
	}
	return fmt.Sprintf("Extended when %s leagues had been looked at: intervals, places and tiers may now be wrong in one run of %s, so that with a chance of at most %s a place or a tier is wrong at any of these looks; the same holds for each interval by itself.",
		List(after, "and", 0), s.Count(int64(math.Round(1/(1-level)))), s.Percent(analysis.ErrorOfLooks(level, len(looks))))
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
	const most = 5
	var who, names, ranked []string
	for _, a := range e.Absences() {
		name := e.Players[a.Field].Name
		who, names = append(who, fmt.Sprintf("%s from league %s on", Printable(name), s.Count(int64(a.From)))), append(names, name)
	}
	if len(who) == 0 {
		return ""
	}
	text := fmt.Sprintf("Quarantined: %s. So points and places of all leagues mix fields with and without %s, however many follow; --without %s plays one field.",
		List(who, "and", 0), []string{"it", "them"}[min(1, len(who)-1)], ShellWord(strings.Join(names, ",")))
	if since == nil || since.Leagues < 2 || since.NothingToRank() {
		return text
	}
	for _, i := range since.Order[:min(most, len(since.Order))] {
		p := &since.Players[i]
		ranked = append(ranked, Printable(p.Name)+" "+PlusMinus(p.Adjusted, 1, RowDecimals(p.Adjusted))+placeRange(since.Ranking.Places[i]))
	}
	if rest := len(since.Order) - most; rest > 0 {
		ranked = append(ranked, s.Plural(int64(rest), "other"))
	}
	return text + fmt.Sprintf(" The %s since then rank the others by points per match: %s.", s.Plural(int64(since.Leagues), "league"), List(ranked, "and", 0))
}

// NearlyNormal states the condition of a stopping rule without a finite guarantee, --sprt
// or --until, and what its failure means for a run that the rule ended, or did not.
func NearlyNormal(sprt, ended bool) string {
	rule, harm := "--until", "intervals and tiers may be too narrow"
	if sprt {
		rule = "The test"
	}
	if ended {
		harm = "the run may have ended too early"
	}
	return rule + " takes the differences of leagues as nearly normal; a strategy that fails or changes for a whole league now and then breaks that, and " +
		harm + ". --guarantee finite holds without it."
}
