package assistants

import (
	"context"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/analysis"
)

func (l *labTools) run(ctx context.Context, in RunInput, m meter) (RunOutput, error) {
	f, err := l.play(ctx, order{players: in.Players, runs: in.Runs, legs: in.Legs, seed: in.Seed, draw: in.Draw}, m)
	if err != nil {
		return RunOutput{}, err
	}
	est := &f.Run.Estimates
	out := RunOutput{Outcome: f.outcome, Players: []Ranked{}, Tiers: [][]string{}, Comparisons: []Compared{}, Note: note(est)}
	for _, i := range est.Order {
		out.Players = append(out.Players, ranked(est, i))
	}
	for _, tier := range est.Ranking.Tiers {
		names := []string{}
		for _, i := range tier {
			names = append(names, est.Players[i].Name)
		}
		out.Tiers = append(out.Tiers, names)
	}
	for _, c := range est.Neighbours() {
		out.Comparisons = append(out.Comparisons, comparedIn(est, c))
	}
	out.Summary = summary(est, f.outcome)
	return out, nil
}

// ranked is a player's part of what an experiment has shown.
func ranked(est *analysis.Estimates, field int) Ranked {
	p := &est.Players[field]
	r := Ranked{
		Name: p.Name, Kind: p.Kind, Best: est.Ranking.Places[field][0], Worst: est.Ranking.Places[field][1],
		Adjusted: estimate(p.Adjusted), Points: estimate(p.Points), Differ: estimate(p.Differ), WinRate: estimate(p.WinRate),
		Matches: p.Matches, Technical: p.TechnicalLosses, Faults: []Fault{},
	}
	for i, tier := range est.Ranking.Tiers {
		if slices.Contains(tier, field) {
			r.Tier = i + 1
		}
	}
	for _, f := range p.Faults {
		r.Faults = append(r.Faults, Fault{Kind: f.Kind.String(), Count: f.Count, Where: f.Where})
	}
	return r
}

// comparedIn puts a comparison into words.
func comparedIn(est *analysis.Estimates, c analysis.Comparison) Compared {
	a, b := est.Players[c.A].Name, est.Players[c.B].Name
	out := Compared{A: a, B: b, Difference: estimate(c.Difference), P: significant(c.P), Corrected: significant(c.Corrected)}
	switch c.Verdict {
	case analysis.Different:
		out.Verdict = a + " is better"
		if c.Difference.Estimate < 0 {
			out.Verdict = b + " is better"
		}
	case analysis.Equal:
		out.Verdict = "both scored the same in every league"
	default:
		out.Verdict = "no evidence that these differ"
	}
	return out
}

// turned is a comparison seen from the other side.
func turned(c analysis.Comparison) analysis.Comparison {
	d := c.Difference
	c.A, c.B = c.B, c.A
	c.Difference = analysis.Estimate{Estimate: -d.Estimate, Low: -d.High, High: -d.Low}
	return c
}

// summary says what an experiment has shown.
func summary(est *analysis.Estimates, o Outcome) string {
	text := fmt.Sprintf("In %s of %d players", leaguesOf(est.Leagues), len(est.Players))
	if o.Stopped != "complete" {
		text = fmt.Sprintf("Stopped (%s) after %d of %d leagues; in these", o.Stopped, est.Leagues, o.Requested)
	}
	var leaders []string
	if len(est.Ranking.Tiers) > 0 {
		for _, i := range est.Ranking.Tiers[0] {
			leaders = append(leaders, est.Players[i].Name)
		}
	}
	best := est.Players[est.Order[0]]
	score := fmt.Sprintf("%.3f adjusted points a match (%.0f %% interval %.3f to %.3f)", best.Adjusted.Estimate, 100*est.Level, best.Adjusted.Low, best.Adjusted.High)
	switch {
	case est.NothingToRank():
		text += " nothing can be ranked: with two players and a fair draw both expect the same points."
	case len(leaders) == len(est.Players):
		text += fmt.Sprintf(" there is no evidence that any two of them differ; %s has most with %s.", best.Name, score)
	case len(leaders) == 1:
		text += fmt.Sprintf(" %s is better than all others, with %s.", leaders[0], score)
	default:
		text += fmt.Sprintf(" the first tier is %s, which cannot be told apart; %s has most with %s.", listed(leaders), best.Name, score)
	}
	for _, p := range est.Players {
		if p.TechnicalLosses > 0 {
			text += fmt.Sprintf(" %s lost %d of %d matches by failing%s.", p.Name, p.TechnicalLosses, p.Matches, firstFault(p.Faults))
		}
	}
	return text
}

func leaguesOf(n int) string {
	if n == 1 {
		return "1 league"
	}
	return fmt.Sprintf("%d leagues", n)
}

func firstFault(faults []analysis.Fault) string {
	for _, f := range faults {
		if f.Where != "" {
			return ", first at " + f.Where
		}
	}
	return ""
}

// note says what is easily overlooked in the numbers.
func note(est *analysis.Estimates) string {
	switch {
	case est.NothingToRank():
		return "With a fair draw a match between two moves both by the same, so a field of two shows P(differ) and nothing to rank. Add other players."
	case est.Fair:
		return "With a fair draw expected points are 1 + P(differ)/2 for both players of a match: what a strategy can control is how often it differs from the field, and that it does not fail. Compare by adjusted points; raw points hold the luck of the draw."
	}
	return "The draw is not fair: saying the likelier parity is worth points of its own."
}
