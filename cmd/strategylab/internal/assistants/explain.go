package assistants

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// explained is the field index of the player to explain.
const explained = 0

func (l *labTools) explain(ctx context.Context, in ExplainInput, m meter) (ExplainOutput, error) {
	opponents := in.Opponents
	if len(opponents) == 0 {
		opponents = l.sparring(in.Player.Name)
	}
	var seen *explain.Habits
	f, err := l.play(ctx, order{
		players: append([]Player{in.Player}, opponents...), runs: in.Runs, legs: in.Legs, seed: in.Seed, draw: game.FairDraw().String(),
		also: func(plan results.Plan) (_ experiments.Sink, err error) {
			seen, err = explain.NewHabits(plan, explained)
			return seen, err
		},
	}, m)
	if err != nil {
		return ExplainOutput{}, err
	}
	out := ExplainOutput{Outcome: f.outcome, Player: ranked(f.Document.Player(explained)), Habits: habitsOf(seen.Estimates(f.Level)), Learning: []Learning{}}
	out.fill(&f.Explanations)
	out.Summary = out.describe()
	return out, nil
}

// fill adds explanations to the answer.
func (out *ExplainOutput) fill(x *explain.Explanations) {
	p := &x.Players[explained]
	out.Even, out.Best, out.Worst = estimate(p.Even), rival(p.Best), rival(p.Worst)
	if s := p.Studied; s != nil {
		how := "its choices in earlier leagues in the same role"
		if *s.Order > 0 {
			how += ", after the same choices of both in the last " + plural(int64(*s.Order), "match")
		}
		out.Studied = &Prediction{Hits: rounded(s.Interval), How: fmt.Sprintf("%s; a choice carries %.2f bits (1 is a coin, 0 is certain)", how, s.Bits)}
		out.Met = &Prediction{Hits: rounded(p.Met.Interval), How: p.Met.Predictor}
		out.Missed = &Missed{More: rounded(p.Regret.Interval), How: p.Regret.Predictor}
	}
	for i, e := range p.Learning {
		out.Learning = append(out.Learning, Learning{From: x.Legs[i][0], To: x.Legs[i][1], Differ: estimate(e)})
	}
}

func rounded(i explain.Interval) Estimate { return *estimate(analysis.Estimate(i)) }

func habitsOf(list []explain.Habit) []Habit {
	var out []Habit
	for _, h := range list {
		out = append(out, Habit{After: h.After, Even: estimate(h.Even), Times: h.Times})
	}
	return out
}

func rival(o *explain.Opponent) *Rival {
	if o == nil {
		return nil
	}
	return &Rival{Name: o.Name, Differ: estimate(o.Differ), Others: o.Rivals}
}

// describe summarizes the explanation.
func (out *ExplainOutput) describe() string {
	return failures(out.Player.Name, out.Player.Technical, out.Player.Matches, "") + words.Plain.Say("explained", out)[0]
}
