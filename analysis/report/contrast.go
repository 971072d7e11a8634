package report

import (
	"io"

	"github.com/strategylab/strategylab/analysis/assert"
	"github.com/strategylab/strategylab/analysis/contrast"
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
			row := []string{p.Name, e.Measure.String(), cell(float64(e.Before)), cell(float64(e.After))}
			row = append(row, cells(e.Difference)...)
			rows = append(rows, append(row, cell(e.P), cell(e.Corrected), e.Verdict.String()))
		}
	}
	return writeCSV(w, "changes", rows)
}
