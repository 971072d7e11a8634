// Package population looks at the strategies of an experiment as a population, in which
// strategies that score well become more numerous.
//
// Under a fair draw both players of a match expect the same, 1 + p/2 points, where p is
// the chance that their choices differ. So the game among strategies is symmetric and
// its matrix equals its transpose: a potential game, in which selection never lowers
// the mean payoff. Nobody beats anybody; strategies differ in the opponents they do
// well with, themselves included. The diagonal of the matrix, the payoff of a strategy
// against its own copy, is measured if the field has copies of it, or in separate
// leagues of two copies; see [Mirror].
//
// Ratings from match wins, such as those of Elo or of Bradley and Terry, are not
// offered: a win needs the luck of the draw, which is the same for both, so they would
// rank noise.
//
// All functions are pure.
package population

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/results"
)

// ErrBiased rejects an experiment with a biased draw.
var ErrBiased = errors.New("the draw is biased, so the two players of a match no longer expect the same: " +
	"the game has no potential, and there is no population view")

// Mirror is how often two copies of one strategy differ from each other.
type Mirror struct {
	Strategy string            `json:"strategy"` // its name in the field
	Leagues  int               `json:"leagues"`
	Differ   analysis.Estimate `json:"differ"`
}

// Game is the game among the strategies of an experiment. Copies of one strategy are
// one strategy here.
type Game struct {
	Names   []string
	Players []string // by field index
	Copies  [][]int  // by strategy, the field indices of its copies
	// Differ has by strategy and opponent the chance that their choices differ. Unknown
	// cells are NaN with the interval [0, 1].
	Differ [][]analysis.Estimate

	level    float64       // of ranges
	seed     uint64        // of resampling
	together [][][]float64 // see Leagues.deviations
}

// NewGame makes the game from the estimates of a plan, and from the mirror matches of
// strategies that have one copy in the field. Other mirrors are ignored.
//
// Leagues are those that the estimates are from, for ranges that allow for payoffs that
// vary together; nil takes the payoffs as independent.
//
// Technical losses do not count: the game is that among strategies that answer. With a
// biased draw the error is [ErrBiased].
func NewGame(plan results.Plan, e *analysis.Estimates, mirrors []Mirror, leagues *Leagues) (*Game, error) {
	if !e.Fair {
		return nil, ErrBiased
	}
	if len(plan.Field) != len(e.Players) {
		return nil, fmt.Errorf("population: the plan has %d players and the estimates %d", len(plan.Field), len(e.Players))
	}
	g := &Game{level: e.Level, seed: plan.Seed}
	kind := make([]int, len(plan.Field)) // of field indices
	for f, first := range plan.Copies() {
		g.Players = append(g.Players, plan.Field[f].Name)
		if kind[f] = kind[first]; first == f {
			kind[f] = len(g.Names)
			g.Names, g.Copies = append(g.Names, plan.Field[f].Name), append(g.Copies, nil)
		}
		g.Copies[kind[f]] = append(g.Copies[kind[f]], f)
	}
	for i, copies := range g.Copies {
		if len(copies) > 1 {
			g.Names[i], _, _ = strings.Cut(g.Names[i], "#")
		}
	}
	g.fill(e, kind)
	g.together = leagues.deviations(kind, len(g.Names))
	for _, m := range mirrors {
		for i, name := range g.Names {
			if name == m.Strategy && len(g.Copies[i]) == 1 && m.Differ.Defined() {
				g.Differ[i][i] = m.Differ
			}
		}
	}
	return g, nil
}

// fill averages the pairs of field indices over the copies of strategies. The interval
// of an average is the average interval, which holds for every dependence among the
// copies.
func (g *Game) fill(e *analysis.Estimates, kind []int) {
	n := len(g.Names)
	g.Differ = make([][]analysis.Estimate, n)
	count := make([][]int, n)
	for i := range g.Differ {
		g.Differ[i] = make([]analysis.Estimate, n)
		count[i] = make([]int, n)
	}
	for _, p := range e.Pairs {
		if !p.Differ.Defined() {
			continue
		}
		i, j := min(kind[p.A], kind[p.B]), max(kind[p.A], kind[p.B])
		c := &g.Differ[i][j]
		c.Estimate += p.Differ.Estimate
		c.Low += p.Differ.Low
		c.High += p.Differ.High
		c.Level = p.Differ.Level
		count[i][j]++
	}
	for i := range g.Differ {
		for j := i; j < n; j++ {
			c := &g.Differ[i][j]
			if k := float64(count[i][j]); k > 0 {
				c.Estimate /= k
				c.Low /= k
				c.High /= k
			} else {
				*c = analysis.Estimate{Estimate: math.NaN(), Low: 0, High: 1}
			}
			g.Differ[j][i] = *c
		}
	}
}

// Payoff is the points per match that strategy i expects against strategy j.
func (g *Game) Payoff(i, j int) analysis.Estimate {
	d := g.Differ[i][j]
	return analysis.Estimate{Estimate: 1 + d.Estimate/2, Low: 1 + d.Low/2, High: 1 + d.High/2}
}

// Unknown returns the names of the strategies that never met a copy of themselves.
func (g *Game) Unknown() []string {
	var names []string
	for i, name := range g.Names {
		if !g.Differ[i][i].Defined() {
			names = append(names, name)
		}
	}
	return names
}

// differ is the matrix of estimates alone.
func (g *Game) differ() [][]float64 {
	m := make([][]float64, len(g.Differ))
	for i, row := range g.Differ {
		m[i] = make([]float64, len(row))
		for j, c := range row {
			m[i][j] = c.Estimate
		}
	}
	return m
}
