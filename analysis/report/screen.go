package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"

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
	head := fmt.Sprintf("%s of %s, %s, draw %s, seed %d", words.Plain.Plural(int64(e.Leagues), "league"),
		words.Plain.Plural(int64(len(e.Players)), "strategy"), words.Plain.Plural(int64(r.Run.Plan.Legs), "leg"), r.Run.Plan.Draw, r.Run.Plan.Seed)
	if e.Level != analysis.DefaultLevel {
		head += ", intervals at " + words.Plain.Level(e.Level)
	}
	return head
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
	return fmt.Sprintf("sorted by points per match without the luck of the draw (raw: with it), ± their %s interval", words.Plain.Level(e.Level))
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
	e := &r.Estimates
	each := func(cell func(place int, p *analysis.Player) string) []string { return cellsOf(e, cell) }
	name := column{head: "strategy", left: true, cells: each(func(_ int, p *analysis.Player) string { return words.Printable(p.Name) })}
	kind := column{head: "kind", left: true, keep: 2, cells: each(func(_ int, p *analysis.Player) string { return words.Printable(p.Kind) })}
	differs := column{head: "differs", keep: 4, cells: each(func(_ int, p *analysis.Player) string { return tight(p.Differ) })}
	list := []column{name, kind, differs}
	if !e.NothingToRank() {
		points, raw := estimatesOf(e, func(p *analysis.Player) analysis.Estimate { return p.Adjusted }), estimatesOf(e, func(p *analysis.Player) analysis.Estimate { return p.Points })
		list = []column{
			{head: "#", cells: each(func(k int, _ *analysis.Player) string { return strconv.Itoa(k + 1) })},
			{head: "places", keep: 5, cells: each(func(_ int, p *analysis.Player) string { return words.Plain.Places(e.Ranking.Places[p.Field]) })},
			r.marks(screen),
			name,
			kind,
			{head: "points", left: true, cells: words.PlusMinusColumn(points)},
			{head: "raw", keep: 1, cells: words.NumberColumn(raw)},
			{head: "wins", keep: 3, cells: each(func(_ int, p *analysis.Player) string { return tight(p.WinRate) })},
			differs,
		}
	}
	if slices.ContainsFunc(e.Players, func(p analysis.Player) bool { return p.TechnicalLosses > 0 }) {
		faults := column{head: "faults", keep: 6, cells: each(func(_ int, p *analysis.Player) string { return words.Plain.Count(p.TechnicalLosses) })}
		faults.paint = each(func(_ int, p *analysis.Player) string {
			if p.TechnicalLosses > 0 {
				return red
			}
			return faint
		})
		list = append(list, faults)
	}
	r.paint(screen, list)
	return list
}

// tested has the rows of the two players of a test, and no columns about the others.
func (r *Document) tested(screen Screen) []column {
	e, q := &r.Estimates, r.Stopping.Ratio
	list := slices.DeleteFunc(r.brief(screen), func(c column) bool { return c.head == "#" || c.head == "places" || c.head == "" })
	keep := func(cells []string) []string {
		var kept []string
		for k, field := range e.Order {
			if name := e.Players[field].Name; cells != nil && (name == q.New || name == q.Old) {
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
	e := &r.Estimates
	neighbours := e.Neighbours()
	mark := func(place int, p *analysis.Player) string {
		switch {
		case slices.Contains(r.Yours, p.Field):
			return "*"
		case len(r.Yours) > 0:
			return words.Against(e, firstOf(e, r.Yours), p.Field)
		case place >= len(neighbours):
			return " "
		}
		return words.Mark(neighbours[place].Verdict)
	}
	c := column{cells: cellsOf(e, mark)}
	for k, m := range c.cells {
		c.cells[k] = screen.sign(m)
		c.paint = append(c.paint, map[string]string{"+": green, "-": red, "~": faint}[m])
	}
	return c
}

// paint highlights the user's strategies, or takes all colours away.
func (r *Document) paint(s Screen, list []column) {
	for i := range list {
		c := &list[i]
		if !s.Colour {
			c.paint = nil
			continue
		}
		if c.paint == nil {
			c.paint = make([]string, len(c.cells))
		}
		for k, field := range r.Estimates.Order {
			if slices.Contains(r.Yours, field) {
				c.paint[k] = bold
			}
		}
	}
}

// cellsOf renders a cell for each player, best first.
func cellsOf(e *analysis.Estimates, cell func(place int, p *analysis.Player) string) []string {
	list := make([]string, len(e.Order))
	for k, i := range e.Order {
		list[k] = cell(k, &e.Players[i])
	}
	return list
}

// estimatesOf returns an estimate of each player, best first.
func estimatesOf(e *analysis.Estimates, of func(p *analysis.Player) analysis.Estimate) []analysis.Estimate {
	list := make([]analysis.Estimate, len(e.Order))
	for k, i := range e.Order {
		list[k] = of(&e.Players[i])
	}
	return list
}
