package page

import (
	"bytes"
	"fmt"
	"html/template"

	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/words"
)

// Live is what a run has shown while it plays: sections of its report, from the same
// templates. A section that there is nothing for is empty.
type Live struct{ Ranking, Tiers, Pairs, Faults template.HTML }

// NewLive makes the sections. The run needs a plan, estimates and facts.
func NewLive(run report.Run) (Live, error) {
	var l Live
	s := &source{Input: printable(Input{Run: run}), Style: words.Typeset, TierOf: run.Estimates.Ranking.TierOf()}
	s.E = &s.Run.Estimates
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
