package page

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"github.com/strategylab/strategylab/analysis/report"
)

// Live is what a run has shown while it plays: the answer, and sections of its report, from the same
// templates. A section that there is nothing for is empty.
type Live struct {
	Answer                        string
	Ranking, Tiers, Pairs, Faults template.HTML
}

// NewLive makes the sections.
func NewLive(d *report.Document) (Live, error) {
	s := newContent(Input{Document: d})
	l := Live{Answer: strings.Join(s.Sentences(s.Style), " ")}
	s.Ranking, s.Matrix = s.rankingPlot(), s.matrixPlot()
	for _, part := range []struct {
		name   string
		to     *template.HTML
		wanted bool
	}{{"ranking", &l.Ranking, true}, {"tiers", &l.Tiers, s.Tiers()}, {"pairs", &l.Pairs, s.Matrix != nil}, {"faults", &l.Faults, true}} {
		if !part.wanted {
			continue
		}
		var b bytes.Buffer
		if err := document().ExecuteTemplate(&b, part.name, s); err != nil {
			return l, fmt.Errorf("section %s: %w", part.name, err)
		}
		*part.to = template.HTML(b.String()) // the templates have escaped it
	}
	return l, nil
}

// Style returns the style sheet of the report, for pages that show parts of it.
func Style() string { return string(styles()) }

// document returns the template of the page, which has one for each section of a Live.
func document() *template.Template {
	return template.Must(template.New("page").Funcs(functions).Parse(pageHTML))
}
