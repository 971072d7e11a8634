package assistants

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// explained is who is explained: the first player of the field.
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
	est, x := &f.Run.Estimates, &f.Explanations
	out := ExplainOutput{Outcome: f.outcome, Player: ranked(est, explained), Habits: habitsOf(seen.Estimates(est.Level)), Learning: []Learning{}}
	out.fill(est, x)
	out.Summary = out.describe()
	return out, nil
}

// fill puts explanations into the words of the answer.
func (out *ExplainOutput) fill(est *analysis.Estimates, x *explain.Explanations) {
	p, names := &x.Players[explained], explain.Predictors()
	out.Even = estimate(p.Even)
	if e := estimate(p.Studied); e != nil {
		how := "what it did in earlier leagues in the same role"
		if p.Order > 0 {
			how += fmt.Sprintf(", after the same choices of both in the last %d meetings", p.Order)
		}
		out.Studied = &Prediction{Hits: *e, How: fmt.Sprintf("%s; a choice surprises by %.2f bits, of which 1 is pure chance", how, p.Bits)}
	}
	if e := estimate(p.Met); e != nil {
		out.Met = &Prediction{Hits: *e, How: names[p.Exploit]}
	}
	if e := estimate(p.Regret); e != nil {
		out.Missed = &Missed{More: *e, How: "of the opponent: " + names[p.Follow]}
	}
	for i, e := range p.Learning {
		out.Learning = append(out.Learning, Learning{From: x.Legs[i][0], To: x.Legs[i][1], Differ: estimate(e)})
	}
	if best, worst, ok := explain.Opponents(est, explained); ok {
		out.Best, out.Worst = rival(est, best), rival(est, worst)
	}
}

func habitsOf(list []explain.Habit) []Habit {
	var out []Habit
	for _, h := range list {
		out = append(out, Habit{After: h.After, Even: estimate(h.Even), Times: h.Times})
	}
	return out
}

func rival(est *analysis.Estimates, o explain.Opponent) *Rival {
	return &Rival{Name: est.Players[o.Field].Name, Differ: estimate(o.Differ), Others: o.Rivals}
}

// describe sums the explanation up.
func (out *ExplainOutput) describe() string {
	p := out.Player
	text := fmt.Sprintf("In %s %s", leaguesOf(out.Outcome.Leagues), p.Name)
	if p.Differ == nil {
		return text + " made no choice that met another." + technical(p)
	}
	text += fmt.Sprintf(" differed from its opponents in %.1f %% of matches (%.1f to %.1f %%; 50 %% is chance).", 100*p.Differ.Estimate, 100*p.Differ.Low, 100*p.Differ.High)
	if s := out.Studied; s != nil {
		switch {
		case s.Hits.Low > 0.5:
			text += fmt.Sprintf(" Somebody who has studied it predicts %.1f %% of its choices", 100*s.Hits.Estimate)
		default:
			text += " Nobody who has studied it was found to predict it better than chance"
		}
		if m := out.Met; m != nil && m.Hits.Low > 0.5 {
			text += fmt.Sprintf("; on first meeting, %.1f %% by: %s", 100*m.Hits.Estimate, m.How)
		}
		text += "."
	}
	if m := out.Missed; m != nil && m.More.Low > 0 {
		text += fmt.Sprintf(" It could have differed %.1f points of a hundred more often by this prediction %s.", 100*m.More.Estimate, m.How)
	}
	return text + technical(p)
}

func technical(p Ranked) string {
	if p.Technical == 0 {
		return ""
	}
	return fmt.Sprintf(" It lost %d of %d matches by failing.", p.Technical, p.Matches)
}
