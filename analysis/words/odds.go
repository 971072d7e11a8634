package words

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis"
)

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
	switch Sign(o.Titles, o.TitlesA, o.TitlesB) {
	case ">":
		return e.Players[o.A].Name + " takes more titles"
	case "<":
		return e.Players[o.B].Name + " takes more titles"
	}
	return "no evidence that one takes more titles"
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
