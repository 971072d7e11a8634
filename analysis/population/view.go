package population

import (
	"math"

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
	Name  string
	Self  analysis.Estimate // points per match against its own copy
	Share float64           // in the population that replicator dynamics end with
	// AlphaRank is the share of time that a small population spends with it; see
	// [AlphaRank] with [Size] and [Intensity].
	AlphaRank float64
	// Invades is the chance that one mutant of it takes over a population of another
	// strategy, see [Moran], as a multiple of the neutral chance 1/[Size], averaged
	// over the other strategies.
	Invades float64
	// Worst is the opponent other than itself against which it scores least.
	Worst       int
	WorstPayoff analysis.Estimate
	// Borda is the share of the other strategies that it outscores against an opponent,
	// averaged over all opponents; equal scores count half.
	Borda float64
}

// NewView computes the view of a game of at least two strategies.
func NewView(g *Game) *View {
	v := &View{Game: g, Members: make([]Member, len(g.Names)), Missing: g.Unknown()}
	nan, unknown := math.NaN(), analysis.Estimate{Estimate: math.NaN()}
	for i, name := range g.Names {
		m := &v.Members[i]
		*m = Member{Name: name, Self: g.Payoff(i, i), Share: nan, AlphaRank: nan, Invades: nan, Worst: -1, WorstPayoff: unknown}
		for j := range g.Names {
			if p := g.Payoff(i, j); j != i && p.Defined() && (m.Worst < 0 || p.Estimate < m.WorstPayoff.Estimate) {
				m.Worst, m.WorstPayoff = j, p
			}
		}
	}
	g.borda(v.Members)
	if !g.complete() {
		return v
	}
	t := Replicate(g.differ())
	v.Trajectory = &t
	for i, s := range t.Last().Share {
		v.Members[i].Share = s
	}
	payoff := g.differ()
	for _, row := range payoff {
		for j := range row {
			row[j] = 1 + row[j]/2
		}
	}
	for i, s := range AlphaRank(payoff, Size, Intensity) {
		v.Members[i].AlphaRank = s
	}
	for i := range v.Members {
		sum := 0.0
		for j := range payoff {
			if j != i {
				sum += Size * Moran(payoff[i][i], payoff[i][j], payoff[j][i], payoff[j][j], Size, 1)
			}
		}
		v.Members[i].Invades = sum / float64(len(payoff)-1)
	}
	return v
}

// borda lets every strategy j rank all others by their scores against it.
func (g *Game) borda(members []Member) {
	n := len(g.Names)
	for i := range members {
		points, votes := 0.0, 0
		for j := range n {
			for k := range n {
				a, b := g.Differ[i][j], g.Differ[k][j]
				if i == j || i == k || j == k || !a.Defined() || !b.Defined() {
					continue
				}
				votes++
				switch {
				case a.Estimate > b.Estimate:
					points++
				case a.Estimate == b.Estimate:
					points += 0.5
				}
			}
		}
		members[i].Borda = math.NaN()
		if votes > 0 {
			members[i].Borda = points / float64(votes)
		}
	}
}
