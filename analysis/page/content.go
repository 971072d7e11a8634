package page

import (
	"html/template"
	"math"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/words"
)

// source is what the template makes the page from.
type source struct {
	Input
	E       *analysis.Estimates
	Style   words.Style
	TierOf  []int // by field index, from 1
	View    *population.View
	Refused error // why there is no view

	Ranking, Matrix, Places, Learning, Trajectory *figure

	Cards []card // empty without explanations
}

type fault struct {
	Name, Kind, Count, Share, Where string
}

type paragraph struct{ Head, Text string }

type fact struct{ Name, Value string }

func newSource(in Input) (*source, error) {
	s := &source{Input: in, E: &in.Run.Estimates, Style: words.Typeset, TierOf: in.Run.Estimates.Ranking.TierOf()}
	g, err := population.NewGame(in.Run.Plan, s.E, in.Mirrors)
	if err != nil {
		s.Refused = err
	} else {
		s.View = population.NewView(g)
	}
	if err := s.draw(); err != nil {
		return nil, err
	}
	if len(in.Explanations.Players) == len(s.E.Players) {
		s.Cards, err = s.cards()
		return s, err
	}
	return s, nil
}

func (s *source) name(i int) string { return s.E.Players[i].Name }

// functions are those that the template calls.
var functions = template.FuncMap{
	"bySize":    words.BySize,
	"headline":  words.Headline,
	"styles":    styles,
	"join":      strings.Join,
	"next":      func(i int) int { return i + 1 },
	"count":     func(n int) string { return words.Typeset.Count(int64(n)) },
	"mebibytes": func(n uint64) string { return words.Typeset.Number(float64(n)/(1<<20), 1) },
}

// Decimals are those of the players' adjusted points and points.
func (s *source) Decimals() [2]int {
	return [2]int{
		words.PlayerDecimals(s.E, func(p *analysis.Player) analysis.Estimate { return p.Adjusted }),
		words.PlayerDecimals(s.E, func(p *analysis.Player) analysis.Estimate { return p.Points }),
	}
}

// Faults are those of all players, best first.
func (s *source) Faults() []fault {
	var list []fault
	for _, i := range s.E.Order {
		p := &s.E.Players[i]
		for _, f := range p.Faults {
			list = append(list, fault{
				Name: p.Name, Kind: f.Kind.String(), Count: words.Typeset.Count(f.Count),
				Share: words.Typeset.Percent(float64(f.Count) / float64(p.Matches)), Where: f.Where,
			})
		}
	}
	return list
}

// FewPlayers reports whether the field is small enough for a table of pairs.
func (s *source) FewPlayers() bool { return len(s.E.Players) <= 20 }

// Differs has the chance to differ by two field indices, with mirror matches on the
// diagonal if they are known.
func (s *source) Differs() [][]analysis.Estimate {
	n := len(s.E.Players)
	cells := make([][]analysis.Estimate, n)
	for i := range cells {
		cells[i] = make([]analysis.Estimate, n)
		for j := range cells[i] {
			cells[i][j].Estimate = math.NaN()
		}
		for _, m := range s.Mirrors {
			if m.Strategy == s.name(i) {
				cells[i][i] = m.Differ
			}
		}
	}
	for _, p := range s.E.Pairs {
		cells[p.A][p.B], cells[p.B][p.A] = p.Differ, p.Differ
	}
	return cells
}

// WorthsNote says what the Plackett-Luce column is.
func (s *source) WorthsNote() string {
	if s.Worths == nil {
		return ""
	}
	return "Worth is from the Plackett-Luce model with ties, fitted to the placings in " + words.Typeset.Plural(int64(s.WorthLeagues), "league") +
		": the chance to come first, given that one strategy is first alone."
}

// card is what there is to say about one strategy.
type card struct {
	Name, Kind string
	Tier       int
	Curve      template.HTML
	Lines      []words.Line
}

// mostCardCurves bounds the size of the page for large fields.
const mostCardCurves = 60

func (s *source) cards() ([]card, error) {
	var list []card
	for _, i := range s.E.Order {
		p := &s.E.Players[i]
		c := card{Name: p.Name, Kind: p.Kind, Tier: s.TierOf[i], Lines: words.Typeset.Explanation(s.E, &s.Explanations, i)}
		if len(s.E.Players) <= mostCardCurves && len(s.Explanations.Legs) > 1 {
			var err error
			if c.Curve, err = s.curve(i); err != nil {
				return nil, err
			}
		}
		list = append(list, c)
	}
	return list, nil
}
