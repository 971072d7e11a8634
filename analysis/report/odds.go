package report

import (
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
