package assistants

import (
	"context"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
)

func (l *labTools) compare(ctx context.Context, in CompareInput, m meter) (CompareOutput, error) {
	if in.A.Name == in.B.Name {
		return CompareOutput{}, mistake("a and b are both called %s: name two strategies, or give the source another name", in.A.Name)
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

// sparring returns the default opponents.
func (l *labTools) sparring(taken ...string) []Player {
	var players []Player
	for _, name := range lab.Opponents() {
		if !slices.Contains(taken, name) {
			players = append(players, Player{Name: name, Copies: 1})
		}
	}
	return players
}

// fieldOf returns the field index of a player or of its first copy.
func fieldOf(est *analysis.Estimates, p Player) int {
	name := p.Name
	if p.Copies > 1 {
		name += "#1"
	}
	return slices.IndexFunc(est.Players, func(q analysis.Player) bool { return q.Name == name })
}

func comparison(out CompareOutput, level float64) string {
	c := out.Comparison
	text := fmt.Sprintf("After %s: %s.", plural(int64(out.Outcome.Leagues), "league"), c.Verdict)
	if out.Outcome.Stopped != "complete" {
		text = fmt.Sprintf("Stopped (%s) after %d of %d leagues: %s.", out.Outcome.Stopped, out.Outcome.Leagues, out.Outcome.Requested, c.Verdict)
	}
	if d := c.Difference; d != nil {
		text += fmt.Sprintf(" Against the same opponents %s scored %+.4f adjusted points per match compared with %s (%s interval %+.4f to %+.4f, adjusted p = %.2g).",
			c.A, d.Estimate, c.B, words.Plain.Level(level), d.Low, d.High, c.Corrected)
	}
	for _, p := range []Ranked{out.A, out.B} {
		text += failures(p.Name, p.Technical, p.Matches, "")
	}
	return text
}
