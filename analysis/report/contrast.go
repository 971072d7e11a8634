package report

import (
	"io"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/assert"
	"github.com/strategylab/strategylab/analysis/contrast"
)

// ContrastSchema is the version of the document that [WriteContrastJSON] writes.
const ContrastSchema = "strategylab/contrast/v1"

// Contrast is all that a report on two runs is made from.
type Contrast struct {
	Before, After Source
	Result        contrast.Result
	// Replaced has the names of the strategies that were swapped; changes for others
	// are spill-over.
	Replaced   []string
	Assertions []assert.Outcome // about the second run
}

// Source is one of the runs.
type Source struct {
	Dir     string `json:"dir"`
	Digest  string `json:"digest"`  // of all its leagues
	Leagues int    `json:"leagues"` // that were compared; [WriteContrastJSON] fills it in
	Stopped bool   `json:"stopped"` // by a stopping rule; then the intervals are too short
}

// ContrastDocument is a comparison of two runs for other programs.
type ContrastDocument struct {
	Schema  string            `json:"schema"`
	Before  Source            `json:"before"`
	After   Source            `json:"after"`
	Level   float64           `json:"level"`
	Paired  bool              `json:"paired"` // league by league
	Shared  bool              `json:"shared"` // with the same seats, draws and coins
	Changes []contrast.Change `json:"changes"`
	Players []ContrastPlayer  `json:"players"`
	Gone    []string          `json:"gone"` // in the first run only
	New     []string          `json:"new"`  // in the second run only

	Assertions []assert.Outcome `json:"assertions,omitempty"`
}

// ContrastPlayer is what changed for one strategy.
type ContrastPlayer struct {
	Name        string           `json:"name"`
	CodeChanged bool             `json:"code_changed"`
	Effects     []ContrastEffect `json:"effects"`
}

// ContrastEffect is the change in one measure.
type ContrastEffect struct {
	Measure    string            `json:"measure"`
	Before     analysis.Number   `json:"before"`
	After      analysis.Number   `json:"after"`
	Difference analysis.Estimate `json:"difference"` // after minus before; null if there is none
	P          float64           `json:"p"`
	Corrected  float64           `json:"corrected"` // Holm's, over all effects of the document
	Verdict    string            `json:"verdict"`   // "different", "undecided" or "equal"
}

// WriteContrastJSON writes the comparison as a document.
func WriteContrastJSON(w io.Writer, c Contrast) error {
	r := &c.Result
	d := ContrastDocument{
		Schema: ContrastSchema, Level: r.Level, Paired: r.Paired, Shared: r.Shared,
		Before: c.Before, After: c.After,
		Changes: append([]contrast.Change{}, r.Plan...), Players: []ContrastPlayer{},
		Gone: append([]string{}, r.Gone...), New: append([]string{}, r.New...), Assertions: c.Assertions,
	}
	d.Before.Leagues, d.After.Leagues = r.Leagues[0], r.Leagues[1]
	for _, p := range r.Players {
		q := ContrastPlayer{Name: p.Name, CodeChanged: p.CodeChanged}
		for _, e := range p.Effects {
			q.Effects = append(q.Effects, ContrastEffect{
				Measure: measureName(&e), Before: analysis.Number(e.Before), After: analysis.Number(e.After), Difference: e.Difference,
				P: e.P, Corrected: e.Corrected, Verdict: e.Verdict.String(),
			})
		}
		d.Players = append(d.Players, q)
	}
	return writeDocument(w, "comparison", d)
}

// measureName is "adjusted", or "adjusted_among_unchanged" in matches among players
// with unchanged code.
func measureName(e *contrast.Effect) string {
	if e.Unchanged {
		return e.Quantity.String() + "_among_unchanged"
	}
	return e.Quantity.String()
}

// WriteContrastCSV writes one line per strategy and measure, under a header line.
func WriteContrastCSV(w io.Writer, c Contrast) error {
	rows := [][]string{{"name", "measure", "before", "after", "difference", "difference_low", "difference_high", "p", "corrected", "verdict"}}
	for _, p := range c.Result.Players {
		for _, e := range p.Effects {
			row := []string{p.Name, measureName(&e), cell(e.Before), cell(e.After)}
			row = append(row, cells(e.Difference)...)
			rows = append(rows, append(row, cell(e.P), cell(e.Corrected), e.Verdict.String()))
		}
	}
	return writeCSV(w, "changes", rows)
}
