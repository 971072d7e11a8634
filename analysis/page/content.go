package page

import (
	"fmt"
	"html/template"
	"math"
	"slices"
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

	Courses []course
}

func newContent(in Input) *source {
	s := &source{Input: printable(in), Style: words.Typeset, TierOf: in.Estimates.Ranking.TierOf()}
	s.E = &s.Estimates
	return s
}

func newSource(in Input) *source {
	s := newContent(in)
	g, err := population.NewGame(in.Run.Plan, &in.Estimates, in.Mirrors, in.Leagues)
	if err != nil {
		s.Refused = err
	} else {
		s.View = population.NewView(g)
		printableView(s.View)
	}
	s.draw()
	s.Courses = s.newCourses()
	return s
}

func (s *source) name(i int) string { return s.E.Players[i].Name }

// Mine reports whether a player is the user's.
func (s *source) Mine(i int) bool { return slices.Contains(s.Yours, i) }

// label is the name of a player in a plot, in which a star marks the user's.
func (s *source) label(i int) string {
	if s.Mine(i) {
		return "* " + s.name(i)
	}
	return s.name(i)
}

// starred explains the stars in a plot; "" without any.
func (s *source) starred() string {
	if len(s.Yours) == 0 {
		return ""
	}
	return " A star marks yours."
}

// Verdict is what the answer says beyond the headline.
func (s *source) Verdict() string {
	text := strings.Join(s.Sentences(s.Style), " ")
	return strings.TrimLeft(strings.TrimPrefix(text, words.Headline(s.E)), ":. ")
}

// functions are those that the template calls.
var functions = template.FuncMap{
	"bySize":    words.BySize,
	"decimals":  words.RowDecimals,
	"headline":  words.Headline,
	"sign":      words.Sign,
	"styles":    styles,
	"policy":    Policy,
	"script":    func() template.JS { return copyJS },
	"join":      strings.Join,
	"next":      func(i int) int { return i + 1 },
	"count":     func(n int) string { return words.Typeset.Count(int64(n)) },
	"share":     func(part, whole int64) string { return words.Typeset.Percent(float64(part) / float64(whole)) },
	"mebibytes": func(n uint64) string { return words.Typeset.Number(float64(n)/(1<<20), 1) },
}

// Failed reports whether there were technical losses.
func (s *source) Failed() bool {
	return slices.ContainsFunc(s.E.Players, func(p analysis.Player) bool { return len(p.Faults) > 0 })
}

// Explained reports whether there is an explanation of every strategy.
func (s *source) Explained() bool { return len(s.Explanations.Players) == len(s.E.Players) }

// Story says where a player stands and, if that is known, why.
func (s *source) Story(i int) []words.Line {
	var lines []words.Line
	if !s.E.NothingToRank() && i < len(s.E.Ranking.Places) {
		p := &s.E.Players[i]
		lines = []words.Line{
			{Head: "Place", Text: fmt.Sprintf("%d of %d; possible: %s", s.E.Place(i), len(s.E.Players), s.Style.Places(s.E.Ranking.Places[i]))},
			{Head: "Adjusted points", Text: s.Style.WithRange(p.Adjusted, words.RowDecimals(p.Adjusted)) + " a match"},
		}
	}
	if s.Explained() {
		lines = append(lines, s.Style.Explanation(s.E, &s.Explanations, i)...)
	}
	return lines
}

// Tiers reports whether there are tiers to show.
func (s *source) Tiers() bool { return len(s.E.Ranking.Tiers) > 0 && !s.E.NothingToRank() }

// Pair reports whether there are two players only.
func (s *source) Pair() bool { return len(s.E.Players) == 2 }

// WideTables reports whether the field is small enough for tables of pairs with
// intervals: their size grows with its square.
func (s *source) WideTables() bool { return len(s.E.Players) <= 60 }

// Shaded reports whether a row of the ranking, from 0, lies on a shaded band: bands
// alternate where the tier changes.
func (s *source) Shaded(row int) bool {
	changes := 0
	for k := 1; k <= row; k++ {
		if s.TierOf[s.E.Order[k]] != s.TierOf[s.E.Order[k-1]] {
			changes++
		}
	}
	return changes%2 == 1
}

// LastLeague is the number of the last league.
func (s *source) LastLeague() int { return s.E.Leagues - 1 }

// OpenCards reports whether the cards of strategies are few enough to be open.
func (s *source) OpenCards() bool { return len(s.E.Players) <= 4 }

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

// FieldsNote says what the numbers about other fields are and rest on.
func (s *source) FieldsNote() string {
	return "In a resampled field opponents are drawn from this one with replacement, as many as there are. " + words.AssumedOfFields
}
