package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/contrast"
)

// WriteContrastTable writes the comparison for people; see [WriteTable].
func WriteContrastTable(w io.Writer, c Contrast, width int) error {
	var buf bytes.Buffer
	for _, line := range c.headLines() {
		buf.WriteString(wrap(line, width) + "\n")
	}
	if len(c.Result.Players) > 0 {
		buf.WriteByte('\n')
		renderColumns(&buf, c.columns(), width)
	}
	buf.WriteByte('\n')
	for _, line := range append(c.verdictLines(), AssertionLines(c.Assertions)...) {
		buf.WriteString(wrap(line, width) + "\n")
	}
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

func (c *Contrast) headLines() []string {
	r := &c.Result
	lines := []string{fmt.Sprintf("%s, then %s", printable(c.Before.Dir), printable(c.After.Dir))}
	how := fmt.Sprintf("compared league by league over %s: one seed", plural(int64(r.Leagues[0]), "league"))
	switch {
	case r.Shared:
		how += ", so the seats, draws and coins are the same"
	case !r.Paired:
		how = fmt.Sprintf("two independent runs, of %s and %s", plural(int64(r.Leagues[0]), "league"), plural(int64(r.Leagues[1]), "league"))
	}
	lines = append(lines, how, "")
	if len(r.Plan) == 0 {
		lines = append(lines, "Nothing changed in the plan.")
	} else {
		lines = append(lines, "What changed in the plan:")
	}
	for _, x := range r.Plan {
		what := x.What
		if x.Player != "" {
			what += " of " + printable(x.Player)
		}
		lines = append(lines, fmt.Sprintf("  %s: %s, then %s", what, printable(x.Before), printable(x.After)))
	}
	if len(r.Gone) > 0 {
		lines = append(lines, "  gone: "+printable(strings.Join(r.Gone, ", ")))
	}
	if len(r.New) > 0 {
		lines = append(lines, "  new: "+printable(strings.Join(r.New, ", ")))
	}
	return lines
}

// columns has a line for each strategy: before, after, and the change of each
// measure.
func (c *Contrast) columns() []column {
	players := c.Result.Players
	each := func(of func(p *contrast.Player) string) []string {
		list := make([]string, len(players))
		for i := range players {
			list[i] = of(&players[i])
		}
		return list
	}
	list := []column{
		{head: "", cells: each(func(p *contrast.Player) string { return changeMark(p) })},
		{head: "", cells: each(func(p *contrast.Player) string {
			if p.CodeChanged {
				return "*"
			}
			return ""
		})},
		{head: "strategy", left: true, cells: each(func(p *contrast.Player) string { return printable(p.Name) })},
	}
	for k, e := range players[0].Effects {
		head, scale := e.Quantity.String(), 1.0
		if e.Quantity == analysis.Differ {
			head, scale = "differ%", 100
		}
		places := c.decimals(k, scale)
		change := column{head: "change", keep: 7, cells: each(func(p *contrast.Player) string {
			d := p.Effects[k].Difference
			switch {
			case !d.Defined():
				return "-"
			case p.Effects[k].Verdict == analysis.Equal:
				return "none"
			}
			return fmt.Sprintf("%+.*f ±%.*f", places, scale*d.Estimate, places, scale*half(d))
		})}
		if e.Unchanged {
			change.head = "spill-over"
			list = append(list, change)
			continue
		}
		if k > 0 {
			change.keep = 5
		}
		list = append(list, column{head: head, keep: 4, cells: each(func(p *contrast.Player) string {
			return fmt.Sprintf("%s to %s", plain(scale*p.Effects[k].Before, places), plain(scale*p.Effects[k].After, places))
		})}, change)
	}
	list[4].keep = 0
	return append(list, column{head: "p", keep: 6, cells: each(func(p *contrast.Player) string {
		least := 1.0
		for _, e := range p.Effects {
			least = min(least, e.Corrected)
		}
		return pText(least)
	})})
}

func pText(p float64) string {
	if p < 0.0001 {
		return "<0.0001"
	}
	return strconv.FormatFloat(p, 'f', 4, 64)
}

func plain(x float64, places int) string {
	if n := number(x); n == nil {
		return "-"
	}
	return strconv.FormatFloat(x, 'f', places, 64)
}

// decimals is how many places show two digits of the widest interval of a
// measure.
func (c *Contrast) decimals(k int, scale float64) int {
	widest := 0.0
	for i := range c.Result.Players {
		widest = max(widest, scale*half(c.Result.Players[i].Effects[k].Difference))
	}
	places := 2
	for scaled := widest * 100; places < 6 && scaled < 9.5; places++ {
		scaled *= 10
	}
	return places
}

// changeMark says in one character what is known: "!" really changed, "=" the
// same in every league, "~" no evidence.
func changeMark(p *contrast.Player) string {
	switch verdictOf(p) {
	case analysis.Different:
		return "!"
	case analysis.Equal:
		return "="
	}
	return "~"
}

// verdictOf is what is known of a player: changed if any measure is.
func verdictOf(p *contrast.Player) analysis.Verdict {
	all := analysis.Equal
	for _, e := range p.Effects {
		switch {
		case e.Verdict == analysis.Different:
			return analysis.Different
		case e.Verdict == analysis.Undecided && e.Difference.Defined():
			all = analysis.Undecided
		}
	}
	return all
}
