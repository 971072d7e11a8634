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
	"slices"

	"github.com/strategylab/strategylab/analysis"
)

// Explanations is what a [Collector] has found, as other programs get it.
type Explanations struct {
	Level   float64 `json:"level"`   // of every interval
	Leagues int     `json:"leagues"` // that learning curves and opponents come from
	// Learnt and Judged are the numbers of leagues on which predictors were chosen and
	// on which they were judged.
	Learnt  int      `json:"learnt"`
	Judged  int      `json:"judged"`
	Legs    [][2]int `json:"legs"`    // first and last leg of each point of the learning curves
	Players []Player `json:"players"` // by field index
}

// Player explains one strategy. Shares are of matches decided by choices; what was not
// measured is nil.
type Player struct {
	Name     string              `json:"name"`
	Even     analysis.Estimate   `json:"even"`     // how often it says even
	Differ   analysis.Estimate   `json:"differ"`   // over all leagues
	Studied  *Prediction         `json:"studied"`  // from earlier leagues
	Met      *Prediction         `json:"met"`      // from this league only, by the best rule
	Regret   *Regret             `json:"regret"`   // against the best rule in hindsight
	Best     *Opponent           `json:"best"`     // that it differs from most
	Worst    *Opponent           `json:"worst"`    // that it differs from least
	Learning []analysis.Estimate `json:"learning"` // chance to differ, by point of Legs
}

// Interval is an estimate whose members are those of the struct around it.
type Interval analysis.Estimate

// Prediction is how often a player's choice is predicted.
type Prediction struct {
	Interval
	Order     *int            `json:"order,omitempty"`     // past matches used; 0 is the role alone
	Bits      analysis.Number `json:"bits,omitempty"`      // mean surprise of a choice; 1 is pure chance, 0 no surprise
	Predictor string          `json:"predictor,omitempty"` // the rule of [Predictors]; "it" is the player
}

// Regret is by how much more often a player could have differed, from -1 to 1: if it had
// always answered the best rule about its opponents with the opposite, and these had
// played the same.
type Regret struct {
	Interval
	Hindsight analysis.Estimate `json:"hindsight"` // how often it would have differed
	Predictor string            `json:"predictor"` // the rule; "it" is the opponent
}

// Explanations computes all explanations at the level of the estimates, which must be of
// the same leagues. It changes nothing and can be called at any time.
func (c *Collector) Explanations(of *analysis.Estimates) Explanations {
	predicted := min(c.leagues, c.limit)
	e := Explanations{
		Level: of.Level, Leagues: c.leagues, Learnt: (predicted + 1) / 2, Judged: predicted / 2,
		Legs: c.bins, Players: make([]Player, len(c.players)),
	}
	for i := range c.players {
		p := &e.Players[i]
		*p = c.players[i].explain(of.Level)
		p.Name, p.Differ = of.Players[i].Name, of.Players[i].Differ
		p.Best, p.Worst = Opponents(of, i)
	}
	return e
}

func (g *gathered) explain(level float64) Player {
	p := Player{Even: g.even.Estimate(level, 0, 1)}
	for b := range g.learning {
		p.Learning = append(p.Learning, g.learning[b].Estimate(level, 0, 1))
	}
	if g.judged == 0 {
		return p
	}
	order, bits := g.model.best()
	studied := g.tested[order].Estimate(level, 0, 1)
	if !studied.Defined() {
		return p
	}
	exploit, follow, names := mostOf(g.hit[:]), mostOf(g.could[:]), Predictors()
	p.Studied = &Prediction{Interval: Interval(studied), Order: &order, Bits: analysis.Number(bits)}
	p.Met = &Prediction{Interval: Interval(g.hits[exploit].Estimate(level, 0, 1)), Predictor: names[exploit]}
	p.Regret = &Regret{Interval(g.regrets[follow].Estimate(level, -1, 1)), g.chances[follow].Estimate(level, 0, 1), names[follow]}
	return p
}

// mostOf is the predictor with the most hits, the first of equal ones.
func mostOf(hits []int64) int { return slices.Index(hits, slices.Max(hits)) }

// Opponent is an opponent that a player differs from most or least.
type Opponent struct {
	Name   string            `json:"name"`
	Differ analysis.Estimate `json:"differ"`
	Rivals int               `json:"rivals"` // other opponents with overlapping intervals: any of them may be the true one
}

// Opponents returns the best and the worst opponent of a player: those from whom its
// choices differed most and least; nil if the player met nobody.
func Opponents(e *analysis.Estimates, player int) (best, worst *Opponent) {
	var list []Opponent
	for _, p := range e.Pairs {
		if (p.A == player || p.B == player) && p.Differ.Defined() {
			list = append(list, Opponent{Name: e.Players[p.A+p.B-player].Name, Differ: p.Differ})
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	byDiffer := func(a, b Opponent) int { return cmp.Compare(a.Differ.Estimate, b.Differ.Estimate) }
	most, least := slices.MaxFunc(list, byDiffer), slices.MinFunc(list, byDiffer)
	for _, o := range list {
		if o.Name != most.Name && o.Differ.High >= most.Differ.Low {
			most.Rivals++
		}
		if o.Name != least.Name && o.Differ.Low <= least.Differ.High {
			least.Rivals++
		}
	}
	return &most, &least
}
