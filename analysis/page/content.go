package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
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

	OffScale string // names of those that the ranking plot has no room for; "" if none
	Courses  []course

	Failed    bool // there were technical losses
	Explained bool // there is an explanation of every strategy
	Tiers     bool // there are tiers to show
	Pair      bool // there are two players only
}

func newSource(in Input) *source {
	e := &in.Estimates
	s := &source{
		Input: in, E: e, Style: words.Typeset, TierOf: e.Ranking.TierOf(),
		Failed:    slices.ContainsFunc(e.Players, func(p analysis.Player) bool { return len(p.Faults) > 0 }),
		Explained: len(in.Explanations.Players) == len(e.Players), Tiers: len(e.Ranking.Tiers) > 0 && !e.NothingToRank(), Pair: len(e.Players) == 2,
	}
	s.Ranking, s.Matrix = s.rankingPlot(), s.matrixPlot()
	return s
}

// complete adds what only the page of a whole run has.
func (s *source) complete() *source {
	g, err := population.NewGame(s.Run.Plan, s.E, s.Mirrors, s.Leagues)
	if err != nil {
		s.Refused = err
	} else {
		s.View = population.NewView(g)
	}
	s.Places, s.Learning, s.Trajectory = s.placesPlot(), s.learningPlot(), s.trajectoryPlot()
	s.Courses = s.newCourses()
	return s
}

func (s *source) name(i int) string { return s.E.Players[i].Name }

// Mine reports whether a player is the user's.
func (s *source) Mine(i int) bool { return slices.Contains(s.Yours, i) }

// Verdict is what the answer says beyond the headline.
func (s *source) Verdict() string {
	text := strings.Join(s.Sentences(s.Style), " ")
	return strings.TrimLeft(strings.TrimPrefix(text, words.Headline(s.E)), ":. ")
}

// Notes are warnings that belong above everything else.
func (s *source) Notes() []string {
	return slices.Concat(s.ConfirmationLines(), s.StoppingLines(), s.Style.Say("shortened", s.Document), s.Run.ReproducibleLines(), s.WarningLines(), s.Run.Facts.Lines())
}

// Differs has the chance to differ by two field indices, with mirror matches on the
// diagonal if they are known.
func (s *source) Differs() [][]analysis.Estimate {
	n := len(s.E.Players)
	cells := make([][]analysis.Estimate, n)
	for i := range cells {
		cells[i] = slices.Repeat([]analysis.Estimate{{Estimate: math.NaN()}}, n)
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

// PlaceShares has how often each strategy had each place in a league, by field index
// and place; nil for fewer than three strategies. Between two places, half of each.
func (s *source) PlaceShares() [][]float64 {
	n := len(s.E.Players)
	if s.E.Leagues == 0 || n < 3 {
		return nil
	}
	shares := make([][]float64, n)
	for i := range shares {
		shares[i] = make([]float64, n)
		for _, r := range s.E.Players[i].Ranks {
			shares[i][int(math.Floor(r.Rank))-1] += r.Share.Estimate / 2
			shares[i][int(math.Ceil(r.Rank))-1] += r.Share.Estimate / 2
		}
	}
	return shares
}

// Repeat is the command that plays the leagues of this page again.
func (s *source) Repeat() string {
	p := s.Run.Plan
	args := []string{"strategylab", "experiment", "--runs", strconv.Itoa(s.E.Leagues), "--legs", strconv.Itoa(p.Legs), "--seed", strconv.FormatUint(p.Seed, 10)}
	if p.Draw != "" {
		args = append(args, "--draw", p.Draw)
	}
	if p.Transport != "direct" {
		args = append(args, "--transport", p.Transport)
	}
	var refs []string
	copies := map[string]int{}
	for _, e := range p.Field {
		if copies[e.Ref]++; copies[e.Ref] == 1 {
			refs = append(refs, e.Ref)
		}
	}
	for k, ref := range refs {
		if n := copies[ref]; n > 1 {
			refs[k] += fmt.Sprintf("*%d", n)
		}
	}
	args = append(args, "--field", strings.Join(refs, ","))
	for k := range args {
		args[k] = words.ShellWord(args[k])
	}
	return strings.Join(args, " ")
}
