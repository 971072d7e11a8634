package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

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
		s.table(c.columns())
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
	shown := c
	shown.Result.Players = slices.DeleteFunc(slices.Clone(r.Players), func(p contrast.Player) bool {
		return !p.CodeChanged && verdictOf(&p) != analysis.Different
	})
	if len(shown.Result.Players) > 0 {
		s.table(shown.columns())
	}
	s.lines(c.verdictLines()...)
	return s.send(w, "changes")
}

// columns has a line for each strategy: before, after, and the change of each
// measure.
func (c *Contrast) columns() []column {
	type change struct {
		contrast.Effect
		Scale             float64
		Places            int
		Was, Is, By, Half float64 // times Scale
		Same              bool
	}
	type row struct {
		contrast.Player
		Mark    string
		Changes []change
		Least   float64 // p-value
	}
	rows := make([]row, len(c.Result.Players))
	for i, p := range c.Result.Players {
		rows[i] = row{p, strings.Replace(words.Mark(verdictOf(&p)), ">", "!", 1), nil, 1}
		for k, e := range p.Effects {
			scale := units[e.Measure.Quantity].scale
			var all []analysis.Estimate
			for _, o := range c.Result.Players {
				all = append(all, o.Effects[k].Difference)
			}
			rows[i].Changes = append(rows[i].Changes, change{e, scale, words.Decimals(scale, all...), scale * float64(e.Before), scale * float64(e.After),
				scale * e.Difference.Estimate, scale * words.HalfWidth(e.Difference), e.Verdict == analysis.Equal})
			rows[i].Least = min(rows[i].Least, e.Corrected)
		}
	}
	return columnsOf("changes", rows)
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
	about := struct {
		*Contrast
		Changed, Undecided, Equal []string
		CodeChanged, SpillOver    bool
	}{Contrast: c}
	for i := range c.Result.Players {
		p := &c.Result.Players[i]
		about.CodeChanged = about.CodeChanged || p.CodeChanged
		switch name := words.Printable(p.Name); verdictOf(p) {
		case analysis.Different:
			about.Changed = append(about.Changed, c.changed(p))
		case analysis.Equal:
			about.Equal = append(about.Equal, name)
		default:
			about.Undecided = append(about.Undecided, name)
		}
		about.SpillOver = about.SpillOver || slices.ContainsFunc(p.Effects, func(e contrast.Effect) bool { return e.Measure.Unchanged })
	}
	return words.Plain.Say("verdicts", about)
}

// units are how changes of quantities are said: times what, with how many decimals, and of what.
var units = map[analysis.Quantity]struct {
	scale    float64
	decimals int
	unit     string
}{analysis.Adjusted: {1, 4, "adjusted points"}, analysis.Differ: {100, 2, "percentage points of differing"}, analysis.Rank: {1, 2, "places"}}

func (c *Contrast) changed(p *contrast.Player) string {
	var parts []string
	for _, e := range p.Effects {
		u := units[e.Measure.Quantity]
		if e.Measure.Unchanged {
			u.unit += " of spill-over"
		}
		if e.Verdict == analysis.Different {
			parts = append(parts, words.Plain.Change(e.Difference, u.scale, u.decimals, u.unit))
		}
	}
	who := "Significant change:"
	if slices.Contains(c.Replaced, p.Name) {
		who = "The swap changes"
	} else if len(c.Replaced) > 0 {
		who = "It also changes"
	}
	return who + " " + words.Printable(p.Name) + ": " + strings.Join(parts, ", ") + "."
}
