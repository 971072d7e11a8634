// Package explain says why strategies score what they score, from the records of
// their matches alone: how predictable each is, what an opponent could make of
// that, what it could itself have made of its opponents, and how it develops over
// the legs of a league.
//
// Two kinds of prediction are made of every choice of every player, before it is
// looked at:
//
//   - by somebody who has studied the player: counts of what it did after the last
//     k choices of both in this meeting and in this role, gathered over leagues;
//   - by somebody who has met it for the first time in this league, and knows what
//     the two have done since: the predictors of [Predictors].
//
// Whoever predicts a choice says the opposite, so a hit is a match in which choices
// differ, worth half a point on average to both. That the best predictor was found
// among several would flatter it. So leagues with an even number are learnt from,
// and leagues with an odd number judge what was learnt; all hit rates and intervals
// come from the latter. Where no prediction can be made, half a hit is counted.
//
// Predicting is dear, so it is done on the first leagues of a run, up to a number of
// matches that is stated; see [Options]. Learning curves come from all leagues.
// Counters are integers; memory does not depend on the number of leagues.
package explain

import (
	"math"

	"github.com/strategylab/strategylab/analysis"
)

// Explanations is what a [Collector] has found.
type Explanations struct {
	Level   float64 // of every interval
	Leagues int     // that learning curves come from
	// Learnt and Judged are how many leagues the predictors were chosen on, and how
	// many others their hit rates come from.
	Learnt, Judged int
	// Legs has the first and the last leg of each point of the learning curves.
	Legs    [][2]int
	Players []Player // by field index
}

// Player is what there is to say of one strategy. Shares are of matches decided by
// the choices of both.
type Player struct {
	// Learning is the chance that its choice differs from the opponent's, by leg.
	Learning []analysis.Estimate
	Even     analysis.Estimate // how often it says even

	// Studied is how often somebody who knows the strategy from earlier leagues
	// predicts it, from the last Order matches of a meeting. Bits is what a choice
	// surprises that observer by, on average: 1 is pure chance, 0 no surprise.
	Studied analysis.Estimate
	Order   int
	Bits    float64

	// Met is how often the best of those predicts it who know this meeting alone.
	// Exploit is its index in Predictors.
	Met     analysis.Estimate
	Exploit int

	// Hindsight is how often the choices would have differed if the player had always
	// said the opposite of what the best predictor said of its opponents, provided
	// that these had done the same; Regret is that less how often they did differ,
	// from -1 to 1. Follow is the predictor's index.
	Hindsight, Regret analysis.Estimate
	Follow            int
}

// Explanations computes all explanations at a confidence level in (0, 1). It can be
// called at any time and changes nothing. It panics if the level is out of range.
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
		Exploit: mostOf(&g.hit), Follow: mostOf(&g.could), Bits: math.NaN(),
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

// mostOf is the predictor with the most hits, of equal ones the first.
func mostOf(hits *[predictors]int64) int {
	best := 0
	for i, h := range hits {
		if h > hits[best] {
			best = i
		}
	}
	return best
}

// Opponent is one whom a player differs from most or least.
type Opponent struct {
	Field  int // field index
	Differ analysis.Estimate
	// Rivals is how many others have intervals that overlap: any of them may be the
	// true one.
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
	best, worst = list[0], list[0]
	for _, o := range list {
		if o.Differ.Estimate > best.Differ.Estimate {
			best = o
		}
		if o.Differ.Estimate < worst.Differ.Estimate {
			worst = o
		}
	}
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
