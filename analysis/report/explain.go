package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/analysis/words"
)

// ExplanationSchema is the version of the document that [WriteExplanationJSON]
// writes.
const ExplanationSchema = "strategylab/explanations/v1"

// Explanation is all that a report on why players score what they score is made from.
type Explanation struct {
	explain.Explanations      // of the players to explain, in order
	Detail               bool // writes a paragraph per player instead of a line
}

// WriteExplanationJSON writes the explanations as a document.
func WriteExplanationJSON(w io.Writer, x Explanation) error {
	return writeDocument(w, "explanations", struct {
		Schema string `json:"schema"`
		explain.Explanations
	}{ExplanationSchema, x.Explanations})
}

// WriteExplanationTable writes the explanations for people; see [WriteTable].
func WriteExplanationTable(w io.Writer, x Explanation, width int) error {
	s := sheet{width: width}
	s.lines(words.Plain.Sample(&x.Explanations), "")
	if x.Detail {
		for k, p := range x.Players {
			if k > 0 {
				s.lines("")
			}
			s.lines(words.Printable(p.Name))
			for _, line := range x.paragraph(p) {
				s.WriteString("  " + words.Wrap(line, max(0, width-2)) + "\n")
			}
		}
		return s.send(w, "explanations")
	}
	s.table(x.columns())
	s.lines("")
	s.lines(words.Plain.Say("columns of explanations", x.Level)...)
	return s.send(w, "explanations")
}

func (x *Explanation) columns() []column {
	// of makes a column of what is known of a player; nothing is known without the choices that it rests on.
	of := func(head string, keep int, known func(p *explain.Player) bool, cell func(p *explain.Player) string) column {
		return columnOf(head, keep, x.Players, func(p *explain.Player) string {
			if !known(p) {
				return "-"
			}
			return words.Printable(cell(p))
		})
	}
	percent := func(e analysis.Estimate) string { return words.PlusMinus(e, 100, 1) }
	always := func(*explain.Player) bool { return true }
	studied := func(p *explain.Player) bool { return p.Studied != nil }
	return []column{
		of("<strategy", 0, always, func(p *explain.Player) string { return p.Name }),
		of("even%", 3, always, func(p *explain.Player) string { return percent(p.Even) }),
		of("differ%", 7, always, func(p *explain.Player) string { return percent(p.Differ) }),
		of("studied%", 0, studied, func(p *explain.Player) string { return percent(analysis.Estimate(p.Studied.Interval)) }),
		of("order", 1, studied, func(p *explain.Player) string { return fmt.Sprint(*p.Studied.Order) }),
		of("bits", 4, studied, func(p *explain.Player) string { return words.Plain.Number(float64(p.Studied.Bits), 2) }),
		of("met%", 0, studied, func(p *explain.Player) string { return percent(analysis.Estimate(p.Met.Interval)) }),
		of("regret", 8, studied, func(p *explain.Player) string { return percent(analysis.Estimate(p.Regret.Interval)) }),
		of("<best opponent", 6, func(p *explain.Player) bool { return p.Best != nil }, func(p *explain.Player) string { return p.Best.Name }),
		of("<worst", 5, func(p *explain.Player) bool { return p.Worst != nil }, func(p *explain.Player) string { return p.Worst.Name }),
	}
}

// paragraph is all there is to say about one player.
func (x *Explanation) paragraph(p explain.Player) []string {
	facts := words.Plain.Explanation(p)
	if facts == nil {
		return []string{"None of its matches was decided by choices, so there is nothing to explain."}
	}
	facts = slices.Insert(facts, 1, words.Line{Head: "Differs from its opponents", Text: words.Plain.Share(p.Differ)})
	if len(x.Legs) > 1 {
		var curve []string
		for k, legs := range x.Legs {
			if v := p.Learning[k]; v.Defined() {
				curve = append(curve, words.Plain.Places(legs)+": "+words.PlusMinus(v, 100, 1))
			}
		}
		facts = append(facts, words.Line{Head: "Differs by leg (%)", Text: strings.Join(curve, ", ")})
	}
	lines := make([]string, len(facts))
	for k, f := range facts {
		lines[k] = words.Printable(f.Head+": "+f.Text) + "."
	}
	return lines
}
