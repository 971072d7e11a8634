package report

import (
	"io"
	"slices"
	"strings"

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
	s.table(columnsOf("explanations", x.Players))
	s.lines("")
	s.lines(words.Plain.Say("columns of explanations", x.Level)...)
	return s.send(w, "explanations")
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
