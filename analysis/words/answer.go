package words

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/robust"
)

// mostYours is how many of the user's strategies an answer describes.
const mostYours = 3

// Answer says in a sentence which strategies score most, and in one more for each of
// the user's strategies, given by field index, how it does. Points are adjusted points.
// Robustness may be nil.
func (s Style) Answer(e *analysis.Estimates, r *robust.Robustness, yours []int) []string {
	lines := []string{s.lead(e)}
	if e.Leagues < 2 || e.NothingToRank() || oneStrategy(e) {
		return lines
	}
	lines[0] = strings.TrimSuffix(lines[0], ".") + titlesElsewhere(e) + s.fragile(e, r) + "."
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
func Headline(e *analysis.Estimates) string {
	switch {
	case e.Leagues < 2:
		return "Too few leagues to compare strategies"
	case e.NothingToRank():
		return "Two players and a fair draw: there is nothing to rank"
	case oneStrategy(e):
		return "All are one strategy, so there is nothing to rank"
	case len(e.Leaders()) == len(e.Players):
		return "These leagues do not tell the strategies apart"
	}
	return Printable(e.Players[e.Order[0]].Name) + " scores most against these opponents"
}

// lead says who scores most, and of whom that is certain. It does not speak of tiers,
// which need not follow the order of places.
func (s Style) lead(e *analysis.Estimates) string {
	text := Headline(e)
	switch {
	case e.Leagues < 2:
		return text + "."
	case e.NothingToRank():
		d := e.Pairs[0].Differ
		return text + fmt.Sprintf(". Their choices differ in %s of matches (%s interval %s).", s.Percent(d.Estimate), s.Level(e.Level), s.Range(d, 100, 1))
	case oneStrategy(e):
		return text + "."
	case len(e.Leaders()) == len(e.Players):
		most, least := e.Players[e.Order[0]].Adjusted, e.Players[e.Order[len(e.Order)-1]].Adjusted
		return text + fmt.Sprintf(": %s to %s points a match, and no difference is significant; more leagues may show one.",
			s.Number(most.Estimate, brief(most)), s.Number(least.Estimate, brief(least)))
	}
	first := e.Order[0]
	level, others, copies := levelWith(e, first), len(e.Players)-1, ""
	if same := copiesOf(e, first); len(same) > 0 {
		others -= len(same)
		level = slices.DeleteFunc(level, func(j int) bool { return slices.Contains(same, j) })
		copies = fmt.Sprintf("; only chance separates it from %s, the same strategy", Printable(List(e.Names(same), "and", 4)))
	}
	text += s.pointsOfFirst(e) + ", ahead of "
	if len(level) == 0 {
		return text + all(others) + copies + "."
	}
	return text + fmt.Sprintf("%d of %d others, with no evidence of a difference from %s%s.",
		others-len(level), others, Printable(List(e.Names(level), "and", 4)), copies)
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

// pointsOfFirst says how many points the first has. It was picked for having the most, so
// its own interval, which is for a player named before, would cover them too rarely: what is
// said is the interval corrected for that or one that is wide enough, else none. In a close
// race a single corrected number would say little.
func (s Style) pointsOfFirst(e *analysis.Estimates) string {
	points, how := e.Players[e.Order[0]].Adjusted, ""
	switch w := e.Winner; {
	case w != nil:
		points, how = w.Adjusted, ", corrected for picking the first"
		if len(e.Leaders()) > 1 || !points.Defined() {
			return fmt.Sprintf(": %s points a match (%s interval%s)", s.around(points), s.Level(e.Level), how)
		}
	case points.Method == analysis.ByStudent || points.Method == analysis.ByEvents || points.Method == analysis.ByRange:
		return fmt.Sprintf(": %s points a match", s.Number(points.Estimate, brief(points)))
	}
	return fmt.Sprintf(": %s points a match (%s interval %s%s)", s.Number(points.Estimate, brief(points)), s.Level(e.Level), s.around(points), how)
}

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

// oneStrategy reports whether all players are copies.
func oneStrategy(e *analysis.Estimates) bool {
	return len(copiesOf(e, e.Order[0])) == len(e.Players)-1
}

// levelWith returns the players of which there is no evidence that they differ from one,
// by place.
func levelWith(e *analysis.Estimates, i int) []int {
	var list []int
	for _, j := range e.Order {
		if c, _ := e.Compared(i, j); j != i && c.Verdict != analysis.Different {
			list = append(list, j)
		}
	}
	return list
}

// brief is [Decimals] for a sentence: one digit of the interval.
func brief(e analysis.Estimate) int { return max(2, Decimals(1, e)-1) }

func all(others int) string {
	if others > 2 {
		return fmt.Sprintf("all %d others", others)
	}
	return [...]string{"none", "the other", "both others"}[others]
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

// placeRange writes a place range after a place: " (9th to 14th)"; empty for one place.
func (s Style) placeRange(p [2]int) string {
	if p[0] == p[1] {
		return ""
	}
	return " (" + Ordinal(p[0]) + " to " + Ordinal(p[1]) + ")"
}

// Ordinal writes a place: "1st", "12th", "23rd".
func Ordinal(n int) string {
	if d := n % 10; d > 0 && d < 4 && (n%100 < 11 || n%100 > 13) {
		return fmt.Sprint(n) + [...]string{"st", "nd", "rd"}[d-1]
	}
	return fmt.Sprint(n) + "th"
}

// Against says what the comparison of a user's strategy with another has shown: "+" it
// is significantly better, "-" it is significantly worse, "~" no evidence.
func Against(e *analysis.Estimates, yours, other int) string {
	c, ok := e.Compared(yours, other)
	switch {
	case !ok || c.Verdict == analysis.Undecided:
		return "~"
	case c.Verdict == analysis.Equal:
		return "="
	case e.Place(yours) < e.Place(other):
		return "+"
	}
	return "-"
}

// Confirmed says how a player does that was first in another run, and whether that
// confirms it, without a capital or a period.
func (s Style) Confirmed(e *analysis.Estimates, field int) string {
	return s.Say("confirmed", struct {
		Name   string
		Place  int
		Places [2]int
	}{e.Players[field].Name, e.Place(field), e.Ranking.Places[field]})[0]
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

// OneLeague says what to expect of the first in a single league, and who takes more
// titles than points let expect.
func (s Style) OneLeague(e *analysis.Estimates) []string {
	if len(e.Odds) == 0 || e.NothingToRank() {
		return nil
	}
	first, next, last := e.Order[0], e.Order[1], e.Order[len(e.Order)-1]
	p := &e.Players[first]
	above := func(other int) string {
		return fmt.Sprintf("%s in %s", Printable(e.Players[other].Name), s.Share(e.OddsOf(first, other).Above))
	}
	line := fmt.Sprintf("%s has more points than %s", Printable(p.Name), above(next))
	if last != next {
		line += " and than " + above(last)
	}
	return append([]string{line + fmt.Sprintf(" of leagues, and takes the title in %s.", s.Share(p.ChampionShare))}, s.moreTitles(e)...)
}

// mostPairs is how many pairs are named that titles tell apart and points do not.
const mostPairs = 3

// moreTitles names the pairs in which the one takes more titles that does not score more.
func (s Style) moreTitles(e *analysis.Estimates) []string {
	var lines []string
	rest := int64(0)
	for _, c := range e.Ranking.Comparisons {
		if c.Verdict == analysis.Different { // then more titles are no surprise, but for the other one
			c.A, c.B = c.B, c.A
		}
		o := e.OddsOf(c.A, c.B)
		if o.Titles != analysis.Different || c.Verdict == analysis.Different && o.TitlesA < o.TitlesB {
			continue
		}
		if len(lines) == mostPairs {
			rest++
			continue
		}
		why := "does not score more"
		if c.Verdict == analysis.Different {
			why = "scores less"
		}
		if o.TitlesA < o.TitlesB {
			o = o.Reversed()
		}
		a, b := &e.Players[o.A], &e.Players[o.B]
		lines = append(lines, fmt.Sprintf("%s takes more titles than %s (%s against %s, p %s), though it %s.", Printable(a.Name), Printable(b.Name),
			s.Percent(a.ChampionShare.Estimate), s.Percent(b.ChampionShare.Estimate), PValue(o.TitlesP), why))
	}
	if rest > 0 {
		lines = append(lines, fmt.Sprintf("The same holds for %s.", s.Plural(rest, "other pair")))
	}
	return lines
}

// titlesElsewhere is a clause of the [Style.Answer] if a strategy that
// scores as much as the first takes more titles; else empty.
func titlesElsewhere(e *analysis.Estimates) string {
	if len(e.Odds) == 0 || len(e.Leaders()) == len(e.Players) {
		return ""
	}
	for _, i := range levelWith(e, e.Order[0]) {
		if o := e.OddsOf(i, e.Order[0]); Sign(o.Titles, o.TitlesA, o.TitlesB) == ">" {
			return "; " + Printable(Titles(e, o))
		}
	}
	return ""
}
