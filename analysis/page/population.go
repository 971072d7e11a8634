package page

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis/population"
)

// populationPart is the population view in words and a table.
type populationPart struct {
	Refused string // why there is none
	Text    []string
	Rows    []memberRow
	Dynamic bool // shares and alpha-rank are known
}

type memberRow struct {
	Name, Self, Share, AlphaRank, Invades, Worst, WorstPayoff, Borda string
}

func (s *source) population() *populationPart {
	if s.refuse != nil {
		return &populationPart{Refused: s.refuse.Error()}
	}
	part := &populationPart{Dynamic: s.view.Trajectory != nil}
	if t := s.view.Trajectory; t != nil {
		part.Text = append(part.Text, s.ending(t))
	} else {
		part.Text = append(part.Text, fmt.Sprintf("What becomes of the population is not known: %s never met a copy of themselves.",
			list(s.view.Missing, 5)))
	}
	for _, i := range s.byShare(len(s.view.Members)) {
		m := s.view.Members[i]
		r := memberRow{
			Name: m.Name, Self: "-", Share: percent(m.Share), AlphaRank: percent(m.AlphaRank),
			Invades: number(m.Invades, 2), Borda: percent(m.Borda), Worst: "-",
		}
		if m.Self.Defined() {
			r.Self = number(m.Self.Estimate, 3) + " (" + between(m.Self, 1, 3) + ")"
		}
		if m.Worst >= 0 {
			r.Worst = s.view.Members[m.Worst].Name
			r.WorstPayoff = number(m.WorstPayoff.Estimate, 3) + " (" + between(m.WorstPayoff, 1, 3) + ")"
		}
		part.Rows = append(part.Rows, r)
	}
	return part
}

// ending says where the dynamics lead.
func (s *source) ending(t *population.Trajectory) string {
	var left []string
	for _, i := range s.byShare(len(s.view.Members)) {
		if m := s.view.Members[i]; m.Share >= 0.01 {
			left = append(left, m.Name+" "+percent(m.Share))
		}
	}
	first, last := t.Steps[0], t.Last()
	text := fmt.Sprintf("From equal shares the mean payoff rises from %s to %s points a match, and never falls on the way: under a fair draw the game has a "+
		"potential. After %s generations there are left: %s.", number(first.Payoff, 3), number(last.Payoff, 3), count(int64(last.Generation)), list(left, 8))
	if t.Settled {
		return text + " Nobody would gain by being something else: an equilibrium."
	}
	return text + fmt.Sprintf(" It has not settled: the best strategy would still gain %s points a match.", number(t.Gap, 5))
}
