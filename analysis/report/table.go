package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
)

// WriteTable writes the report for people: one line per player, best first, and below
// it what the differences are worth. It is plain text without colours. If width is
// positive and too small for all columns, the less important ones are left out, long
// names shortened, and sentences broken, so that lines fit.
//
// An interval is given as ± its longer half. The mark after the place says whether the
// player is better than the next: ">" significantly, "=" both scored the same in every
// league, "~" no evidence. Marks, tiers and place ranges hold together.
func WriteTable(w io.Writer, r Run, width int) error {
	s := sheet{width: width}
	e := &r.Estimates
	head := fmt.Sprintf("%s of %s, %s, draw %s, seed %d", words.Plain.Plural(int64(e.Leagues), "league"),
		words.Plain.Plural(int64(len(e.Players)), "strategy"), words.Plain.Plural(int64(r.Plan.Legs), "leg"), r.Plan.Draw, r.Plan.Seed)
	if e.Level != analysis.DefaultLevel {
		head += ", intervals at " + words.Plain.Level(e.Level)
	}
	s.lines(head, "")
	s.table(r.columns())
	s.lines("", r.verdict())
	s.lines(slices.Concat(r.StoppingLines(), r.rankingLines())...)
	s.faults(r)
	s.lines(slices.Concat(r.factLines(), AssertionLines(r.Assertions))...)
	return s.send(w, "table")
}

// columns renders all cells. If nothing can be ranked, only the columns that say
// something about the players remain.
func (r Run) columns() []column {
	e := &r.Estimates
	each := func(cell func(place int, p *analysis.Player) string) []string {
		list := make([]string, len(e.Order))
		for k, i := range e.Order {
			list[k] = cell(k, &e.Players[i])
		}
		return list
	}
	estimates := func(of func(p *analysis.Player) analysis.Estimate) []string {
		places := words.PlayerDecimals(e, of)
		return each(func(_ int, p *analysis.Player) string { return words.PlusMinus(of(p), 1, places) })
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
		{head: "points", keep: 6, cells: estimates(func(p *analysis.Player) analysis.Estimate { return p.Points })},
		{head: "adjusted", cells: estimates(func(p *analysis.Player) analysis.Estimate { return p.Adjusted })},
		{head: "win%", keep: 4, cells: percent(func(p *analysis.Player) analysis.Estimate { return p.WinRate })},
		{head: "adj.win%", keep: 2, cells: percent(func(p *analysis.Player) analysis.Estimate { return p.AdjustedWinRate })},
		differ,
		{head: "titles%", keep: 7, cells: percent(func(p *analysis.Player) analysis.Estimate { return p.ChampionShare })},
		{head: "rank", keep: 5, cells: each(func(_ int, p *analysis.Player) string { return words.Plain.Number(p.Rank.Estimate, 2) })},
		tech,
	}
}

// verdict says what the order of the table is worth.
func (r Run) verdict() string {
	e := &r.Estimates
	switch {
	case e.Leagues < 2:
		return words.Headline(e)
	case e.NothingToRank():
		d := e.Pairs[0].Differ
		return fmt.Sprintf("%s Their choices differ in %s %% of matches (%s); %s.", words.Headline(e),
			words.Plain.Number(100*d.Estimate, 2), words.Plain.Range(d, 100, 2), words.Plain.Narrower(e))
	}
	return words.Plain.Neighbours(e) + "; " + words.Plain.Narrower(e) + "."
}

// rankingLines say what the order as a whole is worth, and how much of the first
// player's estimate is due to its selection.
func (r Run) rankingLines() []string {
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
		"significantly beats; places are the places that the evidence allows. All of these hold together with %s confidence.",
		words.Plain.Count(differ), words.Plain.Count(int64(len(e.Ranking.Comparisons))), words.Plain.Count(holm), words.Plain.Level(e.Ranking.Level))}
	if len(e.Leaders()) == len(e.Players) {
		lines = append(lines, words.Headline(e))
	}
	if w := e.Winner; w != nil && len(e.Players) > 1 {
		p := &e.Players[w.Field]
		lines = append(lines, fmt.Sprintf("%s is first of %d with %s adjusted points; corrected for selection: %s.",
			words.Printable(p.Name), len(e.Players), words.Plain.Number(p.Adjusted.Estimate, 4), words.Plain.WithRange(w.Adjusted, 4)))
	}
	return lines
}

// factLines say what was played, and how to recognise it.
func (r Run) factLines() []string {
	var lines []string
	for _, p := range r.Facts.Processes {
		lines = append(lines, p.String())
	}
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
	if !r.Facts.Reproducible {
		lines = append(lines, words.NotReproducible)
	}
	return lines
}
