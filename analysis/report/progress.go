package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/results"
)

// Progress is what a run has shown so far, while it is being played.
type Progress struct {
	Plan      results.Plan
	Leagues   int
	Standings []analysis.Standing // best first
	Yours     []int               // field indices of the user's strategies
	Closeness *Closeness          // to a decision; nil without a stopping rule
}

// Closeness says how close a stopping rule is to its decision.
type Closeness struct {
	Rule                sequential.Rule
	Apart, Within, Open int     // pairs; see [sequential.Decisions.Counts]
	Ahead               int     // players that the first is significantly better than
	Widest              float64 // half of the widest interval of adjusted points
	Ratio               *Evidence
}

// Evidence is that of a sequential probability ratio test.
type Evidence struct {
	LLR, Low, High float64
	Known          bool // false before the burn-in
}

// Lines are the standings for a terminal: a table of at most rows players, those of the
// user among them, and how close the decision is.
func (p Progress) Lines(screen Screen, rows int) []string {
	s := sheet{width: screen.Width}
	s.table(p.columns(screen, p.shown(rows)))
	if p.Closeness != nil {
		s.lines(p.Decision())
	}
	return strings.Split(strings.TrimSuffix(s.String(), "\n"), "\n")
}

// shown returns the indices of the standings that have a row.
func (p Progress) shown(rows int) []int {
	var first, list []int
	for k, x := range p.Standings {
		if slices.Contains(p.Yours, x.Field) {
			first = append(first, k)
		}
	}
	first = first[:min(len(first), rows)]
	for k := range p.Standings {
		switch {
		case slices.Contains(first, k):
			list = append(list, k)
		case rows > len(first):
			list = append(list, k)
			rows--
		}
	}
	return list
}

func (p Progress) columns(screen Screen, shown []int) []column {
	each := func(cell func(k int, x *analysis.Standing) string) []string {
		list := make([]string, len(shown))
		for row, k := range shown {
			list[row] = cell(k, &p.Standings[k])
		}
		return list
	}
	estimates := func(of func(x *analysis.Standing) analysis.Estimate) []analysis.Estimate {
		var list []analysis.Estimate
		for _, k := range shown {
			list = append(list, of(&p.Standings[k]))
		}
		return list
	}
	entrant := func(x *analysis.Standing) results.Entrant { return p.Plan.Field[x.Field] }
	yours := func(_ int, x *analysis.Standing) string {
		if slices.Contains(p.Yours, x.Field) {
			return "*"
		}
		return " "
	}
	list := []column{
		{head: "#", cells: each(func(k int, _ *analysis.Standing) string { return strconv.Itoa(k + 1) })},
		{head: "", cells: each(yours)},
		{head: "strategy", left: true, cells: each(func(_ int, x *analysis.Standing) string { return words.Printable(entrant(x).Name) })},
		{head: "kind", left: true, keep: 2, cells: each(func(_ int, x *analysis.Standing) string { return words.Printable(entrant(x).Kind) })},
		{head: "points", left: true, cells: words.PlusMinusColumn(estimates(func(x *analysis.Standing) analysis.Estimate { return x.Adjusted }))},
		{head: "raw", keep: 1, cells: words.NumberColumn(estimates(func(x *analysis.Standing) analysis.Estimate { return x.Points }))},
		{head: "differs", keep: 4, cells: each(func(_ int, x *analysis.Standing) string { return tight(x.Differ) })},
	}
	if slices.ContainsFunc(p.Standings, func(x analysis.Standing) bool { return x.TechnicalLosses > 0 }) {
		list = append(list, column{head: "faults", keep: 6, cells: each(func(_ int, x *analysis.Standing) string { return words.Plain.Count(x.TechnicalLosses) })})
	}
	if !screen.Colour {
		return list
	}
	for i := range list {
		list[i].paint = each(func(k int, x *analysis.Standing) string {
			if yours(k, x) == "*" {
				return bold
			}
			return ""
		})
	}
	return list
}

// Decision says in a sentence how close the stopping rule is to its decision; it is empty
// without one.
func (p Progress) Decision() string {
	c := p.Closeness
	switch {
	case c == nil:
		return ""
	case c.Ratio != nil && !c.Ratio.Known:
		return fmt.Sprintf("The test: no decision before league %d.", sequential.BurnIn)
	case c.Ratio != nil:
		return fmt.Sprintf("The test: LLR %.2f, decided below %.2f or above %.2f.", c.Ratio.LLR, c.Ratio.Low, c.Ratio.High)
	case c.Rule.Kind == sequential.Best:
		return fmt.Sprintf("Until best: %s is significantly ahead of %d of %d others.",
			words.Printable(p.Plan.Field[p.Standings[0].Field].Name), c.Ahead, len(p.Standings)-1)
	case c.Rule.Kind == sequential.Precision:
		return fmt.Sprintf("Until precision: the widest interval is ±%s, wanted ±%v.", words.Plain.Number(c.Widest, 4), c.Rule.Width)
	}
	decided := fmt.Sprintf("Until ranked: %d of %s decided", c.Apart+c.Within, words.Plain.Plural(int64(c.Apart+c.Within+c.Open), "pair"))
	if c.Within > 0 {
		decided += fmt.Sprintf(", %d of them as equal", c.Within)
	}
	return decided + "."
}
