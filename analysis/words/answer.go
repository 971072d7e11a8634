package words

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/robust"
)

// mostYours is how many of the user's strategies an answer describes.
const mostYours = 3

// Answer says in a sentence which strategies score most, and in one more for each of
// the user's strategies, given by field index, how it does. Points are adjusted points.
// Robustness may be nil.
func (s Style) Answer(e *analysis.Estimates, r *robust.Robustness, yours []int) []string {
	l := newLead(e, r)
	lines := s.Say("lead", l)
	if !l.Ranked {
		return lines
	}
	yours = slices.Clone(yours)
	slices.SortFunc(yours, func(i, j int) int { return cmp.Compare(e.Place(i), e.Place(j)) })
	for _, i := range yours[:min(len(yours), mostYours)] {
		lines = append(lines, s.standing(e, i))
	}
	if rest := len(yours) - mostYours; rest > 0 {
		lines = append(lines, fmt.Sprintf("The table marks %s of yours.", s.Plural(int64(rest), "other strategy")))
	}
	return lines
}

// Headline is what the first sentence of an [Style.Answer] begins with.
func Headline(e *analysis.Estimates) string { return Plain.Say("headline", newLead(e, nil))[0] }

// lead is what the first sentence of an answer says. It does not speak of tiers, which need
// not follow the order of places.
type lead struct {
	*analysis.Estimates
	Ranked, Open bool // whether some could be ranked, and nobody is
	First, Last  *analysis.Player
	Others       int      // players that are not copies of the first
	Behind       int      // those that are significantly behind it
	Same, Equal  []string // copies of the first, and others with no evidence of a difference from it
	// Points are those of the first. It was picked for having the most, so what is said is an
	// interval corrected for that or wide enough anyway, else, if Bare, none. In a close race a
	// single corrected number would say little, so only the interval is said.
	Points      analysis.Estimate
	Bare, Close bool
	Titled      string  // who scores as much and takes more titles; may be empty
	Elsewhere   float64 // share of resampled fields in which none of these is first
}

func newLead(e *analysis.Estimates, r *robust.Robustness) lead {
	first, leaders := e.Order[0], len(e.Leaders())
	same, level := copiesOf(e, first), levelWith(e, first)
	others := slices.DeleteFunc(slices.Clone(level), func(j int) bool { return slices.Contains(same, j) })
	l := lead{
		Estimates: e, Open: leaders == len(e.Players), First: &e.Players[first], Last: &e.Players[e.Order[len(e.Order)-1]],
		Others: len(e.Players) - 1 - len(same), Same: e.Names(same), Equal: e.Names(others), Points: e.Players[first].Adjusted,
	}
	l.Behind = l.Others - len(others)
	l.Ranked = e.Leagues > 1 && !e.NothingToRank() && l.Others > 0
	if w := e.Winner; w != nil {
		l.Points, l.Close = w.Adjusted, leaders > 1 || !w.Adjusted.Defined()
	} else {
		l.Bare = slices.Contains([]analysis.Method{analysis.ByStudent, analysis.ByEvents, analysis.ByRange}, l.Points.Method)
	}
	if r != nil {
		l.Elsewhere = 1 - r.Players[first].First
	}
	for _, i := range slices.Backward(level) {
		if r != nil {
			l.Elsewhere -= r.Players[i].First
		}
		if len(e.Odds) > 0 {
			if o := e.OddsOf(i, first); Sign(o.Titles, o.TitlesA, o.TitlesB) == ">" {
				l.Titled = e.Players[i].Name
			}
		}
	}
	return l
}

// copiesOf returns the other players that are the same strategy, by place.
func copiesOf(e *analysis.Estimates, i int) (list []int) {
	for _, j := range e.Order {
		if e.Copies != nil && j != i && e.Copies[j] == e.Copies[i] {
			list = append(list, j)
		}
	}
	return list
}

// levelWith returns the players of which there is no evidence that they differ from one,
// by place.
func levelWith(e *analysis.Estimates, i int) (list []int) {
	for _, j := range e.Order {
		if c, _ := e.Compared(i, j); j != i && c.Verdict != analysis.Different {
			list = append(list, j)
		}
	}
	return list
}

// brief is [Decimals] for a sentence: one digit of the interval.
func brief(e analysis.Estimate) int { return max(2, Decimals(1, e)-1) }

// around writes an interval with few decimals, rounded outwards so that it covers as often as
// the interval does. It needs no estimate.
func (s Style) around(e analysis.Estimate) string {
	if !e.Defined() {
		e.Estimate = (e.Low + e.High) / 2
	}
	unit := math.Pow10(brief(e))
	e.Low, e.High = math.Floor(e.Low*unit+1e-6)/unit, math.Ceil(e.High*unit-1e-6)/unit
	return s.Range(e, 1, brief(e))
}

// standing says where one of the user's strategies stands.
func (s Style) standing(e *analysis.Estimates, i int) string {
	places, least := e.Ranking.Places[i], ""
	if worst, ok := e.ScoresLeast(i); ok {
		least = e.Players[worst].Name
	}
	return s.Say("yours", struct {
		Name, Least                 string
		Place, Level, Behind, Ahead int
		Places                      [2]int
	}{e.Players[i].Name, least, e.Place(i), len(levelWith(e, i)), places[0] - 1, len(e.Players) - places[1], places})[0]
}

// Ordinal writes a place: "1st", "12th", "23rd".
func Ordinal(n int) string {
	if d := n % 10; d > 0 && d < 4 && (n%100 < 11 || n%100 > 13) {
		return fmt.Sprint(n) + [...]string{"st", "nd", "rd"}[d-1]
	}
	return fmt.Sprint(n) + "th"
}

// placeRange writes a place range after a place: " (9th to 14th)"; empty for one place.
func placeRange(p [2]int) string {
	if p[0] == p[1] {
		return ""
	}
	return " (" + Ordinal(p[0]) + " to " + Ordinal(p[1]) + ")"
}

// Against says what the comparison of a user's strategy with another has shown: "+" it
// is significantly better, "-" it is significantly worse, "=" both scored the same in every
// league, "~" no evidence.
func Against(e *analysis.Estimates, yours, other int) string {
	c, _ := e.Compared(yours, other)
	switch mark := Mark(c.Verdict); {
	case mark != ">":
		return mark
	case e.Place(yours) < e.Place(other):
		return "+"
	}
	return "-"
}

// Sign says in one character which of two players is significantly ahead in single
// leagues, from the verdict and the leagues of each: ">" the first, "<" the second, "~"
// no evidence.
func Sign(v analysis.Verdict, first, second int64) string {
	switch {
	case v != analysis.Different:
		return "~"
	case first > second:
		return ">"
	}
	return "<"
}

// Titles says which of two players takes more titles: "mine takes more titles".
func Titles(e *analysis.Estimates, o analysis.Odds) string {
	who := map[string]string{">": e.Players[o.A].Name, "<": e.Players[o.B].Name, "~": "no evidence that one"}
	return who[Sign(o.Titles, o.TitlesA, o.TitlesB)] + " takes more titles"
}
