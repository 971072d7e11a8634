package lab

import (
	"context"
	"errors"
	"runtime"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/assert"
	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// Session says how a lab plays a run and what it computes from the leagues.
type Session struct {
	Lab     Lab
	Workers int              // leagues played in parallel; 0 picks a number
	Judge   *assert.Judge    // of assertions; nil for none
	Report  *ReportOptions   // nil for no page
	Origin  string           // folder of the run that this one repeats, for its scripts; may be empty
	Seen    experiments.Sink // sees every new league; may be nil
	// Watch is called after every new league, by the goroutine that records them; progress
	// then computes what the leagues so far have shown. Nil means nobody watches.
	Watch func(progress func() report.Progress)
	Ended func() // called when the last league has been played; may be nil
}

// ReportOptions says what the page of a run holds.
type ReportOptions struct {
	PNG     bool // keep the plots as PNG images, too
	Ratings bool // fit a model of the placings
	Warn    func(format string, args ...any)
}

// Played is what a run has shown.
type Played struct {
	page.Input
	Interrupted bool // the context ended before the run was complete
}

// Play plays the remaining leagues of the run in an open folder, writes its
// summary and page there, and closes the folder, whose path is path. An
// interruption is not an error: Played then covers the complete leagues.
func (s Session) Play(ctx context.Context, dir *results.Dir, path string, factories []strategies.Factory) (*Played, error) {
	c, err := newCollectors(dir.Plan(), s.Report != nil, s.Report != nil && s.Report.Ratings)
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	if err := s.keepSources(dir.Plan(), path); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	played, err := s.playLeagues(ctx, dir, factories, c)
	if s.Ended != nil {
		s.Ended()
	}
	if err == nil {
		err = s.keep(ctx, dir, path, factories, c, played)
	}
	if err = errors.Join(err, dir.Close()); err != nil {
		return nil, err
	}
	return played, nil
}

// playLeagues plays the rest of the run and reports on the whole run.
func (s Session) playLeagues(ctx context.Context, dir *results.Dir, factories []strategies.Factory, c *collectors) (*Played, error) {
	plan := dir.Plan()
	study, err := NewStudy(plan, analysis.DefaultLevel)
	if err != nil {
		return nil, err
	}
	past := c.sinks(study, s.Judge)
	prefix, err := experiments.Resume(plan, dir.Leagues(), past)
	if err != nil {
		return nil, err
	}
	driver, messages, err := driverOf(plan, factories)
	if err != nil {
		return nil, err
	}
	sinks := []experiments.Sink{dir, past}
	if s.Seen != nil {
		sinks = append(sinks, s.Seen)
	}
	if s.Watch != nil {
		sinks = append(sinks, sinkFunc(func(*results.League) error { s.Watch(study.progress); return nil }))
	}
	before, began := prefix.Leagues(), s.Lab.Now()
	outcome, err := experiments.Run(ctx, plan, driver, experiments.Tee(sinks...),
		experiments.Config{Workers: s.workersFor(plan, factories), After: prefix, Stop: study.stop(), Every: 1})
	seconds := s.Lab.Now().Sub(began).Seconds()
	played := new(Played)
	if played.Interrupted = cutShort(ctx, err); err != nil && !played.Interrupted {
		return nil, err
	}
	facts := report.Facts{Messages: messages(), Seconds: seconds, Digest: outcome.Digest, Reproducible: outcome.Reproducible,
		Processes: processesOf(plan, factories)}
	if n := outcome.Leagues - before; n > 0 && seconds > 0 {
		facts.MatchesPerSecond = analysis.Number(float64(outcome.Matches) * float64(n) / float64(outcome.Leagues) / seconds)
	}
	played.Run = study.report(analysis.DefaultLevel, facts)
	judge(&played.Run, s.Judge, study.acc)
	if c.explain != nil {
		played.Explanations = c.explain.Explanations(analysis.DefaultLevel)
	}
	return played, nil
}

// cutShort reports whether an error says only that the context has ended.
func cutShort(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

// keep writes what a run shows to its folder. It plays the mirror leagues for the
// page, unless the run was interrupted.
func (s Session) keep(ctx context.Context, dir *results.Dir, path string, factories []strategies.Factory, c *collectors, played *Played) error {
	if err := dir.Summary(played.Run.Document()); err != nil {
		return err
	}
	if s.Report == nil || played.Run.Estimates.Leagues == 0 {
		return nil
	}
	var err error
	if played.Mirrors, err = playMirrors(ctx, played.Run, factories); err != nil {
		return err
	}
	if err := keepMirrors(path, played.Mirrors); err != nil {
		return err
	}
	if played.Worths, played.WorthLeagues, err = c.worths(s.Report.Warn); err != nil {
		return err
	}
	return WritePage(path, played.Input, s.Report.PNG)
}

// judge completes a report with the verdicts on the assertions.
func judge(run *report.Run, j *assert.Judge, acc *analysis.Accumulator) {
	if j == nil {
		return
	}
	estimates := func(level float64) analysis.Estimates {
		if level == run.Estimates.Level {
			return run.Estimates
		}
		return acc.Estimates(level)
	}
	run.Assertions = j.Outcomes(estimates, run.Estimates.Level)
}

// collectors compute from leagues what a page needs beside the study.
type collectors struct {
	explain  *explain.Collector   // nil if not wanted
	placings *population.Placings // nil if not wanted
}

func newCollectors(plan results.Plan, explanations, ratings bool) (*collectors, error) {
	c := new(collectors)
	var err error
	if explanations {
		if c.explain, err = explain.NewCollector(plan, explain.Options{}); err != nil {
			return nil, err
		}
	}
	if ratings {
		c.placings, err = population.NewPlacings(plan)
	}
	return c, err
}

// sinks returns a sink that passes leagues to the study, the judge (unless nil) and
// the collectors.
func (c *collectors) sinks(study *Study, j *assert.Judge) experiments.Sink {
	all := []experiments.Sink{study}
	if j != nil {
		all = append(all, j)
	}
	if c.explain != nil {
		all = append(all, sinkFunc(c.explain.Add))
	}
	if c.placings != nil {
		all = append(all, sinkFunc(c.placings.Add))
	}
	return experiments.Tee(all...)
}

// sinkFunc is a sink that is one function.
type sinkFunc func(*results.League) error

func (f sinkFunc) Append(l *results.League) error { return f(l) }

// Leagues that a worker plays in lockstep, by where scripts run.
const (
	blockScripts  = 6
	blockIsolated = 32
	blockNative   = 256
)

// blockOf returns how many leagues a worker plays in lockstep. More leagues need
// fewer exchanges with plugins, but all seats of a block are alive at once: script
// VMs take memory and fall out of the CPU caches.
func blockOf(factories []strategies.Factory) int {
	block := blockNative
	for _, f := range factories {
		if k := f.Info().Kind; k != strategies.Lua && k != strategies.JavaScript {
			continue
		}
		if _, isolated := f.(strategies.Batcher); !isolated {
			return blockScripts
		}
		block = blockIsolated
	}
	return block
}

// workersFor returns how many leagues to play in parallel; 0 means one per CPU.
// Agents mostly wait for messages, so more leagues keep the CPUs busy. Isolated
// scripts work in their own processes, so fewer leagues stay in the caches.
func (s Session) workersFor(plan results.Plan, factories []strategies.Factory) int {
	const waiting = 4
	switch {
	case s.Workers != 0:
		return s.Workers
	case plan.Transport != "direct":
		return waiting * runtime.GOMAXPROCS(0)
	case blockOf(factories) == blockIsolated:
		return (runtime.GOMAXPROCS(0) + 1) / 2
	}
	return 0
}

// driverOf returns what plays the leagues of a plan, and a count of the messages
// it has sent.
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

// PlayInMemory plays a plan and returns only its estimates.
func PlayInMemory(ctx context.Context, plan results.Plan, factories []strategies.Factory) (analysis.Estimates, error) {
	return playInMemory(ctx, plan, factories, analysis.DefaultLevel)
}

func playInMemory(ctx context.Context, plan results.Plan, factories []strategies.Factory, level float64) (analysis.Estimates, error) {
	acc, err := analysis.NewAccumulator(plan)
	if err != nil {
		return analysis.Estimates{}, err
	}
	err = PlayDirect(ctx, plan, factories, 0, func(l *results.League) error { return acc.Add(*l) })
	return acc.Estimates(level), err
}

// PlayDirect plays a plan by calling its strategies, on a number of workers (0
// picks one), and passes every league to add, in order.
func PlayDirect(ctx context.Context, plan results.Plan, factories []strategies.Factory, workers int, add func(*results.League) error) error {
	driver, err := arena.New(plan, factories, arena.Config{})
	if err != nil {
		return err
	}
	_, err = experiments.Run(ctx, plan, driver, sinkFunc(add), experiments.Config{Workers: workers})
	return err
}
