package words

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/robust"
)

// oftenFirst is the share of resampled fields from which on a strategy is named.
const oftenFirst = 0.1

// Robustness says how the first of an experiment would do in other fields.
func (s Style) Robustness(e *analysis.Estimates, r *robust.Robustness) []string {
	type without struct {
		robust.Reduced
		Names, Leader string
	}
	about := struct {
		First          string
		Here           robust.Player
		Often, Staying []string  // others that are often first, and the families without which it stays first
		Without        []without // some other is ahead in these fields
		Stays, Nobody  bool      // without any one other, and whether nobody is ahead of it then
		Parted         bool      // some family decides who is ahead
	}{First: e.Players[e.Order[0]].Name, Here: r.Players[e.Order[0]], Stays: true, Nobody: true}
	others := slices.Clone(e.Order[1:])
	slices.SortStableFunc(others, func(i, j int) int { return cmp.Compare(r.Players[j].First, r.Players[i].First) })
	for _, i := range others {
		if r.Players[i].First >= oftenFirst {
			about.Often = append(about.Often, fmt.Sprintf("%s (%s)", Printable(e.Players[i].Name), s.About(r.Players[i].First)))
		}
	}
	for _, x := range r.Without { // each one, then each family
		one := len(x.Out) == 1
		names := fmt.Sprintf("the %d that play alike (%s)", len(x.Out), List(e.Names(x.Out), "and", 8))
		if one {
			names = e.Players[x.Out[0]].Name
			about.Stays, about.Nobody = about.Stays && x.First == e.Order[0] && x.Leads, about.Nobody && !x.Ahead
		}
		alike := slices.IndexFunc(about.Without, func(w without) bool { return one && w.First == x.First && w.Leads == x.Leads })
		switch {
		case x.Ahead && alike >= 0:
			w := &about.Without[alike]
			w.Out = slices.Concat(w.Out, x.Out)
			w.Names = "any one of " + List(e.Names(w.Out), "or", 6)
		case x.Ahead:
			about.Without = append(about.Without, without{x, names, e.Players[x.First].Name})
			about.Parted = about.Parted || !one
		case !one && x.Leads:
			about.Staying = append(about.Staying, names)
		}
	}
	return s.Say("in other fields", about)
}

// About writes a share of fields that were put together, to the next five percent: "about
// 65 %".
func (s Style) About(share float64) string {
	switch fives := 5 * math.Round(20*share); {
	case fives < 5:
		return "under 5" + s.space() + "%"
	case fives > 95:
		return "over 95" + s.space() + "%"
	default:
		return "about " + s.Number(fives, 0) + s.space() + "%"
	}
}
