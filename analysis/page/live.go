package page

import (
	"bytes"
	"fmt"
	"html/template"

	"github.com/strategylab/strategylab/analysis/report"
)

// Live is what a run has shown while it plays: sections of its report, from the same
// templates. A section that there is nothing for is empty.
type Live struct{ Answer, Ranking, Tiers, Pairs, Faults template.HTML }

// NewLive makes the sections.
func NewLive(d *report.Document) (Live, error) {
	var l Live
	s := newContent(Input{Document: d})
	s.Ranking, s.Matrix = s.rankingPlot(), s.matrixPlot()
	for _, part := range []struct {
		name   string
		to     *template.HTML
		wanted bool
	}{{"answer", &l.Answer, true}, {"ranking", &l.Ranking, true}, {"tiers", &l.Tiers, s.Tiers()}, {"pairs", &l.Pairs, s.Matrix != nil}, {"faults", &l.Faults, true}} {
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
