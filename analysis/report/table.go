package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

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
	percent := func(head string, keep int, of func(p *Player) analysis.Estimate) column {
		return r.column(head, keep, func(p *Player) string { return words.Plain.Number(100*of(p).Estimate, 1) })
	}
	points := func(head string, keep int, of func(p *Player) analysis.Estimate) column {
		return column{head: head, left: true, keep: keep, cells: words.PlusMinusColumn(r.estimates(of))}
	}
	differ := percent("differ%", 3, func(p *Player) analysis.Estimate { return p.Differ })
	tech := r.column("tech.", 8, func(p *Player) string { return words.Plain.Count(p.TechnicalLosses) })
	if e.NothingToRank() {
		differ.keep = 0
		return []column{r.strategy(), r.kind(1), differ, tech}
	}
	return []column{
		r.rank(), r.next(0, "", func(c analysis.Comparison) string { return words.Mark(c.Verdict) }), r.strategy(), r.kind(1),
		r.column("tier", 10, func(p *Player) string { return strconv.Itoa(p.Tier) }),
		r.column("places", 9, func(p *Player) string { return words.Plain.Places(p.RankInterval) }),
		points("points", 6, func(p *Player) analysis.Estimate { return p.Points }),
		points("adjusted", 0, func(p *Player) analysis.Estimate { return p.Adjusted }),
		percent("win%", 4, func(p *Player) analysis.Estimate { return p.WinRate }),
		percent("adj.win%", 2, func(p *Player) analysis.Estimate { return p.AdjustedWinRate }),
		differ,
		percent("titles%", 7, func(p *Player) analysis.Estimate { return p.ChampionShare }),
		r.column("mean place", 5, func(p *Player) string { return words.Plain.Number(p.Rank.Estimate, 2) }),
		tech,
	}
}

// next makes a column of what each player's comparison with the next says.
func (r *Document) next(keep int, head string, cell func(c analysis.Comparison) string) column {
	neighbours := r.Estimates.Neighbours()
	return r.column(head, keep, func(p *Player) string {
		if p.Place > len(neighbours) {
			return ""
		}
		return cell(neighbours[p.Place-1])
	})
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
		if len(e.Leaders()) == 1 && w.Adjusted.Defined() { // in a close race a single number would say little
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

// oneLeague writes what to expect of the players in a single league, each compared with
// the next.
func (s *sheet) oneLeague(r *Document) {
	e := &r.Estimates
	lines := words.Plain.OneLeague(e)
	if e.Leagues < 2 || len(lines) == 0 {
		return
	}
	odds := func(c analysis.Comparison) analysis.Odds { return e.OddsOf(c.A, c.B) }
	s.lines("", "In one league:")
	s.table([]column{
		r.rank(), r.strategy(), r.measured("titles%", 0, func(p *Player) analysis.Estimate { return p.ChampionShare }),
		r.next(3, "", func(c analysis.Comparison) string {
			return words.Sign(odds(c).Titles, odds(c).TitlesA, odds(c).TitlesB)
		}),
		r.next(2, "above next%", func(c analysis.Comparison) string { return words.PlusMinus(odds(c).Above, 100, 1) }),
		r.next(2, "", func(c analysis.Comparison) string { return words.Sign(odds(c).Verdict, odds(c).AboveA, odds(c).AboveB) }),
		r.next(1, "lead", func(c analysis.Comparison) string {
			o := odds(c)
			return words.Plain.Number(o.Effect(c.Difference).Estimate, 2)
		}),
	})
	s.lines("")
	s.lines(lines...)
	s.lines("titles%: chance of the most points in a league, shared titles in part; above next%: chance of more points than the next; the mark behind each: "+
		"> significantly more often than the next, < less often, ~ no evidence (sign tests over the leagues, adjusted for all pairs, with --until for all looks, too); "+
		"lead: over the next in adjusted points, in standard deviations of one league.", "")
}

// longestFault is how much of a script's message is printed, its hint included.
const longestFault = 300

// faults says what each player's technical losses were. Commands are not broken, so
// that they can be pasted.
func (s *sheet) faults(r *Document) {
	for _, i := range r.Estimates.Order {
		for _, line := range words.Plain.Faults(&r.Estimates.Players[i], r.Folder, longestFault) {
			if strings.HasPrefix(line, "  strategylab ") {
				s.WriteString(line + "\n")
				continue
			}
			s.lines(line)
		}
	}
}
