package authoring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/host/web/studio"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// errTooSlow is the cause of the end of a trial or a check that took too long.
var errTooSlow = errors.New("time limit of this studio exceeded; use fewer leagues or opponents, or find what takes so long in the script")

// enter waits for a turn of the folder and then for one of the studio, and limits the
// time after that.
func (w *workshop) enter(ctx context.Context, queues [2]*lab.Queue, p studio.Progress) (context.Context, func(), error) {
	var leave []func()
	for _, q := range queues {
		out, err := q.Enter(ctx, func() { p(0, 0, "waiting for others to end") })
		if errors.Is(err, lab.ErrBusy) {
			err = studio.ErrBusy
		}
		if err != nil {
			for _, f := range leave {
				f()
			}
			return nil, nil, err
		}
		leave = append(leave, out)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, w.maxTime, errTooSlow)
	return ctx, func() {
		cancel()
		for _, f := range leave {
			f()
		}
	}, nil
}

// Check implements studio.Lab.
func (w *workshop) Check(ctx context.Context, d studio.Draft, p studio.Progress) (studio.Verdict, error) {
	name, kind, err := scriptFile(d.File)
	if err != nil {
		return studio.Verdict{}, err
	}
	ctx, leave, err := w.enter(ctx, w.checks, p)
	if err != nil {
		return studio.Verdict{}, err
	}
	defer leave()
	checked, broken, err := w.lab.CheckSource(ctx, w.supply, name, kind, []byte(d.Source), func(step string) { p(0, 0, step) })
	switch {
	case ctx.Err() != nil:
		return studio.Verdict{}, context.Cause(ctx)
	case err != nil:
		return studio.Verdict{}, err
	case broken != nil:
		at := ""
		if broken.Line > 0 {
			at = fmt.Sprintf(" in line %d", broken.Line)
		}
		return studio.Verdict{
			Sentence: "Not ready: the script does not load" + at + ".",
			Findings: []studio.Finding{{Level: strategytest.Error.String(), What: visible(broken.Err.Error()), Hint: visible(broken.Hint), Line: broken.Line}},
		}, nil
	}
	v := studio.Verdict{Ready: checked.Ready, Sentence: checked.Verdict}
	for _, f := range strategytest.Urgent(checked.Findings) {
		v.Findings = append(v.Findings, studio.Finding{Level: f.Level.String(), What: visible(f.What), Hint: visible(f.Hint), Line: f.Line()})
	}
	if t := checked.Trial; t != nil {
		text, _, _ := strings.Cut(t.String(), "\n\n")
		v.Trial = strings.ReplaceAll(text, "\n", " ")
	}
	return v, nil
}

// visible makes the text of a script fit for a page: on one line, without characters
// that turn the direction of what follows.
func visible(text string) string { return strategies.OneLine(text, 500) }

// before is what the version before is called beside a draft.
func before(name string) string { return name[:min(len(name), 33)] + "-before" }

// assemble loads the field of a trial: the draft, the version before unless it is empty,
// and the opponents.
func (w *workshop) assemble(ctx context.Context, t studio.Trial) (*lab.Team, results.Plan, error) {
	name, kind, err := scriptFile(t.File)
	plan := results.Plan{Schema: results.PlanSchema, Runs: t.Leagues, Legs: game.DefaultLegs, Seed: cmp.Or(t.Seed, lab.CheckSeed), Draw: game.FairDraw().String(), Transport: "direct"}
	if err == nil && (t.Leagues < 1 || t.Leagues > w.maxRuns) {
		err = fmt.Errorf("%d leagues; want 1 to %d", t.Leagues, w.maxRuns)
	}
	if err != nil {
		return nil, plan, err
	}
	players := []lab.Draft{{Name: name, Kind: kind, Source: t.Source, Copies: 1}}
	if t.Before != "" {
		players = append(players, lab.Draft{Name: before(name), Kind: kind, Source: t.Before, Copies: 1})
	}
	field := t.Field
	if len(field) == 0 {
		field = lab.Opponents()
	}
	for _, opponent := range field {
		if opponent != name && opponent != before(name) {
			players = append(players, lab.Draft{Name: opponent, Copies: 1})
		}
	}
	if err := lab.CheckSize(len(players), plan.Legs, plan.Runs); err != nil {
		return nil, plan, err
	}
	team, err := w.lab.Assemble(ctx, w.supply, w.folder, players, w.folder.Name)
	if err != nil {
		return nil, plan, err
	}
	plan.Field = team.Field
	if err := plan.Validate(); err != nil {
		return nil, plan, errors.Join(err, team.Close())
	}
	return team, plan, nil
}

// Try implements studio.Lab.
func (w *workshop) Try(ctx context.Context, t studio.Trial, p studio.Progress) (_ studio.Outcome, err error) {
	ctx, leave, err := w.enter(ctx, w.tries, p)
	if err != nil {
		return studio.Outcome{}, err
	}
	defer leave()
	if t.Fresh {
		if t.Seed, err = w.lab.Seed(); err != nil {
			return studio.Outcome{}, err
		}
	}
	note := ""
	team, plan, err := w.assemble(ctx, t)
	var broken *strategies.Error
	if errors.As(err, &broken) && t.Before != "" && ctx.Err() == nil { // perhaps only the version before
		t.Before, note = "", "The version before does not load, so the draft was tried without it. "
		team, plan, err = w.assemble(ctx, t)
	}
	if err != nil {
		return studio.Outcome{}, stopped(ctx, err)
	}
	defer func() { err = errors.Join(err, team.Close()) }()
	acc, err := analysis.NewAccumulator(plan)
	if err != nil {
		return studio.Outcome{}, err
	}
	err = lab.Session{}.PlayUnrecorded(ctx, plan, team.Factories, func(l *results.League) error {
		p(l.Index+1, plan.Runs, fmt.Sprintf("%d of %d leagues", l.Index+1, plan.Runs))
		return acc.Add(*l)
	})
	if err != nil {
		return studio.Outcome{}, stopped(ctx, err)
	}
	est := acc.Estimates(analysis.DefaultLevel)
	out := outcomeOf(&est, plan, t)
	out.Note = note + out.Note
	return out, nil
}

// stopped says why a trial ended early.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// draft is the field index of the draft.
const draft = 0

// outcomeOf describes what a trial has shown, with the faults of the draft.
func outcomeOf(est *analysis.Estimates, plan results.Plan, t studio.Trial) studio.Outcome {
	out := studio.NewOutcome(est, plan.Seed, t)
	for _, f := range est.Players[draft].Faults {
		found := strategytest.Finding{Where: f.Where}
		what := fmt.Sprintf("%s by %s", words.Typeset.Plural(f.Count, "technical loss"), f.Kind)
		if f.Where != "" {
			what += ": " + visible(f.Where)
		}
		out.Faults = append(out.Faults, studio.Finding{Level: strategytest.Error.String(), What: what, Line: found.Line()})
	}
	return out
}
