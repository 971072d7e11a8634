package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/assert"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// accumulate feeds an accumulator as a sink.
type accumulate struct{ *analysis.Accumulator }

func (a accumulate) Append(l *results.League) error { return a.Add(*l) }

// fresh plays a new experiment.
func (e *experimentRun) fresh(ctx context.Context) error {
	cat, err := loadCatalog(ctx, e.p, e.c)
	if err != nil {
		return err
	}
	defer cat.Close()
	field, err := e.field(cat)
	if err != nil {
		return err
	}
	_, err = e.freshWith(ctx, field, e.out())
	return err
}

// freshWith plays a new experiment among the players of a field.
func (e *experimentRun) freshWith(ctx context.Context, field catalog.Field, out string) (*report.Run, error) {
	for _, w := range field.Warnings {
		e.note("strategylab: warning: %s", w)
	}
	plan, err := e.plan(field)
	if err != nil {
		return nil, err
	}
	if _, err := newJudge(e.c, plan); err != nil {
		return nil, err // before there is a folder
	}
	dir, err := results.Create(e.p.path(out), plan)
	if err != nil {
		if errors.Is(err, results.ErrExists) {
			err = withHint(err, "strategylab experiment --resume %s", out)
		}
		return nil, err
	}
	factories := make([]strategies.Factory, len(field.Players))
	for i, f := range field.Players {
		factories[i] = f.Factory
	}
	e.note("playing %s of %d strategies, %d legs, seed %d", howMany(plan), len(plan.Field), plan.Legs, plan.Seed)
	return e.play(ctx, dir, out, factories)
}

// resume goes on with the run in a folder.
func (e *experimentRun) resume(ctx context.Context) error {
	out := e.c.String(flagResume)
	dir, err := results.Open(e.p.path(out))
	if err != nil {
		return usagef("resume %s: %w", out, err)
	}
	closeDir := true
	defer func() {
		if closeDir {
			_ = dir.Close() // an earlier error is the one to tell
		}
	}()
	if tear := dir.Repaired(); tear != nil {
		e.note("strategylab: warning: %v", tear)
	}
	if err := e.extend(dir); err != nil {
		return err
	}
	plan := dir.Plan()
	cat, err := loadCatalog(ctx, e.p, e.c)
	if err != nil {
		return err
	}
	defer cat.Close()
	factories, err := factoriesOf(plan, cat)
	if err != nil {
		return fmt.Errorf("resume %s: %w", out, err)
	}
	e.note("resuming after %d of %s of %d strategies, %d legs, seed %d",
		dir.Len(), howMany(plan), len(plan.Field), plan.Legs, plan.Seed)
	closeDir = false // play closes it
	_, err = e.play(ctx, dir, out, factories)
	return err
}

// factoriesOf finds the strategies that a recorded plan was played with. Their
// code must not have changed.
func factoriesOf(plan results.Plan, cat *catalog.Catalog) ([]strategies.Factory, error) {
	factories := make([]strategies.Factory, len(plan.Field))
	for i, f := range plan.Field {
		target := f.Source
		if target == "" || f.Kind == string(strategies.Plugin) { // one program may play several
			target = f.Ref
		}
		entry, err := cat.Resolve(target)
		if err != nil {
			return nil, named(fmt.Errorf("%s: %w", f.Name, err))
		}
		if entry.Info.Fingerprint != f.Fingerprint {
			return nil, withHint(fmt.Errorf("%s: the code of %s has changed since the run began", f.Name, target),
				"restore the file, or begin a new run with --seed %d --out DIR", plan.Seed)
		}
		factories[i] = entry.Factory
	}
	return factories, nil
}

// play plays what is left of the run in a folder, closes the folder, and
// reports on all that is in it.
func (e *experimentRun) play(ctx context.Context, dir *results.Dir, out string, factories []strategies.Factory) (*report.Run, error) {
	e.p.forBatch()
	page, err := e.newReport(dir.Plan(), factories)
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	run, err := e.playOpen(ctx, dir, factories, page)
	interrupted := stopped(ctx, err)
	if interrupted {
		err = nil
	}
	if err = keepRun(ctx, dir, e.p.path(out), run, page, err); err != nil {
		return nil, err
	}
	if interrupted && run.Estimates.Leagues == 0 {
		e.note("stopped before a league was complete")
		return nil, &reported{errStopped}
	}
	if err := e.print(*run, e.p.path(out)); err != nil {
		return nil, err
	}
	e.noteUsage(run)
	if interrupted {
		e.note("stopped after %d of %d leagues; go on with: strategylab experiment --resume %s", run.Estimates.Leagues, run.Plan.Runs, out)
		return run, &reported{errStopped}
	}
	where := "results in " + out
	if page != nil {
		where += ", report in " + filepath.Join(out, reportFile)
	}
	e.note("%s; the same again: --seed %d", where, run.Plan.Seed)
	return run, verdictOn(run)
}

// keepRun writes into the folder of a run what it has shown, unless playing it has
// failed, and closes the folder in any case. The page may be nil.
func keepRun(ctx context.Context, dir *results.Dir, path string, run *report.Run, page *reportMaker, err error) error {
	if run != nil && err == nil {
		err = dir.Summary(run.Document())
	}
	if run != nil && err == nil && page != nil && run.Estimates.Leagues > 0 {
		err = page.write(ctx, path, *run)
	}
	return errors.Join(err, dir.Close())
}

func (e *experimentRun) playOpen(ctx context.Context, dir *results.Dir, factories []strategies.Factory, page *reportMaker) (*report.Run, error) {
	plan := dir.Plan()
	judging, err := newJudge(e.c, plan)
	if err != nil {
		return nil, err
	}
	var bar io.Writer
	if e.p.terminal && !e.quiet {
		bar = e.p.stderr
	}
	progress := startProgress(bar, e.p.columns, e.p.now, dir.Len(), plan.Runs)
	defer progress.stop()
	return session{p: e.p, workers: e.workersFor(plan, factories), judging: judging, page: page, seen: progress}.play(ctx, dir, factories)
}

// session is how the leagues of a run are played and what becomes of them beside
// their being recorded.
type session struct {
	p       *process
	workers int           // leagues under way at once; 0 is one a processor
	judging *assert.Judge // of assertions; may have none
	page    *reportMaker  // nil if none is wanted
	seen    experiments.Sink
}

// play plays what is left of the run in an open folder and reports on all that is
// in it, also if it was interrupted, which is its error then.
func (s session) play(ctx context.Context, dir *results.Dir, factories []strategies.Factory) (*report.Run, error) {
	plan := dir.Plan()
	study, err := newStudy(plan, analysis.DefaultLevel)
	if err != nil {
		return nil, err
	}
	sinks := s.page.sink(experiments.Tee(study, s.judging))
	prefix, err := experiments.Resume(plan, dir.Leagues(), sinks)
	if err != nil {
		return nil, err
	}
	driver, messages, err := driverOf(plan, factories)
	if err != nil {
		return nil, err
	}
	before, began := prefix.Leagues(), s.p.now()
	outcome, err := experiments.Run(ctx, plan, driver, experiments.Tee(dir, sinks, s.seen),
		experiments.Config{Workers: s.workers, After: prefix, Stop: study.stop(), Every: 1})
	seconds := s.p.now().Sub(began).Seconds()
	facts := report.Facts{Messages: messages(), Seconds: seconds, Digest: outcome.Digest, Reproducible: outcome.Reproducible,
		Processes: processesOf(plan, factories)}
	if played := outcome.Leagues - before; played > 0 && seconds > 0 {
		facts.MatchesPerSecond = float64(outcome.Matches) * float64(played) / float64(outcome.Leagues) / seconds
	}
	run := study.report(analysis.DefaultLevel, facts)
	judge(&run, s.judging, study.acc)
	return &run, err
}

// workersFor returns how many leagues are to be under way at once; 0 leaves it
// to the run. Agents wait for each other's messages most of the time, so more
// of their leagues than processors keep the processors busy. Scripts in
// processes of their own do most of the work there, and half the seats alive
// fall out of the caches less often.
func (e *experimentRun) workersFor(plan results.Plan, factories []strategies.Factory) int {
	const waiting = 4
	switch {
	case e.workers != 0:
		return e.workers
	case plan.Transport != "direct":
		return waiting * runtime.GOMAXPROCS(0)
	case blockOf(factories) == scriptsApart:
		return (runtime.GOMAXPROCS(0) + 1) / 2
	}
	return 0
}

// driverOf returns what plays the leagues of a plan, and how many messages it
// has sent.
func driverOf(plan results.Plan, factories []strategies.Factory) (experiments.Driver, func() int64, error) {
	if plan.Transport == "direct" {
		d, err := arena.New(plan, factories, arena.Config{Block: blockOf(factories)})
		return d, func() int64 { return 0 }, err
	}
	d, err := host.NewDriver(plan, factories)
	if err != nil {
		return nil, nil, err
	}
	return d, d.Messages, nil
}

// print writes the report in the format that was asked for, and beside the
// results what has no place in it.
func (e *experimentRun) print(run report.Run, dir string) error {
	if e.format == "csv" {
		var pairs bytes.Buffer
		if err := report.WritePairsCSV(&pairs, run); err != nil {
			return err
		}
		if err := disk.WriteFile(filepath.Join(dir, "pairs.csv"), pairs.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return e.show(run)
}
