package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/explain"
)

// WriteExplanationTable writes the explanations for people; see [WriteTable].
func WriteExplanationTable(w io.Writer, x Explanation, width int) error {
	var buf bytes.Buffer
	s := &x.Explanations
	buf.WriteString(wrap(fmt.Sprintf("Predictors were chosen on %s and judged on %s, of %s; opponents and learning curves are from all.",
		plural(int64(s.Learnt), "league"), plural(int64(s.Judged), "other"), grouped(int64(s.Leagues))), width) + "\n\n")
	var after []string
	if x.Detail {
		for k, i := range x.Fields {
			if k > 0 {
				buf.WriteByte('\n')
			}
			buf.WriteString(printable(x.Run.Estimates.Players[i].Name) + "\n")
			for _, line := range x.paragraph(i) {
				buf.WriteString("  " + wrap(line, max(0, width-2)) + "\n")
			}
		}
	} else {
		renderColumns(&buf, x.columns(), width)
		after = []string{
			"even, differ: how often it says even, and says other than its opponent. studied: how often somebody predicts it who knows it from " +
				"other leagues, from the last (order) matches of a meeting; met: the best simple guess of somebody who does not. 50 is chance.",
			"regret: by how many percentage points more often it would have differed by saying the opposite of what the best simple guess says of its opponents, " +
				"provided that these had done the same; below 0 it reads them better than every guess.",
			fmt.Sprintf("± is for one number at %g %%. For the guesses, opponents and learning curve of some: name them after the folder.", 100*s.Level),
		}
	}
	if len(after) > 0 {
		buf.WriteByte('\n')
	}
	for _, line := range after {
		buf.WriteString(wrap(line, width) + "\n")
	}
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("write explanations: %w", err)
	}
	return nil
}

func (x *Explanation) columns() []column {
	e := &x.Run.Estimates
	each := func(of func(i int, p *explain.Player) string) []string {
		var list []string
		for _, i := range x.Fields {
			list = append(list, of(i, &x.Explanations.Players[i]))
		}
		return list
	}
	share := func(of func(i int, p *explain.Player) analysis.Estimate) []string {
		return each(func(i int, p *explain.Player) string { return inPercent(of(i, p)) })
	}
	opponent := func(of func(best, worst explain.Opponent) explain.Opponent) []string {
		return each(func(i int, _ *explain.Player) string {
			best, worst, ok := explain.Opponents(e, i)
			if !ok {
				return "-"
			}
			return printable(e.Players[of(best, worst).Field].Name)
		})
	}
	return []column{
		{head: "strategy", left: true, cells: each(func(i int, _ *explain.Player) string { return printable(e.Players[i].Name) })},
		{head: "even%", keep: 3, cells: share(func(_ int, p *explain.Player) analysis.Estimate { return p.Even })},
		{head: "differ%", keep: 7, cells: share(func(i int, _ *explain.Player) analysis.Estimate { return e.Players[i].Differ })},
		{head: "studied%", cells: share(func(_ int, p *explain.Player) analysis.Estimate { return p.Studied })},
		{head: "order", keep: 1, cells: each(func(_ int, p *explain.Player) string {
			if !p.Studied.Defined() {
				return "-"
			}
			return fmt.Sprint(p.Order)
		})},
		{head: "bits", keep: 4, cells: each(func(_ int, p *explain.Player) string { return plain(p.Bits, 2) })},
		{head: "met%", cells: share(func(_ int, p *explain.Player) analysis.Estimate { return p.Met })},
		{head: "regret", keep: 8, cells: share(func(_ int, p *explain.Player) analysis.Estimate { return p.Regret })},
		{head: "best opponent", left: true, keep: 6, cells: opponent(func(best, _ explain.Opponent) explain.Opponent { return best })},
		{head: "worst", left: true, keep: 5, cells: opponent(func(_, worst explain.Opponent) explain.Opponent { return worst })},
	}
}

func inPercent(e analysis.Estimate) string {
	if !e.Defined() {
		return "-"
	}
	return fmt.Sprintf("%.1f ±%.1f", 100*e.Estimate, 100*half(e))
}

// interval writes a share with its interval.
func interval(e analysis.Estimate) string {
	return fmt.Sprintf("%.1f %% (%.1f to %.1f)", 100*e.Estimate, 100*e.Low, 100*e.High)
}

// paragraph is all there is to say of one player.
func (x *Explanation) paragraph(i int) []string {
	p, e, names := &x.Explanations.Players[i], &x.Run.Estimates, explain.Predictors()
	if !p.Even.Defined() {
		return []string{"No match of it was decided by choices, so there is nothing to explain."}
	}
	lines := []string{
		fmt.Sprintf("Says even in %s.", interval(p.Even)),
		fmt.Sprintf("Its choice differs from the opponent's in %s.", interval(e.Players[i].Differ)),
	}
	if p.Studied.Defined() {
		lines = append(lines,
			fmt.Sprintf("To one who has studied it: %s, from %s; a choice surprises by %.2f bits (1 is a coin).", predicted(p.Studied), pastOf(p.Order), p.Bits),
			fmt.Sprintf("To one who meets it first: %s, by the guess that %q.", predicted(p.Met), names[p.Exploit]),
			hindsightOf(p, names[p.Follow]))
	}
	if best, worst, ok := explain.Opponents(e, i); ok && best.Field != worst.Field {
		lines = append(lines, "Best opponent: "+x.against(best), "Worst opponent: "+x.against(worst))
	}
	if len(x.Explanations.Legs) > 1 {
		lines = append(lines, x.curve(p))
	}
	return lines
}

func predicted(e analysis.Estimate) string {
	switch chance(e) {
	case 1:
		return "predicted in " + interval(e)
	case -1:
		return "misleading, predicted in only " + interval(e)
	}
	return "no better than a coin, predicted in " + interval(e)
}

func pastOf(order int) string {
	switch order {
	case 0:
		return "its role alone"
	case 1:
		return "the last match of both"
	}
	return fmt.Sprintf("the last %d matches of both", order)
}

func hindsightOf(p *explain.Player, predictor string) string {
	base := fmt.Sprintf("With hindsight: the opposite of the guess that %q would have differed in %s, ", predictor, interval(p.Hindsight))
	gain := fmt.Sprintf("%.1f percentage points", 100*math.Abs(p.Regret.Estimate))
	switch {
	case p.Regret.Low > 0:
		return base + gain + fmt.Sprintf(" more than it did (%.1f to %.1f).", 100*p.Regret.Low, 100*p.Regret.High)
	case p.Regret.High < 0:
		return base + gain + " less than it did: it reads its opponents better than every simple guess."
	}
	return base + fmt.Sprintf("which cannot be told from what it did (regret %.1f to %.1f).", 100*p.Regret.Low, 100*p.Regret.High)
}

func (x *Explanation) against(o explain.Opponent) string {
	text := fmt.Sprintf("%s, differing in %s", printable(x.Run.Estimates.Players[o.Field].Name), interval(o.Differ))
	if o.Rivals > 0 {
		text += fmt.Sprintf("; %s may be the true one", plural(int64(o.Rivals), "other"))
	}
	return text + "."
}

// curve writes the chance to differ by leg.
func (x *Explanation) curve(p *explain.Player) string {
	var list []string
	for k, legs := range x.Explanations.Legs {
		leg := fmt.Sprint(legs[0])
		if legs[1] > legs[0] {
			leg += fmt.Sprintf("-%d", legs[1])
		}
		if v := p.Learning[k]; v.Defined() {
			list = append(list, fmt.Sprintf("%s: %s", leg, inPercent(v)))
		}
	}
	return "Differs by leg (%): " + strings.Join(list, ", ") + "."
}
