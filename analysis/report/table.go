package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
)

// details writes all columns and what the numbers rest on.
func (s *sheet) details(r *Document) {
	s.lines(r.head(), "")
	s.table(r.columns())
	s.lines("")
	s.lines(slices.Concat(r.verdict(), r.StoppingLines(), r.rankingLines(), r.WarningLines())...)
	s.oneLeague(r)
	s.otherFields(r)
	s.faults(r)
	s.lines(slices.Concat(r.factLines(), AssertionLines(r.Assertions))...)
}

// columns renders all cells. If nothing can be ranked, only the columns that say
// something about the players remain.
func (r *Document) columns() []column {
	e := &r.Estimates
	each := func(cell func(place int, p *analysis.Player) string) []string { return cellsOf(e, cell) }
	estimates := func(of func(p *analysis.Player) analysis.Estimate) []string {
		return words.PlusMinusColumn(estimatesOf(e, of))
	}
	percent := func(of func(p *analysis.Player) analysis.Estimate) []string {
		return each(func(_ int, p *analysis.Player) string { return words.Plain.Number(100*of(p).Estimate, 1) })
	}
	name := column{head: "strategy", left: true, cells: each(func(_ int, p *analysis.Player) string { return words.Printable(p.Name) })}
	kind := column{head: "kind", left: true, keep: 1, cells: each(func(_ int, p *analysis.Player) string { return words.Printable(p.Kind) })}
	tech := column{head: "tech.", keep: 8, cells: each(func(_ int, p *analysis.Player) string { return words.Plain.Count(p.TechnicalLosses) })}
	differ := column{head: "differ%", keep: 3, cells: percent(func(p *analysis.Player) analysis.Estimate { return p.Differ })}
	if e.NothingToRank() {
		name.keep, differ.keep = 0, 0
		return []column{name, kind, differ, tech}
	}
	tiers, neighbours := e.Ranking.TierOf(), e.Neighbours()
	mark := func(place int, _ *analysis.Player) string {
		if place >= len(neighbours) {
			return " "
		}
		return words.Mark(neighbours[place].Verdict)
	}
	return []column{
		{head: "#", cells: each(func(k int, _ *analysis.Player) string { return strconv.Itoa(k + 1) })},
		{head: "", cells: each(mark)},
		name,
		kind,
		{head: "tier", keep: 10, cells: each(func(_ int, p *analysis.Player) string { return strconv.Itoa(tiers[p.Field]) })},
		{head: "places", keep: 9, cells: each(func(_ int, p *analysis.Player) string { return words.Plain.Places(e.Ranking.Places[p.Field]) })},
		{head: "points", left: true, keep: 6, cells: estimates(func(p *analysis.Player) analysis.Estimate { return p.Points })},
		{head: "adjusted", left: true, cells: estimates(func(p *analysis.Player) analysis.Estimate { return p.Adjusted })},
		{head: "win%", keep: 4, cells: percent(func(p *analysis.Player) analysis.Estimate { return p.WinRate })},
		{head: "adj.win%", keep: 2, cells: percent(func(p *analysis.Player) analysis.Estimate { return p.AdjustedWinRate })},
		differ,
		{head: "titles%", keep: 7, cells: percent(func(p *analysis.Player) analysis.Estimate { return p.ChampionShare })},
		{head: "mean place", keep: 5, cells: each(func(_ int, p *analysis.Player) string { return words.Plain.Number(p.Rank.Estimate, 2) })},
		tech,
	}
}

// verdict says what the order of the table is worth, beyond the answer.
func (r *Document) verdict() []string {
	e := &r.Estimates
	switch {
	case e.Leagues < 2:
		return nil
	case e.NothingToRank():
		return []string{"Here " + words.Plain.Narrower(e) + "."}
	}
	return []string{words.Plain.Neighbours(e) + "; " + words.Plain.Narrower(e) + "."}
}

// rankingLines say what the order as a whole is worth, and how much of the first
// player's estimate is due to its selection.
func (r *Document) rankingLines() []string {
	e := &r.Estimates
	if e.Leagues < 2 || e.NothingToRank() {
		return nil
	}
	var differ, holm int64
	for _, c := range e.Ranking.Comparisons {
		if c.Verdict == analysis.Different {
			differ++
		}
		if c.Verdict != analysis.Equal && c.Holm <= 1-e.Ranking.Level {
			holm++
		}
	}
	lines := []string{fmt.Sprintf("Significant differences among all pairs: %s of %s (by Holm's method %s). Tier 1 is every strategy that no other "+
		"significantly beats, and tier 2 every strategy that only tier 1 significantly beats, so a higher place can be in a lower tier; places are "+
		"those possible by expected points in this field. All of these hold together with %s confidence.",
		words.Plain.Count(differ), words.Plain.Count(int64(len(e.Ranking.Comparisons))), words.Plain.Count(holm), words.Plain.Level(e.Ranking.Level))}
	if w := e.Winner; w != nil && len(e.Players) > 1 {
		p := &e.Players[w.Field]
		corrected := words.Plain.Range(w.Adjusted, 1, 4)
		if len(e.Leaders()) == 1 { // in a close race a single number would say little
			corrected = words.Plain.WithRange(w.Adjusted, 4)
		}
		lines = append(lines, fmt.Sprintf("%s is first of %d with %s adjusted points; corrected for having been selected: %s.",
			words.Printable(p.Name), len(e.Players), words.Plain.Number(p.Adjusted.Estimate, 4), corrected))
	}
	return lines
}

// factLines say what was played, and how to recognise it.
func (r *Document) factLines() []string {
	var lines []string
	for _, p := range r.Facts.Processes {
		lines = append(lines, p.String())
	}
	lines = append(lines, slices.Concat(r.Facts.SpenderLines(), r.Facts.AgentLines())...)
	played := words.Plain.Plural(r.Estimates.Matches, "match")
	if r.Facts.Seconds > 0 {
		played += fmt.Sprintf(" in %s s", words.Plain.Number(r.Facts.Seconds, 1))
	}
	if rate := float64(r.Facts.MatchesPerSecond); rate > 0 && !math.IsInf(rate, 0) {
		played += fmt.Sprintf(", %s per second", words.Plain.Count(int64(rate)))
	}
	if r.Facts.Messages > 0 {
		played += ", " + words.Plain.Plural(r.Facts.Messages, "message")
	}
	lines = append(lines, played)
	if r.Facts.Digest != "" {
		lines = append(lines, "digest "+words.Printable(r.Facts.Digest))
	}
	return append(lines, r.ReproducibleLines()...)
}
