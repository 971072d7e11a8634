package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/assert"
	"github.com/strategylab/strategylab/analysis/contrast"
	"github.com/strategylab/strategylab/analysis/words"
)

// ContrastSchema is the version of the document that [WriteContrastJSON] writes.
const ContrastSchema = "strategylab/contrast/v1"

// Contrast is all that a report on two runs is made from.
type Contrast struct {
	Before Source `json:"before"`
	After  Source `json:"after"`
	contrast.Result
	// Replaced has the names of the strategies that were swapped; changes for others
	// are spill-over.
	Replaced   []string         `json:"-"`
	Assertions []assert.Outcome `json:"assertions,omitempty"` // about the second run
}

// Source is one of the runs.
type Source struct {
	Dir     string `json:"dir"`
	Digest  string `json:"digest"`  // of all its leagues
	Leagues int    `json:"leagues"` // that were compared; [WriteContrastJSON] fills it in
	Stopped bool   `json:"stopped"` // by a stopping rule; then the intervals are too short
}

// WriteContrastJSON writes the comparison as a document.
func WriteContrastJSON(w io.Writer, c Contrast) error {
	c.Before.Leagues, c.After.Leagues = c.Leagues[0], c.Leagues[1]
	return writeDocument(w, "comparison", struct {
		Schema string `json:"schema"`
		Contrast
	}{ContrastSchema, c})
}

// WriteContrastCSV writes one line per strategy and measure, under a header line.
func WriteContrastCSV(w io.Writer, c Contrast) error {
	rows := [][]string{{"name", "measure", "before", "after", "difference", "difference_low", "difference_high", "p", "corrected", "verdict"}}
	for _, p := range c.Result.Players {
		for _, e := range p.Effects {
			rows = append(rows, record(p.Name, e.Measure, float64(e.Before), float64(e.After), e.Difference, e.P, e.Corrected, e.Verdict))
		}
	}
	return writeCSV(w, "changes", rows)
}

// WriteContrastTable writes the comparison for people; see [WriteTable].
func WriteContrastTable(w io.Writer, c Contrast, width int) error {
	s := sheet{width: width}
	s.lines(slices.Concat(words.Plain.Say("compared", c), []string{""}, words.Plain.Say("changed plan", c))...)
	if len(c.Result.Players) > 0 {
		s.lines("")
		s.table(columnsOf("changes", c.rows(c.Result.Players)))
	}
	s.lines("")
	s.lines(append(c.verdictLines(), AssertionLines(c.Assertions)...)...)
	return s.send(w, "comparison")
}

// WriteChanges writes for people what has changed since the run before, in a run of the
// same plan: the strategies with other code and those that changed significantly, each
// with the intervals of its changes. See [WriteTable].
func WriteChanges(w io.Writer, c Contrast, width int) error {
	r := &c.Result
	s := sheet{width: width}
	s.lines("", fmt.Sprintf("Changes since the run before, league by league over %s:", words.Plain.Plural(int64(r.Leagues[0]), "league")))
	s.lines(words.Plain.Say("changed field", c)...)
	shown := slices.DeleteFunc(slices.Clone(r.Players), func(p contrast.Player) bool {
		return !p.CodeChanged && verdictOf(&p) != analysis.Different
	})
	if len(shown) > 0 {
		s.table(columnsOf("changes", c.rows(shown)))
	}
	s.lines(c.verdictLines()...)
	return s.send(w, "changes")
}

// changedRow is what changed for a strategy.
type changedRow struct {
	contrast.Player
	Mark     string // of its verdict
	Replaced bool
	Changes  []change
	Least    float64 // p-value
}

// change is that of a measure. Numbers are shown times Scale.
type change struct {
	contrast.Effect
	Scale             float64
	Decimals          int
	What              string
	Places            int // decimals in the table
	Was, Is, By, Half float64
}

// units are how changes of quantities are said.
var units = map[analysis.Quantity]change{
	analysis.Adjusted: {Scale: 1, Decimals: 4, What: "adjusted points"},
	analysis.Differ:   {Scale: 100, Decimals: 2, What: "percentage points of differing"},
	analysis.Rank:     {Scale: 1, Decimals: 2, What: "places"},
}

// rows has one for each strategy of some.
func (c *Contrast) rows(players []contrast.Player) (rows []changedRow) {
	for _, p := range players {
		row := changedRow{p, words.Mark(verdictOf(&p)), slices.Contains(c.Replaced, p.Name), nil, 1}
		for k, e := range p.Effects {
			var all []analysis.Estimate
			for _, o := range players {
				all = append(all, o.Effects[k].Difference)
			}
			x := units[e.Measure.Quantity]
			x.Effect = e
			if e.Measure.Unchanged {
				x.What += " of spill-over"
			}
			x.Places, x.Was, x.Is = words.Decimals(x.Scale, all...), x.Scale*float64(e.Before), x.Scale*float64(e.After)
			x.By, x.Half = x.Scale*e.Difference.Estimate, x.Scale*words.HalfWidth(e.Difference)
			row.Changes, row.Least = append(row.Changes, x), min(row.Least, e.Corrected)
		}
		rows = append(rows, row)
	}
	return rows
}

// verdictOf is the verdict on a player: different if any of its measures is.
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

// verdictLines say which changes are significant, and for which there is no evidence.
func (c *Contrast) verdictLines() []string {
	return words.Plain.Say("verdicts", struct {
		*Contrast
		Rows []changedRow
	}{c, c.rows(c.Result.Players)})
}
