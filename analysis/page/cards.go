package page

import (
	"fmt"
	"html/template"
	"math"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/explain"
)

// card is what there is to say of one strategy.
type card struct {
	Name, Kind string
	Tier       int
	Curve      template.HTML
	Lines      []cardLine
}

type cardLine struct{ Head, Text string }

// mostCardCurves bounds the size of the page for large fields.
const mostCardCurves = 60

func (s *source) cards() ([]card, error) {
	var list []card
	for _, i := range s.e.Order {
		p := &s.e.Players[i]
		c := card{Name: p.Name, Kind: p.Kind, Tier: s.tierOf[i], Lines: s.lines(i)}
		if len(s.e.Players) <= mostCardCurves && len(s.Explanations.Legs) > 1 {
			var err error
			if c.Curve, err = s.curve(i); err != nil {
				return nil, err
			}
		}
		list = append(list, c)
	}
	return list, nil
}

func (s *source) lines(i int) []cardLine {
	x := &s.Explanations.Players[i]
	names := explain.Predictors()
	lines := []cardLine{{"Says even", share(x.Even)}}
	if x.Studied.Defined() {
		lines = append(lines,
			cardLine{"To one who has studied it", studied(x)},
			cardLine{"To one who meets it first", fmt.Sprintf("%s by the guess that %s.", hits(x.Met), quoted(names[x.Exploit]))},
			cardLine{"With hindsight", hindsight(x, names[x.Follow])})
	}
	if best, worst, ok := explain.Opponents(s.e, i); ok && best.Field != worst.Field {
		lines = append(lines, cardLine{"Best opponent", s.opponent(best)}, cardLine{"Worst opponent", s.opponent(worst)})
	}
	return lines
}

func studied(x *explain.Player) string {
	past := "the role alone"
	switch {
	case x.Order == 1:
		past = "the last match of both"
	case x.Order > 1:
		past = fmt.Sprintf("the last %d matches of both", x.Order)
	}
	return fmt.Sprintf("%s from %s; a choice surprises by %s bits (1 is a coin, 0 is certain).", hits(x.Studied), past, number(x.Bits, 2))
}

// hits says how well something is predicted, and whether that is more than chance.
func hits(e analysis.Estimate) string {
	if e.Low <= 0.5 && e.High >= 0.5 {
		return "No better than a coin: predicted in " + share(e)
	}
	if e.High < 0.5 {
		return "Misleading: predicted in only " + share(e)
	}
	return "Predicted in " + share(e)
}

func hindsight(x *explain.Player, predictor string) string {
	r := x.Regret
	gain := number(100*math.Abs(r.Estimate), 1) + " percentage points"
	base := fmt.Sprintf("Saying the opposite of the guess that %s would have differed in %s, ", quoted(predictor), share(x.Hindsight))
	switch {
	case r.Low > 0:
		return base + gain + " more than it did (" + between(r, 100, 1) + ")."
	case r.High < 0:
		return base + gain + " less than it did: it reads its opponents better than every built-in predictor."
	}
	return base + "which cannot be told from what it did (regret " + between(r, 100, 1) + ")."
}

func (s *source) opponent(o explain.Opponent) string {
	text := s.name(o.Field) + ", " + share(o.Differ)
	switch {
	case o.Rivals == 1:
		text += "; 1 other may be the true one"
	case o.Rivals > 1:
		text += fmt.Sprintf("; %d others may be the true one", o.Rivals)
	}
	return text
}

// share writes a share with its interval.
func share(e analysis.Estimate) string {
	if !e.Defined() {
		return "-"
	}
	return percent(e.Estimate) + " (" + between(e, 100, 1) + ")"
}

func quoted(s string) string { return "\u201c" + s + "\u201d" }
