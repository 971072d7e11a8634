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
	players := c.Result.Players
	list := []column{
		columnOf("", 0, players, func(p *contrast.Player) string { return strings.Replace(words.Mark(verdictOf(p)), ">", "!", 1) }),
		columnOf("", 0, players, func(p *contrast.Player) string { return map[bool]string{true: "*"}[p.CodeChanged] }),
		columnOf("<strategy", 0, players, func(p *contrast.Player) string { return words.Printable(p.Name) }),
	}
	for k, e := range players[0].Effects {
		head, scale, keep := e.Measure.Quantity.String(), units[e.Measure.Quantity].scale, 7
		if scale == 100 {
			head += "%"
		}
		effects := make([]analysis.Estimate, len(players))
		for i := range players {
			effects[i] = players[i].Effects[k].Difference
		}
		places := words.Decimals(scale, effects...)
		change := "spill-over"
		if !e.Measure.Unchanged {
			if change, keep = "change", 5; k == 0 {
				keep = 0
			}
			list = append(list, columnOf(head, 4, players, func(p *contrast.Player) string {
				e := p.Effects[k]
				return fmt.Sprintf("%s to %s", words.Plain.Number(scale*float64(e.Before), places), words.Plain.Number(scale*float64(e.After), places))
			}))
		}
		list = append(list, columnOf(change, keep, players, func(p *contrast.Player) string {
			d := p.Effects[k].Difference
			switch {
			case !d.Defined():
				return "-"
			case p.Effects[k].Verdict == analysis.Equal:
				return "none"
			}
			return fmt.Sprintf("%+.*f ±%.*f", places, scale*d.Estimate, places, scale*words.HalfWidth(d))
		}))
	}
	return append(list, columnOf("p", 6, players, func(p *contrast.Player) string {
		least := 1.0
		for _, e := range p.Effects {
			least = min(least, e.Corrected)
		}
		return words.PValue(least)
	}))
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
