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
	"github.com/strategylab/strategylab/analysis/robust"
	"github.com/strategylab/strategylab/analysis/words"
)

// column is one column of a table, cells from top to bottom.
type column struct {
	Head  string
	Cells []string
	Left  bool     // aligned left; numbers are aligned right
	keep  int      // the columns with the smallest go first when space is short; 0 is kept always
	paint []string // ANSI attributes of the cells; nil for none
}

// columnsOf makes the columns of a table of package words, which says them of each row: the
// head, the importance and the cell. A head that begins with < is aligned left.
func columnsOf[T any](table string, rows []T) (list []column) {
	for _, row := range rows {
		for k, line := range words.Plain.Say(table, row) {
			part := strings.SplitN(line, "|", 3)
			if k == len(list) {
				keep, _ := strconv.Atoi(part[1])
				head, left := strings.CutPrefix(part[0], "<")
				list = append(list, column{Head: head, Left: left, keep: keep})
			}
			list[k].Cells = append(list[k].Cells, part[2])
		}
	}
	return list
}

// row is a player in a table, with what the other rows say of it.
type row struct {
	*Player
	Ranked, Placed, Failing bool // the players are: by points, by places too; some by failing
	Mark                    string
	Cells                   cells
	Next                    *analysis.Comparison // with the next; nil for the last
	Odds                    *analysis.Odds       // against the next in one league; nil if unknown
	Elsewhere               *robust.Player       // in other fields; nil if unknown
}

// cells are those of columns whose decimal points stand below each other.
type cells struct{ Points, Adjusted, Raw string }

// aligned has the cells of points by row.
func aligned(points, adjusted []analysis.Estimate) []cells {
	list, p, a, raw := make([]cells, len(points)), words.PlusMinusColumn(points), words.PlusMinusColumn(adjusted), words.NumberColumn(points)
	for k := range list {
		list[k] = cells{p[k], a[k], raw[k]}
	}
	return list
}

// rows are the rows of some players, best first.
func (r *Document) rows(players []Player) []row {
	e := &r.Estimates
	next, list := e.Neighbours(), make([]row, len(players))
	var points, adjusted []analysis.Estimate
	for k := range players {
		p := &players[k]
		list[k] = row{Player: p, Ranked: !e.NothingToRank()}
		points, adjusted = append(points, p.Points), append(adjusted, p.Adjusted)
		if p.Place <= len(next) {
			c := &next[p.Place-1]
			list[k].Next, list[k].Mark = c, words.Mark(c.Verdict)
			if len(e.Odds) > 0 {
				o := e.OddsOf(c.A, c.B)
				list[k].Odds = &o
			}
		}
		if r.Robustness != nil {
			list[k].Elsewhere = &r.Robustness.Players[p.Field]
		}
	}
	for k, c := range aligned(points, adjusted) {
		list[k].Cells = c
	}
	return list
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
		widths[i] = utf8.RuneCountInString(c.Head)
		for _, cell := range c.Cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	shown := fit(columns, widths, s.width)
	for row := -1; row < len(columns[0].Cells); row++ { // from the heads on
		var line []string
		for i, c := range columns {
			text, paint, width := c.Head, "", widths[i]
			if row >= 0 {
				text = c.Cells[row]
			}
			if row >= 0 && s.colour && c.paint != nil && strings.TrimSpace(text) != "" {
				paint = c.paint[row]
			}
			if c.Left {
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

// embolden paints the rows of the user's strategies, and other cells as of says.
func embolden(columns []column, yours func(row int) bool, of func(head, cell string) string) []column {
	for i := range columns {
		c := &columns[i]
		for row, cell := range c.Cells {
			attribute := bold
			if !yours(row) {
				attribute = of(c.Head, cell)
			}
			c.paint = append(c.paint, attribute)
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
	names := slices.IndexFunc(columns, func(c column) bool { return c.Left }) // the first column of text
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
