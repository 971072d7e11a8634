package population

import (
	"math"
	"slices"

	"github.com/strategylab/strategylab/analysis"
)

// Settings of the finite populations in a [View].
const (
	Size      = 50 // individuals
	Intensity = 20 // of selection in alpha-rank, per point per match
)

// View is the population view of a game.
type View struct {
	Game    *Game
	Members []Member // by strategy
	// Trajectory is nil, and the dynamic values of members NaN, if Missing names
	// strategies that never met themselves.
	Trajectory *Trajectory
	Missing    []string
}

// Member is the fate of one strategy.
type Member struct {
	Name   string            `json:"name"`
	Copies []string          `json:"copies"` // players that are this strategy
	Self   analysis.Estimate `json:"self"`   // points per match against its own copy

	// These three, and Borda, have ranges from resampled payoffs; see [NewView].
	Share analysis.Estimate `json:"share"` // in the population that replicator dynamics end with
	// AlphaRank is the share of time that a small population spends with it; see
	// [AlphaRank] with [Size] and [Intensity].
	AlphaRank analysis.Estimate `json:"alpha_rank"`
	// Invades is the chance that one mutant of it takes over a population of another
	// strategy, see [Moran], as a multiple of the neutral chance 1/[Size], averaged
	// over the other strategies.
	Invades analysis.Estimate `json:"invades"`

	// Worst is the opponent other than itself against which it scores least; "" if it met
	// nobody.
	Worst       string            `json:"worst_opponent"`
	WorstPayoff analysis.Estimate `json:"worst_payoff"`
	// Borda is the share of the other strategies that it outscores against an opponent,
	// averaged over all opponents; equal scores count half.
	Borda analysis.Estimate `json:"borda"`
}

// NewView computes the view of a game of at least two strategies.
//
// The ranges of what follows from all payoffs together are a bootstrap: in each of 119
// resamples of the leagues (39 above 40 strategies) every payoff moves within its interval
// as it does there, and a range has what comes out at the level of the game. Payoffs
// against copies that were measured in leagues of their own, and those on which all leagues
// agree, are drawn from the normal distributions that their intervals stand for. The seed
// is that of the plan.
func NewView(g *Game) *View {
	v := &View{Game: g, Members: make([]Member, len(g.Names)), Missing: g.Unknown()}
	for i, name := range g.Names {
		m := &v.Members[i]
		*m = Member{Name: name, Self: g.Payoff(i, i), WorstPayoff: analysis.Estimate{Estimate: math.NaN()}}
		for _, k := range g.Copies[i] {
			m.Copies = append(m.Copies, g.Players[k])
		}
		for j, other := range g.Names {
			if p := g.Payoff(i, j); j != i && p.Defined() && !(p.Estimate >= m.WorstPayoff.Estimate) {
				m.Worst, m.WorstPayoff = other, p
			}
		}
	}
	f := fatesOf(g.differ(), maxGenerations)
	v.Trajectory = f.trajectory
	v.ranges(f)
	return v
}

// fatesOf computes the numbers of all members, with at most this many generations of
// replicator dynamics.
func fatesOf(differ [][]float64, generations int) *fates {
	n := len(differ)
	f := new(fates)
	for k := range f.numbers {
		f.numbers[k] = slices.Repeat([]float64{math.NaN()}, n)
	}
	f.numbers[ofBorda] = borda(differ)
	payoff := make([][]float64, n)
	for i, row := range differ {
		payoff[i] = make([]float64, n)
		for j, p := range row {
			if math.IsNaN(p) {
				return f
			}
			payoff[i][j] = 1 + p/2
		}
	}
	t := Replicate(differ, generations)
	f.trajectory = &t
	f.numbers[ofShare] = t.Last().Share
	f.numbers[ofAlphaRank] = AlphaRank(payoff, Size, Intensity)
	for i := range n {
		sum := 0.0
		for j := range n {
			if j != i {
				sum += Size * Moran(payoff[i][i], payoff[i][j], payoff[j][i], payoff[j][j], Size, 1)
			}
		}
		f.numbers[ofInvades][i] = sum / float64(n-1)
	}
	return f
}

// borda lets every strategy j rank all others by their scores against it. Scores that
// are NaN do not count.
func borda(differ [][]float64) []float64 {
	n := len(differ)
	list := make([]float64, n)
	for i := range n {
		points, votes := 0.0, 0
		for j := range n {
			for k := range n {
				a, b := differ[i][j], differ[k][j]
				if i == j || i == k || j == k || math.IsNaN(a) || math.IsNaN(b) {
					continue
				}
				votes++
				switch {
				case a > b:
					points++
				case a == b:
					points += 0.5
				}
			}
		}
		list[i] = math.NaN()
		if votes > 0 {
			list[i] = points / float64(votes)
		}
	}
	return list
}
