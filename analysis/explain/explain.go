// Package explain says why strategies score what they score, from the records of their
// matches alone: how predictable each is, what an opponent could gain from that, what
// it could have gained from its own opponents, and how it develops over the legs of a
// league.
//
// Every choice of every player is predicted in two ways before it is counted:
//
//   - from earlier leagues: counts of what the player did after the last k choices of
//     both, in the same role;
//   - from this league only: the rules of [Predictors], which know the matches of the
//     pair so far.
//
// A player that predicts a choice answers with the opposite, so a hit is a match in
// which choices differ, worth half a point on average to both. Choosing the best of
// several predictors on the leagues that judge it would flatter it. So predictors are
// chosen on leagues with an even number and judged on leagues with an odd number. A
// missing prediction counts half a hit.
//
// Predicting is expensive, so it is done on the first leagues of a run; see [Options].
// Learning curves use all leagues. Counters are integers; memory does not depend on the
// number of leagues.
package explain

import (
	"cmp"
	"math"
	"slices"

	"github.com/strategylab/strategylab/analysis"
)

// Explanations is what a [Collector] has found.
type Explanations struct {
	Level   float64 // of every interval
	Leagues int     // that learning curves come from
	// Learnt and Judged are the numbers of leagues on which predictors were chosen and
	// on which they were judged.
	Learnt, Judged int
	// Legs has the first and the last leg of each point of the learning curves.
	Legs    [][2]int
	Players []Player // by field index
}

// Player explains one strategy. Shares are of matches decided by choices.
type Player struct {
	// Learning is the chance that its choice differs from the opponent's, by leg.
	Learning []analysis.Estimate
	Even     analysis.Estimate // how often it says even

	// Studied is how often it is predicted from earlier leagues, by its last Order
	// matches of a pair. Bits is the mean surprise of a choice in that prediction: 1 is
	// pure chance, 0 no surprise.
	Studied analysis.Estimate
	Order   int
	Bits    float64

	// Met is how often the best rule of this league only predicts it. Exploit is the
	// index of that rule in Predictors.
	Met     analysis.Estimate
	Exploit int

	// Hindsight is how often the choices would have differed if the player had always
	// answered the best rule about its opponents with the opposite, and these had
	// played the same. Regret is Hindsight minus how often they did differ, from -1 to
	// 1. Follow is the index of the rule.
	Hindsight, Regret analysis.Estimate
	Follow            int
}

// Explanations computes all explanations at a confidence level in (0, 1). It changes
// nothing and can be called at any time. It panics if the level is out of range.
func (c *Collector) Explanations(level float64) Explanations {
	predicted := min(c.leagues, c.limit)
	e := Explanations{
		Level: level, Leagues: c.leagues, Learnt: (predicted + 1) / 2, Judged: predicted / 2,
		Legs: c.bins, Players: make([]Player, len(c.players)),
	}
	for i := range c.players {
		e.Players[i] = c.players[i].explain(level)
	}
	return e
}

func (g *gathered) explain(level float64) Player {
	p := Player{
		Even:    g.even.Estimate(level, 0, 1),
		Exploit: mostOf(g.hit[:]), Follow: mostOf(g.could[:]), Bits: math.NaN(),
	}
	for b := range g.learning {
		p.Learning = append(p.Learning, g.learning[b].Estimate(level, 0, 1))
	}
	if g.judged > 0 {
		p.Order, p.Bits = g.model.best()
	}
	p.Studied = g.tested[p.Order].Estimate(level, 0, 1)
	p.Met = g.hits[p.Exploit].Estimate(level, 0, 1)
	p.Hindsight = g.chances[p.Follow].Estimate(level, 0, 1)
	p.Regret = g.regrets[p.Follow].Estimate(level, -1, 1)
	return p
}

// mostOf is the predictor with the most hits, the first of equal ones.
func mostOf(hits []int64) int { return slices.Index(hits, slices.Max(hits)) }

// Opponent is an opponent that a player differs from most or least.
type Opponent struct {
	Field  int // field index
	Differ analysis.Estimate
	// Rivals is how many other opponents have overlapping intervals: any of them may be
	// the true one.
	Rivals int
}

// Opponents returns the best and the worst opponent of a player: those from whom its
// choices differed most and least. It reports false if the player met nobody.
func Opponents(e *analysis.Estimates, player int) (best, worst Opponent, ok bool) {
	var list []Opponent
	for _, p := range e.Pairs {
		if (p.A == player || p.B == player) && p.Differ.Defined() {
			list = append(list, Opponent{Field: p.A + p.B - player, Differ: p.Differ})
		}
	}
	if len(list) == 0 {
		return best, worst, false
	}
	byDiffer := func(a, b Opponent) int { return cmp.Compare(a.Differ.Estimate, b.Differ.Estimate) }
	best, worst = slices.MaxFunc(list, byDiffer), slices.MinFunc(list, byDiffer)
	for _, o := range list {
		if o.Field != best.Field && o.Differ.High >= best.Differ.Low {
			best.Rivals++
		}
		if o.Field != worst.Field && o.Differ.Low <= worst.Differ.High {
			worst.Rivals++
		}
	}
	return best, worst, true
}
