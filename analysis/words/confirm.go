package words

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis"
)

// Confirmed says how a player does that was first in another run, without a capital or a
// period.
func (s Style) Confirmed(e *analysis.Estimates, field int) string {
	place := e.Ranking.Places[field]
	here := Ordinal(e.Place(field)) + s.placeRange(place) + " here"
	switch {
	case place[1] == 1:
		here = "significantly first here, too"
	case e.Place(field) == 1:
		here = "first here, too" + s.placeRange(place)
	case place[0] > 1:
		here += ", so that is not confirmed"
	}
	return fmt.Sprintf("%s, first there, is %s", Printable(e.Players[field].Name), here)
}
