package words

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis"
)

// Confirmed says how a player does that was first in another run, and whether that
// confirms it, without a capital or a period.
func (s Style) Confirmed(e *analysis.Estimates, field int) string {
	place := e.Ranking.Places[field]
	here := Ordinal(e.Place(field)) + s.placeRange(place) + " here"
	switch {
	case place[1] == 1:
		here = "significantly first here, too, which confirms it"
	case place[0] > 1:
		here += ", which refutes it"
	case e.Place(field) == 1:
		here = "first here, too" + s.placeRange(place) + ", which is no proof that it is best"
	default:
		here += ", which neither confirms nor refutes it"
	}
	return fmt.Sprintf("%s, first there, is %s", Printable(e.Players[field].Name), here)
}
