package assistants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// order is an experiment that a tool wants played.
type order struct {
	players    []Player
	runs, legs int
	seed       *uint64
	draw       string
	also       func(results.Plan) (experiments.Sink, error) // makes a sink of every league; may be nil
}

// finished is a played experiment whose report is kept.
type finished struct {
	*lab.Played
	outcome Outcome
}

// play waits for its turn, plays an experiment and keeps its report.
func (l *labTools) play(ctx context.Context, o order, m meter) (_ finished, err error) {
	if err := l.checkOrder(o); err != nil {
		return finished{}, err
	}
	leave, err := l.enter(ctx, m)
	if err != nil {
		return finished{}, err
	}
	defer leave()
	ctx, cancel := context.WithTimeoutCause(ctx, l.cfg.MaxTime, errTime)
	defer cancel()
	id := newID(l.cfg.lab.Now())
	m(0, float64(o.runs), "loading the players")
	t, err := l.assemble(ctx, o.players, filepath.Join(l.store.path(id), sourcesFolder))
	if err != nil && ctx.Err() != nil {
		return finished{}, stoppedBy(ctx, early)
	}
	if err != nil {
		return finished{}, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	plan, err := l.plan(o, t)
	if err != nil {
		return finished{}, err
	}
	sinks := []experiments.Sink{&counter{meter: m, total: plan.Runs}}
	if o.also != nil {
		also, err := o.also(plan)
		if err != nil {
			return finished{}, err
		}
		sinks = append(sinks, also)
	}
	dir, err := l.store.begin(id, t.Sources)
	if err != nil {
		return finished{}, err
	}
	f, err := l.playIn(ctx, dir, id, plan, t, experiments.Tee(sinks...))
	if err != nil {
		return finished{}, errors.Join(err, l.store.discard(id))
	}
	if err := l.store.prune(l.cfg.lab.Now()); err != nil {
		l.cfg.log.Warn("cannot remove old reports", "error", err)
	}
	return f, nil
}

// early is what stoppedBy says of an experiment that shows nothing.
const early = "stopped before a league was complete: "

// playIn plays a plan in the folder of its report.
func (l *labTools) playIn(ctx context.Context, dir, id string, plan results.Plan, t *lab.Team, seen experiments.Sink) (finished, error) {
	began := l.cfg.lab.Now()
	folder, err := results.Create(dir, plan)
	if err != nil {
		return finished{}, err
	}
	played, err := lab.Session{Lab: l.cfg.lab, Report: true, Seen: seen}.Play(ctx, folder, dir, t.Factories)
	if err == nil {
		err = played.WritePage(ctx)
	}
	if ctx.Err() != nil && (err != nil || played.Run.Estimates.Leagues == 0) {
		return finished{}, stoppedBy(ctx, early)
	}
	if err != nil {
		return finished{}, err
	}
	var text bytes.Buffer
	if err := report.WriteTable(&text, played.Document, report.Screen{Details: true}); err != nil {
		return finished{}, err
	}
	if err := l.store.write(id, reportText, text.Bytes()); err != nil {
		return finished{}, fmt.Errorf("keep the report: %w", disk.Pathless(err))
	}
	f := finished{played, l.outcomeOf(played.Document, id, l.cfg.lab.Now().Sub(began))}
	if f.outcome.Leagues < plan.Runs {
		f.outcome.Stopped = "cancelled"
		if errors.Is(context.Cause(ctx), errTime) {
			f.outcome.Stopped = "time"
		}
		l.cfg.log.Info("experiment stopped", "why", f.outcome.Stopped, "leagues", f.outcome.Leagues, "of", plan.Runs, "report", id)
	}
	return f, nil
}

// checkOrder refuses too large an experiment before anything starts.
func (l *labTools) checkOrder(o order) error {
	if o.runs < 1 || o.runs > l.cfg.MaxRuns {
		return command.Usagef("runs is %d, want 1 to %d", o.runs, l.cfg.MaxRuns)
	}
	if _, err := game.ParseDraw(o.draw); err != nil {
		return command.Usagef("draw: %w", err)
	}
	if err := lab.CheckDrafts(drafts(o.players)); err != nil {
		return err
	}
	players := 0
	for _, p := range o.players {
		players += p.Copies
	}
	return lab.CheckSize(players, o.legs, o.runs)
}

func (l *labTools) plan(o order, t *lab.Team) (results.Plan, error) {
	draw, err := game.ParseDraw(o.draw)
	if err != nil {
		return results.Plan{}, command.Usagef("draw: %w", err)
	}
	plan := results.Plan{
		Schema: results.PlanSchema, Runs: o.runs, Legs: o.legs, Draw: draw.String(), Transport: "direct", Field: t.Field,
	}
	if o.seed != nil {
		plan.Seed = *o.seed
	} else if plan.Seed, err = l.cfg.lab.Seed(); err != nil {
		return plan, err
	}
	if err := plan.Validate(); err != nil {
		return plan, command.Usagef("%w", err)
	}
	return plan, nil
}

func (l *labTools) outcomeOf(run *report.Document, id string, took time.Duration) Outcome {
	return Outcome{
		Leagues: run.Estimates.Leagues, Requested: run.Run.Plan.Runs, Stopped: "complete", Legs: run.Run.Plan.Legs,
		Seed: run.Run.Plan.Seed, Draw: run.Run.Plan.Draw, Level: run.Estimates.Level, Digest: run.Facts.Digest,
		Reproducible: run.Facts.Reproducible, Seconds: round(took.Seconds()), Warnings: run.WarningLines(),
		Report: Report{ID: id, URI: reportURI(id), Path: l.store.path(id)},
	}
}

// counter is a sink that reports how many leagues are complete.
type counter struct {
	meter meter
	done  int
	total int
}

func (c *counter) Append(*results.League) error {
	c.done++
	c.meter(float64(c.done), float64(c.total), fmt.Sprintf("%d of %d leagues", c.done, c.total))
	return nil
}

// enter waits for a turn in the queue.
func (l *labTools) enter(ctx context.Context, m meter) (leave func(), err error) {
	return l.queue.Enter(ctx, func() { m(0, 0, "waiting for another experiment to end") })
}

// assemble loads the players of a field.
func (l *labTools) assemble(ctx context.Context, players []Player, sources string) (*lab.Team, error) {
	t, err := l.cfg.lab.Assemble(ctx, l.cfg.supply, l.cfg.folder, drafts(players), sources)
	var broken *strategies.Error
	if errors.As(err, &broken) {
		err = fmt.Errorf("%w; call check_strategy for details", err)
	}
	return t, named(err)
}

// named says what a model can do about a name that is not known.
func named(err error) error {
	var unknown *catalog.UnknownError
	if errors.As(err, &unknown) {
		return command.Usagef("%w (call list_strategies for all names, or pass a source)", err)
	}
	return err
}

func drafts(players []Player) []lab.Draft {
	list := make([]lab.Draft, len(players))
	for i, p := range players {
		kind, _ := kindOf(p.Language)
		list[i] = lab.Draft{Name: p.Name, Kind: kind, Source: p.Source, Copies: p.Copies}
	}
	return list
}
