package assistants

import (
	"context"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
)

func (l *labTools) compare(ctx context.Context, in CompareInput, m meter) (CompareOutput, error) {
	if in.A.Name == in.B.Name {
		return CompareOutput{}, mistake("a and b are both called %s: name two strategies, or give the source a name of its own", in.A.Name)
	}
	opponents := in.Opponents
	if len(opponents) == 0 {
		opponents = l.sparring(in.A.Name, in.B.Name)
	}
	players := append([]Player{in.A, in.B}, opponents...)
	f, err := l.play(ctx, order{players: players, runs: in.Runs, legs: in.Legs, seed: in.Seed, draw: in.Draw}, m)
	if err != nil {
		return CompareOutput{}, err
	}
	est := &f.Run.Estimates
	a, b := fieldOf(est, in.A), fieldOf(est, in.B)
	out := CompareOutput{Outcome: f.outcome, A: ranked(est, a), B: ranked(est, b), Opponents: []string{}}
	for i, p := range est.Players {
		if i != a && i != b {
			out.Opponents = append(out.Opponents, p.Name)
		}
	}
	for _, c := range est.Ranking.Comparisons {
		switch {
		case c.A == a && c.B == b:
			out.Comparison = comparedIn(est, c)
		case c.A == b && c.B == a:
			out.Comparison = comparedIn(est, turned(c))
		}
	}
	out.Summary = comparison(out, est.Level)
	return out, nil
}

// sparring are the opponents where none were named.
func (l *labTools) sparring(taken ...string) []Player {
	var players []Player
	for _, name := range lab.Opponents() {
		if !slices.Contains(taken, name) {
			players = append(players, Player{Name: name, Copies: 1})
		}
	}
	return players
}

// fieldOf is the field index of a player, or of its first copy.
func fieldOf(est *analysis.Estimates, p Player) int {
	name := p.Name
	if p.Copies > 1 {
		name += "#1"
	}
	return slices.IndexFunc(est.Players, func(q analysis.Player) bool { return q.Name == name })
}

func comparison(out CompareOutput, level float64) string {
	c := out.Comparison
	text := fmt.Sprintf("After %s: %s.", leaguesOf(out.Outcome.Leagues), c.Verdict)
	if out.Outcome.Stopped != "complete" {
		text = fmt.Sprintf("Stopped (%s) after %d of %d leagues: %s.", out.Outcome.Stopped, out.Outcome.Leagues, out.Outcome.Requested, c.Verdict)
	}
	if d := c.Difference; d != nil {
		text += fmt.Sprintf(" Against the same opponents %s scored %+.4f adjusted points a match compared with %s (%.0f %% interval %+.4f to %+.4f, p = %.2g corrected).",
			c.A, d.Estimate, c.B, 100*level, d.Low, d.High, c.Corrected)
	}
	for _, p := range []Ranked{out.A, out.B} {
		if p.Technical > 0 {
			text += fmt.Sprintf(" %s lost %d of %d matches by failing.", p.Name, p.Technical, p.Matches)
		}
	}
	return text
}
