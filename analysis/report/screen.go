package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/robust"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/results"
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
	s := sheet{width: screen.Width, colour: screen.Colour}
	s.lines(slices.Concat(r.ConfirmationLines(), r.Answer, []string{""})...)
	if screen.Details {
		s.details(r)
	} else {
		s.brief(r, screen)
	}
	return s.send(w, "table")
}

// brief writes a first look. Of a test of two players it has no marks and places, which are
// about all.
func (s *sheet) brief(r *Document, screen Screen) {
	columns, legend := r.brief(screen), r.legend(screen)
	if q := r.Stopping.Ratio; q != nil {
		two := *r
		two.Players = slices.DeleteFunc(slices.Clone(r.Players), func(p Player) bool { return p.Name != q.New && p.Name != q.Old })
		columns = slices.DeleteFunc(two.brief(screen), func(c column) bool { return c.head == "#" || c.head == "places" || c.head == "" })
		legend = []string{pointsLegend(&r.Estimates) + "."}
	}
	stopping := r.StoppingLines()
	s.table(columns)
	s.lines("")
	s.lines(slices.Concat(legend, stopping[:max(0, len(stopping)-1)], r.WarningLines())...) // the last is about the method
	s.faults(r)
	s.lines(slices.Concat(r.Facts.QuarantineLines(), r.Facts.SpenderLines(), r.Facts.AgentLines(), AssertionLines(r.Assertions), r.ReproducibleLines(), []string{r.head()},
		words.Plain.Say("more", struct {
			Screen
			Test bool
		}{screen, r.Stopping.Ratio != nil}))...)
}

// head says what was played.
func (r *Document) head() string {
	return words.Plain.Say("head", struct {
		*Document
		Legs     int
		Seeds    string
		Standard float64
	}{r, r.Run.Plan.Legs, words.Seeds(r.seeds()), analysis.DefaultLevel})[0]
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
	marks := "> significantly above the next, ~ no evidence."
	if first := r.firstOfYours(); first != nil {
		marks = fmt.Sprintf("%s: %s is significantly above, %s: below, ~: no evidence, *: yours.", screen.sign("+"), words.Printable(first.Name), screen.sign("-"))
	}
	return []string{pointsLegend(e) + "; places: possible by expected points in this field; " + marks}
}

func pointsLegend(e *analysis.Estimates) string {
	return fmt.Sprintf("sorted by points per match without the luck of the draw, ± their %s interval; raw: as the referee gave them", words.Plain.Level(e.Level))
}

// firstOfYours is the user's player with the best place; nil for none.
func (r *Document) firstOfYours() *Player {
	if i := slices.IndexFunc(r.Players, func(p Player) bool { return p.Yours }); i >= 0 {
		return &r.Players[i]
	}
	return nil
}

// sign writes a mark with the characters of the screen.
func (s *Screen) sign(mark string) string {
	if s.Colour {
		return cmp.Or(map[string]string{"+": "✓", "-": "✗"}[mark], mark)
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
			{head: "points", left: true, cells: words.PlusMinusColumn(r.estimates(analysis.Adjusted))},
			{head: "raw", keep: 1, cells: words.NumberColumn(r.estimates(analysis.Points))},
			r.column("wins", 3, func(p *Player) string { return tight(p.WinRate) }), differs,
		}
	}
	if slices.ContainsFunc(r.Players, func(p Player) bool { return p.TechnicalLosses > 0 }) {
		faults := r.technical("faults", 6)
		faults.paint = make([]string, len(r.Players))
		for k, cell := range faults.cells {
			faults.paint[k] = cmp.Or(map[string]string{"0": faint}[cell], red)
		}
		list = append(list, faults)
	}
	return embolden(list, func(row int) bool { return r.Players[row].Yours })
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
	c, first := r.mark(), r.firstOfYours()
	c.paint = make([]string, len(r.Players))
	for k, p := range r.Players {
		if p.Yours {
			c.cells[k] = "*"
		} else if first != nil {
			c.cells[k] = words.Against(&r.Estimates, first.Field, p.Field)
		}
		c.paint[k] = map[string]string{"+": green, "-": red, "~": faint}[c.cells[k]]
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
	percent := func(head string, keep int, of analysis.Quantity) column {
		return r.column(head, keep, func(p *Player) string { return words.Plain.Number(100*of.Of(&p.Player).Estimate, 1) })
	}
	points := func(head string, keep int, of analysis.Quantity) column {
		return column{head: head, left: true, keep: keep, cells: words.PlusMinusColumn(r.estimates(of))}
	}
	if r.Estimates.NothingToRank() {
		return []column{r.strategy(), r.kind(1), percent("differ%", 0, analysis.Differ), r.technical("tech.", 8)}
	}
	return []column{
		r.rank(), r.mark(), r.strategy(), r.kind(1),
		r.column("tier", 10, func(p *Player) string { return strconv.Itoa(p.Tier) }),
		r.column("places", 9, func(p *Player) string { return words.Plain.Places(p.RankInterval) }),
		points("points", 6, analysis.Points),
		points("adjusted", 0, analysis.Adjusted),
		percent("win%", 4, analysis.WinRate),
		percent("adj.win%", 2, analysis.AdjustedWinRate),
		percent("differ%", 3, analysis.Differ),
		percent("titles%", 7, analysis.ChampionShare),
		r.column("mean place", 5, func(p *Player) string { return words.Plain.Number(p.Rank.Estimate, 2) }),
		r.technical("tech.", 8),
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
	about := struct {
		*Document
		Differ, Holm int
	}{Document: r}
	for _, c := range e.Ranking.Comparisons {
		if c.Verdict == analysis.Different {
			about.Differ++
		}
		if c.Verdict != analysis.Equal && c.Holm <= 1-e.Ranking.Level {
			about.Holm++
		}
	}
	return words.Plain.Say("ranking", about)
}

// factLines say what was played, and how to recognise it.
func (r *Document) factLines() []string {
	about := struct {
		Facts
		Matches, Rate int64
	}{Facts: r.Facts, Matches: r.Matches}
	if rate := float64(r.Facts.MatchesPerSecond); !math.IsInf(rate, 0) {
		about.Rate = int64(max(0, rate))
	}
	return slices.Concat(r.Facts.ProcessLines(), r.Facts.SpenderLines(), r.Facts.AgentLines(), words.Plain.Say("played", about), r.ReproducibleLines())
}

// oneLeague writes what to expect of the players in a single league, each compared with
// the next.
func (s *sheet) oneLeague(r *Document) {
	e := &r.Estimates
	lines := words.Plain.OneLeague(e)
	if e.Leagues < 2 || len(lines) == 0 {
		return
	}
	next := func(head string, keep int, cell func(c analysis.Comparison, o analysis.Odds) string) column {
		return r.next(head, keep, func(c analysis.Comparison) string { return cell(c, e.OddsOf(c.A, c.B)) })
	}
	s.lines("", "In one league:")
	s.table([]column{
		r.rank(), r.strategy(), r.column("titles%", 0, func(p *Player) string { return words.PlusMinus(p.ChampionShare, 100, 1) }),
		next("", 3, func(_ analysis.Comparison, o analysis.Odds) string { return words.Sign(o.Titles, o.TitlesA, o.TitlesB) }),
		next("above next%", 2, func(_ analysis.Comparison, o analysis.Odds) string { return words.PlusMinus(o.Above, 100, 1) }),
		next("", 2, func(_ analysis.Comparison, o analysis.Odds) string { return words.Sign(o.Verdict, o.AboveA, o.AboveB) }),
		next("lead", 1, func(c analysis.Comparison, o analysis.Odds) string {
			return words.Plain.Number(o.Effect(c.Difference).Estimate, 2)
		}),
	})
	s.lines("")
	s.lines(lines...)
	s.lines(append(words.Plain.Say("single leagues", nil), "")...)
}

// longestFault is how much of a script's message is printed, its hint included.
const longestFault = 300

// faults says what each player's technical losses were. Commands are not broken, so
// that they can be pasted.
func (s *sheet) faults(r *Document) {
	for _, p := range r.Players {
		for _, line := range words.Plain.Faults(&p.Player, r.Folder, longestFault) {
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
	x := r.Robustness
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
	s.lines(words.Plain.Robustness(&r.Estimates, x)...)
	s.lines(words.Plain.Say("resampled fields", nil)...)
	s.lines("")
}

// WriteMatch writes what two strategies have shown against each other.
func WriteMatch(w io.Writer, plan results.Plan, est analysis.Estimates) error {
	about := struct {
		*analysis.Estimates
		analysis.Pair
		Plan results.Plan
		Wins [2]int64
	}{&est, est.Pairs[0], plan, [2]int64{est.Pairs[0].WinsA, est.Pairs[0].WinsB}}
	var s sheet
	s.lines(words.Plain.Say("met", about)[0], "")
	s.lines(words.Plain.Say("match", about)...)
	if est.NothingToRank() {
		s.lines("", "The draw is fair, so neither strategy can beat the other: each expects 1 + P(differ)/2 points a match.")
	}
	return s.send(w, "match")
}
