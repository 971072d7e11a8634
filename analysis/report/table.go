package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/strategylab/strategylab/analysis"
)

// WriteTable writes the report for people: one line a player, best first, and
// under it what the differences are worth. It is plain text without colours. If
// width is positive and too small for all columns, the less important ones are
// left out, long names shortened, and sentences broken, so that lines fit.
//
// An interval is given as ± its longer half. The mark after the place says
// whether the player is really above the next: ">" significantly, "=" both
// scored the same in every league, "~" there is no evidence. The marks, tiers
// and ranges of places hold together.
func WriteTable(w io.Writer, r Run, width int) error {
	var buf bytes.Buffer
	e := &r.Estimates
	head := fmt.Sprintf("%s of %s, %s, draw %s, seed %d", plural(int64(e.Leagues), "league"),
		plural(int64(len(e.Players)), "strategy"), plural(int64(r.Plan.Legs), "leg"), r.Plan.Draw, r.Plan.Seed)
	if e.Level != analysis.DefaultLevel {
		head += fmt.Sprintf(", intervals at %s %%", strconv.FormatFloat(100*e.Level, 'g', 6, 64))
	}
	buf.WriteString(wrap(head, width) + "\n\n")
	renderColumns(&buf, r.columns(), width)
	buf.WriteByte('\n')
	for _, line := range slices.Concat([]string{r.verdict()}, r.StoppingLines(), r.rankingLines(), r.faultLines(), r.processLines(), r.factLines(), AssertionLines(r.Assertions)) {
		buf.WriteString(wrap(line, width) + "\n")
	}
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// column is one column of the table, cells from the first place to the last.
type column struct {
	head  string
	cells []string
	left  bool // aligned left; numbers are aligned right
	keep  int  // the columns with the smallest go first when space is short; 0 is kept always
}

// columns renders all cells. Two players of whom neither can be better have
// only those columns that say something of them.
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
		places := decimals(e, of)
		return each(func(_ int, p *analysis.Player) string { return withInterval(of(p), places) })
	}
	percent := func(of func(p *analysis.Player) analysis.Estimate) []string {
		return each(func(_ int, p *analysis.Player) string { return fixed(of(p), 100, 1) })
	}
	name := column{head: "strategy", left: true, cells: each(func(_ int, p *analysis.Player) string { return printable(p.Name) })}
	kind := column{head: "kind", left: true, keep: 1, cells: each(func(_ int, p *analysis.Player) string { return printable(p.Kind) })}
	tech := column{head: "tech.", keep: 8, cells: each(func(_ int, p *analysis.Player) string { return grouped(p.TechnicalLosses) })}
	differ := column{head: "differ%", keep: 3, cells: percent(func(p *analysis.Player) analysis.Estimate { return p.Differ })}
	if e.NothingToRank() {
		name.keep, differ.keep = 0, 0
		return []column{name, kind, differ, tech}
	}
	tiers := r.tierOf()
	return []column{
		{head: "#", cells: each(func(k int, _ *analysis.Player) string { return fmt.Sprint(k + 1) })},
		{head: "", cells: each(func(k int, _ *analysis.Player) string { return r.mark(k) })},
		name,
		kind,
		{head: "tier", keep: 10, cells: each(func(_ int, p *analysis.Player) string { return fmt.Sprint(tiers[p.Field]) })},
		{head: "places", keep: 9, cells: each(func(_ int, p *analysis.Player) string { return placesOf(e.Ranking.Places[p.Field]) })},
		{head: "points", keep: 6, cells: estimates(func(p *analysis.Player) analysis.Estimate { return p.Points })},
		{head: "adjusted", cells: estimates(func(p *analysis.Player) analysis.Estimate { return p.Adjusted })},
		{head: "win%", keep: 4, cells: percent(func(p *analysis.Player) analysis.Estimate { return p.WinRate })},
		{head: "adj.win%", keep: 2, cells: percent(func(p *analysis.Player) analysis.Estimate { return p.AdjustedWinRate })},
		differ,
		{head: "titles%", keep: 7, cells: percent(func(p *analysis.Player) analysis.Estimate { return p.ChampionShare })},
		{head: "rank", keep: 5, cells: each(func(_ int, p *analysis.Player) string { return fixed(p.Rank, 1, 2) })},
		tech,
	}
}

// placesOf writes a range of places.
func placesOf(p [2]int) string {
	if p[0] == p[1] {
		return strconv.Itoa(p[0])
	}
	return fmt.Sprintf("%d-%d", p[0], p[1])
}

// mark says what is known of the difference to the player below.
func (r Run) mark(place int) string {
	neighbours := r.Estimates.Neighbours()
	if place >= len(neighbours) {
		return " "
	}
	switch neighbours[place].Verdict {
	case analysis.Different:
		return ">"
	case analysis.Equal:
		return "="
	}
	return "~"
}

const (
	columnGap    = "  "
	shortestName = 12 // names are not cut below this
)

func renderColumns(buf *bytes.Buffer, columns []column, width int) {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = utf8.RuneCountInString(c.head)
		for _, cell := range c.cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	shown := fit(columns, widths, width)
	line := func(cell func(c column) string) {
		var b strings.Builder
		for i, c := range columns {
			if !shown[i] {
				continue
			}
			if b.Len() > 0 {
				b.WriteString(columnGap)
			}
			b.WriteString(pad(shorten(cell(c), widths[i]), widths[i], c.left))
		}
		buf.WriteString(strings.TrimRight(b.String(), " "))
		buf.WriteByte('\n')
	}
	line(func(c column) string { return c.head })
	for k := range columns[0].cells {
		line(func(c column) string { return c.cells[k] })
	}
}

// fit leaves columns out, those first that matter least, and then narrows the
// names, until the lines have the width or nothing is left that may go.
func fit(columns []column, widths []int, width int) []bool {
	shown := make([]bool, len(columns))
	total := -len(columnGap)
	for i := range columns {
		shown[i] = true
		total += widths[i] + len(columnGap)
	}
	if width <= 0 {
		return shown
	}
	names := slices.IndexFunc(columns, func(c column) bool { return c.left }) // which stand first of these
	spare := max(0, widths[names]-shortestName)                               // what the names can give
	for total-spare > width {
		least := -1
		for i, c := range columns {
			if shown[i] && c.keep > 0 && (least < 0 || c.keep < columns[least].keep) {
				least = i
			}
		}
		if least < 0 {
			break
		}
		shown[least] = false
		total -= widths[least] + len(columnGap)
	}
	widths[names] -= min(spare, max(0, total-width))
	return shown
}

func pad(s string, width int, left bool) string {
	gap := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
	if left {
		return s + gap
	}
	return gap + s
}

// shorten cuts s to at most width characters, of which the last is then an
// ellipsis.
func shorten(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	runes := []rune(s)
	return string(runes[:max(0, width-1)]) + "…"
}

// printable replaces what could move a terminal's cursor or change its colours:
// names and fault texts come from other people's scripts.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return '?'
	}, s)
}
