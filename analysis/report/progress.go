package report

import (
	"slices"
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
	s := sheet{width: screen.Width, colour: screen.Colour}
	s.table(p.columns(p.shown(rows)))
	if p.Closeness != nil {
		s.lines(p.Decision())
	}
	return strings.Split(strings.TrimSuffix(s.String(), "\n"), "\n")
}

func (p Progress) yours(k int) bool { return slices.Contains(p.Yours, p.Standings[k].Field) }

// shown returns the indices of the standings that have a row: the first, and those of the user.
func (p Progress) shown(rows int) (list []int) {
	var others []int
	for k := range p.Standings {
		if p.yours(k) {
			list = append(list, k)
		} else {
			others = append(others, k)
		}
	}
	list = list[:min(rows, len(list))]
	list = append(list, others[:min(rows-len(list), len(others))]...)
	slices.Sort(list)
	return list
}

func (p Progress) columns(shown []int) []column {
	type row struct {
		analysis.Standing
		Place            int
		Mark, Name, Kind string
		Cells            cells
		Failing          bool // some do
	}
	var adjusted, points []analysis.Estimate
	for _, k := range shown {
		adjusted, points = append(adjusted, p.Standings[k].Adjusted), append(points, p.Standings[k].Points)
	}
	failing := slices.ContainsFunc(p.Standings, func(x analysis.Standing) bool { return x.TechnicalLosses > 0 })
	var rows []row
	for i, c := range aligned(points, adjusted) {
		k := shown[i]
		x := row{p.Standings[k], k + 1, " ", p.Plan.Field[p.Standings[k].Field].Name, p.Plan.Field[p.Standings[k].Field].Kind, c, failing}
		if p.yours(k) {
			x.Mark = "*"
		}
		rows = append(rows, x)
	}
	return embolden(columnsOf("progress", rows), func(row int) bool { return p.yours(shown[row]) }, func(string, string) string { return "" })
}

// Decision says in a sentence how close the stopping rule is to its decision; it is empty
// without one.
func (p Progress) Decision() string {
	if p.Closeness == nil {
		return ""
	}
	return words.Plain.Say("closeness", struct {
		Progress
		BurnIn int
	}{p, sequential.BurnIn})[0]
}
