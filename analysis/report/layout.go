package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
)

// column is one column of a table, cells from top to bottom.
type column struct {
	head  string
	cells []string
	left  bool     // aligned left; numbers are aligned right
	keep  int      // the columns with the smallest go first when space is short; 0 is kept always
	paint []string // ANSI attributes of the cells; nil for none
}

// columnOf makes a column with a cell for each of a list; a head that begins with < is
// aligned left.
func columnOf[T any](head string, keep int, list []T, cell func(x *T) string) column {
	name, left := strings.CutPrefix(head, "<")
	c := column{head: name, left: left, keep: keep, cells: make([]string, len(list))}
	for i := range list {
		c.cells[i] = cell(&list[i])
	}
	return c
}

// column makes a column with a cell for each player, best first.
func (r *Document) column(head string, keep int, cell func(p *Player) string) column {
	return columnOf(head, keep, r.Players, cell)
}

// rank, strategy and kind begin the tables.
func (r *Document) rank() column {
	return r.column("#", 0, func(p *Player) string { return strconv.Itoa(p.Place) })
}

func (r *Document) strategy() column {
	return r.column("<strategy", 0, func(p *Player) string { return words.Printable(p.Name) })
}

func (r *Document) kind(keep int) column {
	return r.column("<kind", keep, func(p *Player) string { return words.Printable(p.Kind) })
}

// estimates returns a quantity of each player, best first.
func (r *Document) estimates(of analysis.Quantity) []analysis.Estimate {
	list := make([]analysis.Estimate, len(r.Players))
	for i := range r.Players {
		list[i] = of.Of(&r.Players[i].Player)
	}
	return list
}

func (r *Document) technical(head string, keep int) column {
	return r.column(head, keep, func(p *Player) string { return words.Plain.Count(p.TechnicalLosses) })
}

// next makes a column of what each player's comparison with the next says.
func (r *Document) next(head string, keep int, cell func(c analysis.Comparison) string) column {
	neighbours := r.Estimates.Neighbours()
	return r.column(head, keep, func(p *Player) string {
		if p.Place > len(neighbours) {
			return ""
		}
		return cell(neighbours[p.Place-1])
	})
}

func (r *Document) mark() column {
	return r.next("", 0, func(c analysis.Comparison) string { return words.Mark(c.Verdict) })
}

// sheet is a text for people, of lines and tables that fit a width; 0 is no limit.
type sheet struct {
	bytes.Buffer
	width  int
	colour bool // else nothing is painted
}

// lines writes sentences, broken where they are too long.
func (s *sheet) lines(list ...string) {
	for _, line := range list {
		s.WriteString(words.Wrap(line, s.width) + "\n")
	}
}

// send writes the sheet in one piece.
func (s *sheet) send(w io.Writer, what string) error {
	if _, err := w.Write(s.Bytes()); err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	return nil
}

const (
	columnGap    = "  "
	shortestName = 12 // names are not cut below this
)

// table writes columns side by side. If the width is too small for all, the less
// important ones are left out and long names shortened.
func (s *sheet) table(columns []column) {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = utf8.RuneCountInString(c.head)
		for _, cell := range c.cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	shown := fit(columns, widths, s.width)
	for row := -1; row < len(columns[0].cells); row++ { // from the heads on
		var line []string
		for i, c := range columns {
			text, paint, width := c.head, "", widths[i]
			if row >= 0 {
				text = c.cells[row]
			}
			if row >= 0 && s.colour && c.paint != nil && strings.TrimSpace(text) != "" {
				paint = c.paint[row]
			}
			if c.left {
				width = -width
			}
			if text = fmt.Sprintf("%*s", width, words.Shorten(text, widths[i])); paint != "" {
				text = words.Paint(text, paint)
			}
			if shown[i] {
				line = append(line, text)
			}
		}
		s.WriteString(strings.TrimRight(strings.Join(line, columnGap), " ") + "\n")
	}
}

// embolden paints the rows of the user's strategies.
func embolden(columns []column, yours func(row int) bool) []column {
	for i := range columns {
		c := &columns[i]
		if c.paint == nil {
			c.paint = make([]string, len(c.cells))
		}
		for row := range c.paint {
			if yours(row) {
				c.paint[row] = bold
			}
		}
	}
	return columns
}

// fit leaves out columns, the least important first, and then narrows the names, until
// the lines have the width or nothing is left that may go.
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
	names := slices.IndexFunc(columns, func(c column) bool { return c.left }) // the first column of text
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
