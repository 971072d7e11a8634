package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/analysis/words"
)

// ExplanationSchema is the version of the document that [WriteExplanationJSON]
// writes.
const ExplanationSchema = "strategylab/explanations/v1"

// Explanation is all that a report on why players score what they score is made from.
type Explanation struct {
	*Document
	Explanations explain.Explanations
	// Fields are the field indices of the players to explain, in order.
	Fields []int
	// Detail writes a paragraph per player instead of a line.
	Detail bool
}

// ExplanationDocument is the explanations for other programs.
type ExplanationDocument struct {
	Schema  string  `json:"schema"`
	Level   float64 `json:"level"`   // of every interval
	Leagues int     `json:"leagues"` // that learning curves and opponents come from
	// Learnt and Judged are the numbers of leagues on which predictors were chosen and
	// tested.
	Learnt  int                 `json:"learnt"`
	Judged  int                 `json:"judged"`
	Legs    [][2]int            `json:"legs"` // first and last leg of each point of the learning curves
	Players []ExplanationPlayer `json:"players"`
}

// ExplanationPlayer explains one player; see [explain.Player]. Shares are of matches
// decided by choices.
type ExplanationPlayer struct {
	Name     string              `json:"name"`
	Even     analysis.Estimate   `json:"even"`
	Differ   analysis.Estimate   `json:"differ"`   // over all leagues
	Studied  *Prediction         `json:"studied"`  // from earlier leagues
	Met      *Prediction         `json:"met"`      // from this league only
	Regret   *Regret             `json:"regret"`   // against the best predictor in hindsight
	Best     *Opponent           `json:"best"`     // opponent
	Worst    *Opponent           `json:"worst"`    // opponent
	Learning []analysis.Estimate `json:"learning"` // chance to differ, by point of Legs
}

// interval is an estimate whose members are those of the struct around it.
type interval analysis.Estimate

// Prediction is how often a player's choice is predicted.
type Prediction struct {
	interval
	Order     *int            `json:"order,omitempty"`     // past matches used; 0 is the role alone
	Bits      analysis.Number `json:"bits,omitempty"`      // mean surprise of a choice; 1 is pure chance
	Predictor string          `json:"predictor,omitempty"` // the rule; "it" is the player
}

// Regret is by how much more often a player could have differed.
type Regret struct {
	interval
	Hindsight analysis.Estimate `json:"hindsight"` // how often it would have differed
	Predictor string            `json:"predictor"` // the rule to answer with the opposite; "it" is the opponent
}

// Opponent is an opponent that a player differs from most or least.
type Opponent struct {
	Name   string            `json:"name"`
	Differ analysis.Estimate `json:"differ"`
	Rivals int               `json:"rivals"` // other opponents with overlapping intervals
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
	p, e, names := &x.Explanations.Players[i], &x.Estimates, explain.Predictors()
	q := ExplanationPlayer{
		Name: e.Players[i].Name, Even: p.Even, Differ: e.Players[i].Differ, Learning: append([]analysis.Estimate{}, p.Learning...),
	}
	if p.Studied.Defined() {
		q.Studied = &Prediction{interval: interval(p.Studied), Order: &p.Order, Bits: analysis.Number(p.Bits)}
	}
	if p.Met.Defined() {
		q.Met = &Prediction{interval: interval(p.Met), Predictor: names[p.Exploit]}
	}
	if p.Regret.Defined() {
		q.Regret = &Regret{interval: interval(p.Regret), Hindsight: p.Hindsight, Predictor: names[p.Follow]}
	}
	if best, worst, ok := explain.Opponents(e, i); ok {
		q.Best, q.Worst = x.opponent(best), x.opponent(worst)
	}
	return q
}

func (x *Explanation) opponent(o explain.Opponent) *Opponent {
	return &Opponent{Name: x.Estimates.Players[o.Field].Name, Differ: o.Differ, Rivals: o.Rivals}
}

// WriteExplanationTable writes the explanations for people; see [WriteTable].
func WriteExplanationTable(w io.Writer, x Explanation, width int) error {
	s := sheet{width: width}
	s.lines(words.Plain.Sample(&x.Explanations), "")
	if x.Detail {
		for k, i := range x.Fields {
			if k > 0 {
				s.lines("")
			}
			s.lines(words.Printable(x.Estimates.Players[i].Name))
			for _, line := range x.paragraph(i) {
				s.WriteString("  " + words.Wrap(line, max(0, width-2)) + "\n")
			}
		}
		return s.send(w, "explanations")
	}
	s.table(x.columns())
	s.lines("",
		"even, differ: how often the strategy says even, and how often its choice differs from the opponent's. studied: how often it is predicted "+
			"from earlier leagues, by the last (order) matches of a pair; met: from this league only, by the best simple rule. 50 is chance.",
		"regret: by how many percentage points more often it would have differed by answering the best simple rule about its opponents with the opposite, "+
			"if they had played the same; below 0 it reads them better than every rule.",
		fmt.Sprintf("± is for one number at %s. For the rules, opponents and learning curves of single strategies, name them after the folder.",
			words.Plain.Level(x.Explanations.Level)))
	return s.send(w, "explanations")
}

func (x *Explanation) columns() []column {
	e := &x.Estimates
	col := func(head string, keep int, cell func(i int, p *explain.Player) string) column {
		return columnOf(head, keep, x.Fields, func(i *int) string { return cell(*i, &x.Explanations.Players[*i]) })
	}
	share := func(head string, keep int, of func(i int, p *explain.Player) analysis.Estimate) column {
		return col(head, keep, func(i int, p *explain.Player) string { return words.PlusMinus(of(i, p), 100, 1) })
	}
	opponent := func(head string, keep int, best bool) column {
		return col(head, keep, func(i int, _ *explain.Player) string {
			first, last, ok := explain.Opponents(e, i)
			switch {
			case !ok:
				return "-"
			case best:
				return words.Printable(e.Players[first.Field].Name)
			}
			return words.Printable(e.Players[last.Field].Name)
		})
	}
	return []column{
		col("<strategy", 0, func(i int, _ *explain.Player) string { return words.Printable(e.Players[i].Name) }),
		share("even%", 3, func(_ int, p *explain.Player) analysis.Estimate { return p.Even }),
		share("differ%", 7, func(i int, _ *explain.Player) analysis.Estimate { return e.Players[i].Differ }),
		share("studied%", 0, func(_ int, p *explain.Player) analysis.Estimate { return p.Studied }),
		col("order", 1, func(_ int, p *explain.Player) string {
			if !p.Studied.Defined() {
				return "-"
			}
			return fmt.Sprint(p.Order)
		}),
		col("bits", 4, func(_ int, p *explain.Player) string { return words.Plain.Number(p.Bits, 2) }),
		share("met%", 0, func(_ int, p *explain.Player) analysis.Estimate { return p.Met }),
		share("regret", 8, func(_ int, p *explain.Player) analysis.Estimate { return p.Regret }),
		opponent("<best opponent", 6, true), opponent("<worst", 5, false),
	}
}

// paragraph is all there is to say about one player.
func (x *Explanation) paragraph(i int) []string {
	e, style := &x.Estimates, words.Plain
	facts := style.Explanation(e, &x.Explanations, i)
	if facts == nil {
		return []string{"None of its matches was decided by choices, so there is nothing to explain."}
	}
	facts = slices.Insert(facts, 1, words.Line{Head: "Differs from its opponents", Text: style.Share(e.Players[i].Differ)})
	if len(x.Explanations.Legs) > 1 {
		facts = append(facts, words.Line{Head: "Differs by leg (%)", Text: x.curve(i)})
	}
	lines := make([]string, len(facts))
	for k, f := range facts {
		lines[k] = words.Printable(f.Head+": "+f.Text) + "."
	}
	return lines
}

func (x *Explanation) curve(i int) string {
	var list []string
	for k, legs := range x.Explanations.Legs {
		if v := x.Explanations.Players[i].Learning[k]; v.Defined() {
			list = append(list, words.Plain.Places(legs)+": "+words.PlusMinus(v, 100, 1))
		}
	}
	return strings.Join(list, ", ")
}
