package report

import (
	"io"

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
	s.lines(words.Plain.Say("sample", x)[0], "")
	if x.Detail {
		for k, p := range x.Players {
			if k > 0 {
				s.lines("")
			}
			s.lines(words.Printable(p.Name))
			for _, line := range words.Plain.Say("paragraph", struct {
				explain.Player
				Legs [][2]int
			}{p, x.Legs}) {
				s.WriteString("  " + words.Wrap(words.Printable(line)+".", max(0, width-2)) + "\n")
			}
		}
		return s.send(w, "explanations")
	}
	s.table(columnsOf("explanations", x.Players))
	s.lines("")
	s.lines(words.Plain.Say("columns of explanations", x.Level)...)
	return s.send(w, "explanations")
}
