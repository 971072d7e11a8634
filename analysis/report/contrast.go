package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

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
	// Replaced has the names of those whose strategy was exchanged on purpose;
	// what changes for others is spill-over.
	Replaced   []string
	Assertions []assert.Outcome // about the second run
}

// Source is one of the runs.
type Source struct {
	Dir     string
	Digest  string // of all its leagues
	Stopped bool   // by a rule that looks at the results
}

// ContrastDocument is a comparison of two runs for other programs.
type ContrastDocument struct {
	Schema  string           `json:"schema"`
	Before  ContrastSource   `json:"before"`
	After   ContrastSource   `json:"after"`
	Level   float64          `json:"level"`
	Paired  bool             `json:"paired"` // league by league
	Shared  bool             `json:"shared"` // with the same seats, draws and coins
	Changes []ContrastChange `json:"changes"`
	Players []ContrastPlayer `json:"players"`
	Gone    []string         `json:"gone"` // in the first run only
	New     []string         `json:"new"`  // in the second run only

	Assertions []Assertion `json:"assertions,omitempty"`
}

// ContrastSource is one of the runs.
type ContrastSource struct {
	Dir     string `json:"dir"`
	Digest  string `json:"digest"`
	Leagues int    `json:"leagues"` // that were compared
	Stopped bool   `json:"stopped"` // by a rule that looks at the results; then the intervals are too short
}

// ContrastChange is a difference between the plans.
type ContrastChange struct {
	What   string `json:"what"` // "seed", "legs", "draw", "transport", "runs", "field" or "code"
	Player string `json:"player,omitempty"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// ContrastPlayer is what changed for one strategy.
type ContrastPlayer struct {
	Name        string           `json:"name"`
	CodeChanged bool             `json:"code_changed"`
	Effects     []ContrastEffect `json:"effects"`
}

// ContrastEffect is the change in one measure.
type ContrastEffect struct {
	Measure    string    `json:"measure"`
	Before     *float64  `json:"before"`
	After      *float64  `json:"after"`
	Difference *Estimate `json:"difference"` // after minus before; null if there is none
	P          float64   `json:"p"`
	Corrected  float64   `json:"corrected"` // Holm's, over all effects of the document
	Verdict    string    `json:"verdict"`   // "different", "undecided" or "equal"
}

// WriteContrastJSON writes the comparison as a document.
func WriteContrastJSON(w io.Writer, c Contrast) error {
	r := &c.Result
	d := ContrastDocument{
		Schema: ContrastSchema, Level: r.Level, Paired: r.Paired, Shared: r.Shared,
		Before:  ContrastSource{c.Before.Dir, c.Before.Digest, r.Leagues[0], c.Before.Stopped},
		After:   ContrastSource{c.After.Dir, c.After.Digest, r.Leagues[1], c.After.Stopped},
		Changes: []ContrastChange{}, Players: []ContrastPlayer{},
		Gone: append([]string{}, r.Gone...), New: append([]string{}, r.New...), Assertions: newAssertions(c.Assertions),
	}
	for _, x := range r.Plan {
		d.Changes = append(d.Changes, ContrastChange(x))
	}
	for _, p := range r.Players {
		q := ContrastPlayer{Name: p.Name, CodeChanged: p.CodeChanged}
		for _, e := range p.Effects {
			q.Effects = append(q.Effects, ContrastEffect{
				Measure: measureName(&e), Before: number(e.Before), After: number(e.After), Difference: estimate(e.Difference),
				P: e.P, Corrected: e.Corrected, Verdict: e.Verdict.String(),
			})
		}
		d.Players = append(d.Players, q)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return fmt.Errorf("write JSON comparison: %w", err)
	}
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("write JSON comparison: %w", err)
	}
	return nil
}

// measureName is "adjusted", or "adjusted_among_unchanged" in matches among those
// whose code is the same.
func measureName(e *contrast.Effect) string {
	if e.Unchanged {
		return e.Quantity.String() + "_among_unchanged"
	}
	return e.Quantity.String()
}

// WriteContrastCSV writes one line for each strategy and measure, under a header
// line.
func WriteContrastCSV(w io.Writer, c Contrast) error {
	rows := [][]string{{"name", "measure", "before", "after", "difference", "difference_low", "difference_high", "p", "corrected", "verdict"}}
	for _, p := range c.Result.Players {
		for _, e := range p.Effects {
			row := []string{p.Name, measureName(&e), cell(e.Before), cell(e.After)}
			row = append(row, cells(e.Difference)...)
			rows = append(rows, append(row, cell(e.P), cell(e.Corrected), e.Verdict.String()))
		}
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("write CSV of changes: %w", err)
	}
	return nil
}

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
