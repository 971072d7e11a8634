package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/strategylab/strategylab/analysis"
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
