package report

import (
	"strconv"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
)

// oneLeague writes what to expect of the players in a single league, each compared with
// the next.
func (s *sheet) oneLeague(r *Document) {
	e := &r.Estimates
	lines := words.Plain.OneLeague(e)
	if e.Leagues < 2 || len(lines) == 0 {
		return
	}
	next := func(cell func(o analysis.Odds, c analysis.Comparison) string) []string {
		neighbours := e.Neighbours()
		return cellsOf(e, func(k int, _ *analysis.Player) string {
			if k >= len(neighbours) {
				return ""
			}
			return cell(e.OddsOf(neighbours[k].A, neighbours[k].B), neighbours[k])
		})
	}
	s.lines("", "In one league:")
	s.table([]column{
		{head: "#", cells: cellsOf(e, func(k int, _ *analysis.Player) string { return strconv.Itoa(k + 1) })},
		{head: "strategy", left: true, cells: cellsOf(e, func(_ int, p *analysis.Player) string { return words.Printable(p.Name) })},
		{head: "titles%", cells: cellsOf(e, func(_ int, p *analysis.Player) string { return words.PlusMinus(p.ChampionShare, 100, 1) })},
		{head: "", keep: 3, cells: next(func(o analysis.Odds, _ analysis.Comparison) string {
			return words.Sign(o.Titles, o.TitlesA, o.TitlesB)
		})},
		{head: "above next%", keep: 2, cells: next(func(o analysis.Odds, _ analysis.Comparison) string { return words.PlusMinus(o.Above, 100, 1) })},
		{head: "", keep: 2, cells: next(func(o analysis.Odds, _ analysis.Comparison) string {
			return words.Sign(o.Verdict, o.AboveA, o.AboveB)
		})},
		{head: "lead", keep: 1, cells: next(func(o analysis.Odds, c analysis.Comparison) string {
			return words.Plain.Number(o.Effect(c.Difference).Estimate, 2)
		})},
	})
	s.lines("")
	s.lines(lines...)
	s.lines("titles%: chance of the most points in a league, shared titles in part; above next%: chance of more points than the next; the mark behind each: "+
		"> significantly more often than the next, < less often, ~ no evidence (sign tests over the leagues, adjusted for all pairs, with --until for all looks, too); "+
		"lead: over the next in adjusted points, in standard deviations of one league.", "")
}
