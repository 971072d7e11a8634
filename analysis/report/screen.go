package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/robust"
	"github.com/strategylab/strategylab/analysis/words"
)

// Screen says how a run is shown to people. The zero value is plain text of any width
// with the columns of a first look.
type Screen struct {
	// Width is that of the terminal in characters; 0 is no limit. On a narrow terminal
	// columns are left out (raw points first, then kind, wins, differs, places and
	// faults), long names shortened, and sentences broken between words.
	Width int
	// Details shows all columns and what the numbers rest on.
	Details bool
	// Colour uses the colours of a terminal, and its signs instead of letters.
	Colour bool
	// Beyond counts the strategies that the default field has left out.
	Beyond int
}

// The colours of a terminal, as ANSI attributes.
const (
	bold  = "1"
	faint = "2"
	red   = "31"
	green = "32"
)

// WriteTable writes the report for people: the answer in a sentence or two, one line per
// player, best first, and below it what a reader needs to understand them.
//
// An interval is given as ± its longer half, with the decimals that it has itself. The
// mark of a player says how it compares with the first of the user's strategies, or
// without one whether it is better than the next: ">" significantly, "=" both scored the
// same in every league, "~" no evidence. Marks and place ranges hold together.
func WriteTable(w io.Writer, r *Document, screen Screen) error {
	s := sheet{width: screen.Width}
	e := &r.Estimates
	stopping := r.StoppingLines()
	s.lines(r.ConfirmationLines()...)
	s.lines(r.Answer...)
	s.lines("")
	if screen.Details {
		s.details(r)
		return s.send(w, "table")
	}
	if r.Stopping.Ratio == nil {
		s.table(r.brief(screen))
		s.lines("")
		s.lines(r.legend(screen)...)
	} else {
		s.table(r.tested(screen))
		s.lines("", pointsLegend(e)+".")
	}
	if len(stopping) > 0 {
		s.lines(stopping[:len(stopping)-1]...) // the last is about the method
	}
	s.lines(r.WarningLines()...)
	s.faults(r)
	s.lines(slices.Concat(r.Facts.QuarantineLines(), r.Facts.SpenderLines(), r.Facts.AgentLines(), AssertionLines(r.Assertions))...)
	s.lines(r.ReproducibleLines()...)
	s.lines(r.head())
	more := "--details adds tiers, titles, corrections and the digest"
	if r.Stopping.Ratio != nil {
		more = "--details adds the other strategies, tiers, corrections and the digest"
	}
	if screen.Beyond > 0 {
		more += "; --field all plays " + words.Plain.Plural(int64(screen.Beyond), "more strategy")
	}
	s.lines(more + ".")
	return s.send(w, "table")
}

// head says what was played.
func (r *Document) head() string {
	e := &r.Estimates
	head := fmt.Sprintf("%s of %s, %s, draw %s, %s", words.Plain.Plural(int64(e.Leagues), "league"),
		words.Plain.Plural(int64(len(e.Players)), "strategy"), words.Plain.Plural(int64(r.Run.Plan.Legs), "leg"), r.Run.Plan.Draw, words.Seeds(r.seeds()))
	if e.Level != analysis.DefaultLevel {
		head += ", intervals at " + words.Plain.Level(e.Level)
	}
	return head
}

func (r *Document) seeds() []uint64 {
	if r.Run.Seeds != nil {
		return r.Run.Seeds
	}
	return []uint64{r.Run.Plan.Seed}
}

// legend explains the columns.
func (r *Document) legend(screen Screen) []string {
	e := &r.Estimates
	if e.NothingToRank() || e.Leagues == 0 {
		return nil
	}
	line := pointsLegend(e) + "; places: possible by expected points in this field; "
	if len(r.Yours) == 0 {
		return []string{line + "> significantly above the next, ~ no evidence."}
	}
	first := words.Printable(e.Players[firstOf(e, r.Yours)].Name)
	return []string{line + fmt.Sprintf("%s: %s is significantly above, %s: below, ~: no evidence, *: yours.", screen.sign("+"), first, screen.sign("-"))}
}

func pointsLegend(e *analysis.Estimates) string {
	return fmt.Sprintf("sorted by points per match without the luck of the draw, ± their %s interval; raw: as the referee gave them", words.Plain.Level(e.Level))
}

// firstOf returns the player among some that has the best place.
func firstOf(e *analysis.Estimates, fields []int) int {
	return slices.MinFunc(fields, func(i, j int) int { return e.Place(i) - e.Place(j) })
}

// sign writes a mark with the characters of the screen.
func (s *Screen) sign(mark string) string {
	if !s.Colour {
		return mark
	}
	switch mark {
	case "+":
		return "✓"
	case "-":
		return "✗"
	}
	return mark
}

// brief has the columns of a first look.
func (r *Document) brief(screen Screen) []column {
	differs := r.column("differs", 4, func(p *Player) string { return tight(p.Differ) })
	list := []column{r.strategy(), r.kind(2), differs}
	if !r.Estimates.NothingToRank() {
		list = []column{
			r.rank(), r.column("places", 5, func(p *Player) string { return words.Plain.Places(p.RankInterval) }), r.marks(screen), r.strategy(), r.kind(2),
			{head: "points", left: true, cells: words.PlusMinusColumn(r.estimates(func(p *Player) analysis.Estimate { return p.Adjusted }))},
			{head: "raw", keep: 1, cells: words.NumberColumn(r.estimates(func(p *Player) analysis.Estimate { return p.Points }))},
			r.column("wins", 3, func(p *Player) string { return tight(p.WinRate) }), differs,
		}
	}
	if slices.ContainsFunc(r.Players, func(p Player) bool { return p.TechnicalLosses > 0 }) {
		faults := r.column("faults", 6, func(p *Player) string { return words.Plain.Count(p.TechnicalLosses) })
		for _, p := range r.Players {
			faults.paint = append(faults.paint, map[bool]string{true: red, false: faint}[p.TechnicalLosses > 0])
		}
		list = append(list, faults)
	}
	for i := range list {
		c := &list[i]
		switch {
		case !screen.Colour:
			c.paint = nil
			continue
		case c.paint == nil:
			c.paint = make([]string, len(c.cells))
		}
		for k, p := range r.Players {
			if p.Yours {
				c.paint[k] = bold
			}
		}
	}
	return list
}

// tested has the rows of the two players of a test, and no columns about the others.
func (r *Document) tested(screen Screen) []column {
	q := r.Stopping.Ratio
	list := slices.DeleteFunc(r.brief(screen), func(c column) bool { return c.head == "#" || c.head == "places" || c.head == "" })
	keep := func(cells []string) []string {
		var kept []string
		for k, p := range r.Players {
			if cells != nil && (p.Name == q.New || p.Name == q.Old) {
				kept = append(kept, cells[k])
			}
		}
		return kept
	}
	for i := range list {
		list[i].cells, list[i].paint = keep(list[i].cells), keep(list[i].paint)
	}
	return list
}

// tight writes a share in percent for a column.
func tight(share analysis.Estimate) string {
	if !share.Defined() {
		return "-"
	}
	return words.Plain.Number(100*share.Estimate, 1) + "%"
}

// marks compares each player with the user's first strategy, or with the next player.
func (r *Document) marks(screen Screen) column {
	c := r.next(0, "", func(c analysis.Comparison) string { return words.Mark(c.Verdict) })
	for k, p := range r.Players {
		if p.Yours {
			c.cells[k] = "*"
		} else if len(r.Yours) > 0 {
			c.cells[k] = words.Against(&r.Estimates, firstOf(&r.Estimates, r.Yours), p.Field)
		}
		c.paint = append(c.paint, map[string]string{"+": green, "-": red, "~": faint}[c.cells[k]])
		c.cells[k] = screen.sign(c.cells[k])
	}
	return c
}

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
	lines := slices.Concat(r.Facts.ProcessLines(), r.Facts.SpenderLines(), r.Facts.AgentLines())
	about := struct {
		Facts
		Matches, Rate int64
	}{Facts: r.Facts, Matches: r.Estimates.Matches}
	if rate := float64(r.Facts.MatchesPerSecond); !math.IsInf(rate, 0) {
		about.Rate = int64(max(0, rate))
	}
	return slices.Concat(lines, words.Plain.Say("played", about), r.ReproducibleLines())
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

// otherFields writes what the order would be in other fields.
func (s *sheet) otherFields(r *Document) {
	x, e := r.Robustness, &r.Estimates
	if x == nil {
		return
	}
	each := func(head string, keep int, cell func(p robust.Player) string) column {
		return r.column(head, keep, func(p *Player) string { return cell(x.Players[p.Field]) })
	}
	s.lines("In other fields:")
	s.table([]column{
		r.rank(), r.strategy(),
		each("first%", 0, func(p robust.Player) string { return words.Plain.Number(100*p.First, 0) }),
		each("places", 0, func(p robust.Player) string { return words.Plain.Places(p.Places) }),
		each("std.error", 1, func(p robust.Player) string { return words.Plain.Number(p.Error, 4) }),
		each("without one", 2, func(p robust.Player) string { return words.Plain.Places(p.WithoutOne) }),
		each("without a family", 3, func(p robust.Player) string { return words.Plain.Places(p.WithoutFamily) }),
	})
	s.lines("")
	s.lines(words.Plain.Robustness(e, x)...)
	s.lines("first%, places, std.error (of adjusted points): with opponents resampled from these; without one, a family: places if one other strategy, "+
		"or the others that play alike, were not there. "+words.AssumedOfFields, "")
}
