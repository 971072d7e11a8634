package words

import (
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/analysis"
)

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
