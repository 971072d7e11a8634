package report_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/sequential"
)

// progress is the faulty run while it is played.
func progress(c *report.Closeness) report.Progress {
	r := runs()["faulty"]
	p := report.Progress{Plan: r.Plan, Leagues: r.Estimates.Leagues, Closeness: c}
	for _, i := range r.Estimates.Order {
		x := &r.Estimates.Players[i]
		p.Standings = append(p.Standings, analysis.Standing{Field: i, Points: x.Points, Adjusted: x.Adjusted, Differ: x.Differ, TechnicalLosses: x.TechnicalLosses})
	}
	return p
}

func TestProgressLines(t *testing.T) {
	best := &report.Closeness{Rule: sequential.Rule{Kind: sequential.Best}, Ahead: 3}
	for name, tt := range map[string]struct {
		screen report.Screen
		rows   int
		close  *report.Closeness
		yours  []int
	}{
		"all":  {report.Screen{Width: 80}, 20, nil, nil},
		"few":  {report.Screen{Width: 60}, 4, best, []int{0, 3}},
		"wide": {report.Screen{Width: 160, Colour: true}, 20, best, []int{0}},
	} {
		p := progress(tt.close)
		p.Yours = tt.yours
		lines := p.Lines(tt.screen, tt.rows)
		for i, line := range lines {
			lines[i] = painted(line)
		}
		golden(t, "progress-"+name+".txt", []byte(strings.Join(lines, "\n")+"\n"))
		if len(lines) > tt.rows+3 {
			t.Errorf("%s: %d lines for %d rows", name, len(lines), tt.rows)
		}
		for _, line := range lines {
			if n := utf8.RuneCountInString(attributes.ReplaceAllString(line, "")); n > tt.screen.Width {
				t.Errorf("%s: line of %d: %q", name, n, line)
			}
		}
	}
}

func TestCloseness(t *testing.T) {
	for want, c := range map[string]*report.Closeness{
		"Until best: always-odd is significantly ahead of 3 of 5 others.": {Rule: sequential.Rule{Kind: sequential.Best}, Ahead: 3},
		"Until ranked: 11 of 15 pairs decided.":                           {Rule: sequential.Rule{Kind: sequential.Ranked}, Apart: 11, Open: 4},
		"Until ranked: 13 of 15 pairs decided, 2 of them as equal.":       {Rule: sequential.Rule{Kind: sequential.Ranked}, Apart: 11, Within: 2, Open: 2},
		"Until precision: the widest interval is ±0.0123, wanted ±0.005.": {Rule: sequential.Rule{Kind: sequential.Precision, Width: 0.005}, Widest: 0.0123},
		"The test: LLR 1.20, decided below -2.94 or above 2.94.":          {Ratio: &report.Evidence{LLR: 1.2, Low: -2.94, High: 2.94, Known: true}},
		"The test: no decision before league 32.":                         {Ratio: &report.Evidence{}},
	} {
		lines := progress(c).Lines(report.Screen{}, 20)
		if got := lines[len(lines)-1]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
