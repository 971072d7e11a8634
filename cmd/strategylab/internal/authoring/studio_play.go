package authoring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/experiments/arena"
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

// League implements studio.Lab. The league with the version before has it on the seat of
// the draft, so that every other difference follows from theirs.
func (w *workshop) League(ctx context.Context, t studio.Trial, league int, against string) (studio.League, error) {
	ctx, leave, err := w.enter(ctx, w.tries, func(int, int, string) {})
	if err != nil {
		return studio.League{}, err
	}
	defer leave()
	t.Leagues = league + 1
	old := t.Before
	t.Before = ""
	names, now, err := w.follow(ctx, t, league)
	if err != nil {
		return studio.League{}, stopped(ctx, err)
	}
	out := studio.League{Title: fmt.Sprintf("League %d", league)}
	var then []arena.Step
	if old != "" {
		t.Source = old
		_, then, err = w.follow(ctx, t, league)
		var broken *strategies.Error
		if err != nil && (!errors.As(err, &broken) || ctx.Err() != nil) {
			return studio.League{}, stopped(ctx, err)
		}
		if out.Before = err == nil; !out.Before {
			out.Summary = "The version before does not load. "
		}
	}
	changed, shown := 0, 0
	for i := range now {
		step := studio.Step{Match: now[i].Match.ID, Opponent: names[now[i].Opponent], Now: side(&now[i])}
		if out.Before {
			step.Then = side(&then[i])
			step.Changed = now[i].Mine != then[i].Mine
		}
		if against != "" && against != step.Opponent {
			continue
		}
		if shown++; step.Changed {
			changed++
		}
		out.Steps = append(out.Steps, step)
	}
	if against != "" {
		out.Title += " against " + words.Printable(against)
	}
	out.Summary += total("The draft", now)
	if out.Before {
		out.Summary += fmt.Sprintf(" %s Their choices differ in %d of the %s below.", total("The version before", then), changed, words.Typeset.Plural(int64(shown), "match"))
	}
	return out, nil
}

// total says how a league ended for a version.
func total(who string, steps []arena.Step) string {
	if len(steps) == 0 {
		return who + " had no match."
	}
	last := steps[len(steps)-1]
	return fmt.Sprintf("%s ends on place %d with %s.", who, last.Place, words.Typeset.Plural(int64(last.Total), "point"))
}

// follow plays a league with the source of a trial.
func (w *workshop) follow(ctx context.Context, t studio.Trial, league int) (names []string, steps []arena.Step, err error) {
	team, plan, err := w.assemble(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, team.Close()) }()
	for _, e := range plan.Field {
		names = append(names, e.Name)
	}
	steps, err = arena.Follow(ctx, plan, team.Factories, league, draft)
	return names, steps, err
}

// Bounds of what a version printed in one match.
const (
	mostSaid  = 20
	widthSaid = 300 // bytes of a line
)

// side describes one version in a match.
func side(s *arena.Step) *studio.Side {
	out := &studio.Side{Mine: chosen(s.Mine), Theirs: chosen(s.Theirs), Number: "\u2013", Points: s.Points, Total: s.Total, Place: s.Place}
	out.Result = strings.ReplaceAll(s.Result.String(), "_", " ")
	if s.Result == game.Tie {
		out.Result = "tie"
	}
	if s.Number != results.NoNumber {
		out.Number = strconv.Itoa(s.Number)
	}
	for _, text := range s.Said[:min(len(s.Said), mostSaid)] {
		out.Said = append(out.Said, strategies.OneLine(text, widthSaid))
	}
	if more := len(s.Said) - mostSaid; more > 0 {
		out.Said = append(out.Said, fmt.Sprintf("and %s more", words.Typeset.Plural(int64(more), "line")))
	}
	return out
}

// chosen is the choice of a side, or its fault.
func chosen(s game.Side) string {
	if s.Fault != game.NoFault {
		return strings.TrimSpace(s.Choice.String() + " " + s.Fault.String())
	}
	return s.Choice.String()
}
