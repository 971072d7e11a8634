package report

import (
	"io"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/explain"
)

// ExplanationSchema is the version of the document that [WriteExplanationJSON]
// writes.
const ExplanationSchema = "strategylab/explanations/v1"

// Explanation is all that a report on why players score what they score is made
// from.
type Explanation struct {
	Run          Run
	Explanations explain.Explanations
	// Fields are the field indices of those who are explained, in their order.
	Fields []int
	// Detail writes a paragraph for each instead of a line.
	Detail bool
}

// ExplanationDocument is the explanations for other programs.
type ExplanationDocument struct {
	Schema  string  `json:"schema"`
	Level   float64 `json:"level"`   // of every interval
	Leagues int     `json:"leagues"` // that learning curves and opponents come from
	// Learnt and Judged are how many leagues the predictors were chosen on, and how
	// many others their hit rates come from.
	Learnt  int                 `json:"learnt"`
	Judged  int                 `json:"judged"`
	Legs    [][2]int            `json:"legs"` // first and last leg of each point of the learning curves
	Players []ExplanationPlayer `json:"players"`
}

// ExplanationPlayer is what there is to say of one player; see [explain.Player].
// Shares are of matches decided by the choices of both.
type ExplanationPlayer struct {
	Name     string      `json:"name"`
	Even     *Estimate   `json:"even"`
	Differ   *Estimate   `json:"differ"`   // over all leagues
	Studied  *Prediction `json:"studied"`  // by somebody who knows it from earlier leagues
	Met      *Prediction `json:"met"`      // by somebody who meets it for the first time
	Regret   *Regret     `json:"regret"`   // against the best predictor in hindsight
	Best     *Opponent   `json:"best"`     // opponent
	Worst    *Opponent   `json:"worst"`    // opponent
	Learning []*Estimate `json:"learning"` // chance to differ, by point of Legs
}

// Prediction is how often a player's choice is predicted.
type Prediction struct {
	Estimate
	Order     *int     `json:"order,omitempty"`     // matches of the past that are looked at; 0 is the role alone
	Bits      *float64 `json:"bits,omitempty"`      // that a choice surprises by; 1 is pure chance
	Predictor string   `json:"predictor,omitempty"` // what it guesses; "it" is the player
}

// Regret is what a player would have differed more often by.
type Regret struct {
	Estimate
	Hindsight *Estimate `json:"hindsight"` // how often it would have differed
	Predictor string    `json:"predictor"` // whose opposite it would have said; "it" is the opponent
}

// Opponent is one whom a player differs from most or least.
type Opponent struct {
	Name   string    `json:"name"`
	Differ *Estimate `json:"differ"`
	Rivals int       `json:"rivals"` // others whose intervals overlap
}

// WriteExplanationJSON writes the explanations as a document.
func WriteExplanationJSON(w io.Writer, x Explanation) error {
	s := &x.Explanations
	d := ExplanationDocument{
		Schema: ExplanationSchema, Level: s.Level, Leagues: s.Leagues, Learnt: s.Learnt, Judged: s.Judged,
		Legs: append([][2]int{}, s.Legs...), Players: []ExplanationPlayer{},
	}
	for _, i := range x.Fields {
		d.Players = append(d.Players, x.player(i))
	}
	return writeDocument(w, "explanations", d)
}

func (x *Explanation) player(i int) ExplanationPlayer {
	p, e, names := &x.Explanations.Players[i], &x.Run.Estimates, explain.Predictors()
	q := ExplanationPlayer{Name: e.Players[i].Name, Even: estimate(p.Even), Differ: estimate(e.Players[i].Differ), Learning: []*Estimate{}}
	for _, point := range p.Learning {
		q.Learning = append(q.Learning, estimate(point))
	}
	if studied := estimate(p.Studied); studied != nil {
		q.Studied = &Prediction{Estimate: *studied, Order: &p.Order, Bits: number(p.Bits)}
	}
	if met := estimate(p.Met); met != nil {
		q.Met = &Prediction{Estimate: *met, Predictor: names[p.Exploit]}
	}
	if regret := estimate(p.Regret); regret != nil {
		q.Regret = &Regret{Estimate: *regret, Hindsight: estimate(p.Hindsight), Predictor: names[p.Follow]}
	}
	if best, worst, ok := explain.Opponents(e, i); ok {
		q.Best, q.Worst = x.opponent(best), x.opponent(worst)
	}
	return q
}

func (x *Explanation) opponent(o explain.Opponent) *Opponent {
	return &Opponent{Name: x.Run.Estimates.Players[o.Field].Name, Differ: estimate(o.Differ), Rivals: o.Rivals}
}

// chance says whether a share can be told from one half: 1 if it is above, -1 below,
// 0 if not.
func chance(e analysis.Estimate) int {
	switch {
	case !e.Defined():
		return 0
	case e.Low > 0.5:
		return 1
	case e.High < 0.5:
		return -1
	}
	return 0
}
