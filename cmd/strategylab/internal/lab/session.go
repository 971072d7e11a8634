package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/assert"
	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/experiments/cluster"
	"github.com/strategylab/strategylab/experiments/workers"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// Session says how a lab plays a run and what it computes from the leagues.
type Session struct {
	Lab     Lab
	Workers int              // leagues played in parallel; 0 picks a number
	Judge   *assert.Judge    // of assertions; nil for none
	Report  bool             // whether Played.WritePage makes a page
	Plots   bool             // and writes its plots as SVG files, too
	Yours   []int            // field indices of the user's strategies; nil for those that do not come with the program
	Origin  string           // folder of the run that this one repeats, for its scripts; may be empty
	Seen    experiments.Sink // sees every new league; may be nil
	// Former is the folder of a run of the same plan with other code of some players. Its
	// leagues are taken over where that code cannot have changed them; empty for none.
	Former string
	// Watch is called after every new league, by the goroutine that records them. Nil
	// means nobody watches.
	Watch func(Sofar)
	// Cluster, if not nil, has other machines play, and Ledger keeps who has played what.
	Cluster *Cluster
	Ledger  *cluster.Ledger

	// Parts are the shards to merge; nil to play all leagues. A merge plays only the
	// leagues that have to be replayed. Absent, if not nil, says why it cannot: there are
	// no factories then.
	Parts  []experiments.Part
	Absent error
}

// Sofar is a run while it plays. Its methods are for the goroutine that Watch is called
// by, during the call.
type Sofar struct {
	study     *report.Study
	Workers   int // leagues played in parallel
	processes func() []report.Process
}

// Progress returns what the leagues so far have shown, in microseconds.
func (s Sofar) Progress() report.Progress { return s.study.Progress() }

// Document returns what the leagues so far have shown, but for what is simulated of other
// fields. It simulates the ranking, which takes a hundredth of a second or, in a
// field of 100, half a second.
func (s Sofar) Document() *report.Document {
	return report.New(s.study.Estimated(analysis.DefaultLevel, report.Facts{Processes: s.processes()}))
}

// Played is what a run has shown.
type Played struct {
	page.Input
	Interrupted bool // the context ended before the run was complete
	Kept        int  // leagues that were taken over from the former run

	page func(context.Context) error // writes it; nil for none
}

// Play plays the remaining leagues of the run in an open folder, writes its
// summary there, and closes the folder, whose path is path. An
// interruption is not an error: Played then covers the complete leagues.
func (s Session) Play(ctx context.Context, dir *results.Dir, path string, factories []strategies.Factory) (*Played, error) {
	c, err := newCollectors(dir.Plan(), s.Report, s.Report)
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	if err := s.keepSources(dir.Plan(), path); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	played, err := s.playLeagues(ctx, dir, factories, c)
	if err == nil {
		err = dir.Summary(played.Document)
	}
	if err = errors.Join(err, dir.Close()); err != nil {
		return nil, err
	}
	if s.Report && played.Run.Estimates.Leagues > 0 {
		played.page = func(ctx context.Context) (err error) {
			played.Leagues, played.Records = c.leagues, c.records
			if s.Absent == nil {
				if played.Mirrors, err = playMirrors(ctx, played.Run, factories); err == nil {
					err = keepMirrors(path, played.Mirrors)
				}
			}
			if err != nil {
				return err
			}
			return WritePage(path, Dated(path, played.Input), s.Plots)
		}
	}
	return played, nil
}

// playLeagues plays the rest of the run and reports on the whole run.
func (s Session) playLeagues(ctx context.Context, dir *results.Dir, factories []strategies.Factory, c *collectors) (played *Played, err error) {
	plan := dir.Plan()
	study, err := study(plan, analysis.DefaultLevel, s.Yours)
	if err != nil {
		return nil, err
	}
	past := c.sinks(study, s.Judge)
	prefix, err := experiments.Resume(plan, dir.Leagues(), past)
	if err != nil {
		return nil, err
	}
	if err := ready(ctx, factories); err != nil {
		return nil, err
	}
	driver, err := s.driverOf(plan, factories)
	if err != nil {
		return nil, err
	}
	sinks, parallel := []experiments.Sink{dir, past}, cmp.Or(s.workersFor(plan, factories, driver), runtime.GOMAXPROCS(0))
	if d, ok := driver.(*workers.Driver); ok {
		parallel = d.Most(parallel)
	}
	here := driver // in this process
	config := experiments.Config{Workers: parallel, After: prefix, Stop: study.Stop(), Every: 1}
	if s.Cluster != nil {
		co, end, err2 := s.Cluster.coordinate(ctx, plan, factories, driver, s.Ledger)
		if err2 != nil {
			return nil, err2
		}
		defer func() { err = errors.Join(err, end()) }()
		driver, parallel, config.Workers = co, s.Cluster.Cores, cluster.MaxChunks
		sinks = slices.Insert(sinks, 0, recordedBy(co))
	}
	if s.Seen != nil {
		sinks = append(sinks, s.Seen)
	}
	if s.Watch != nil {
		sinks = append(sinks, sinkFunc(func(*results.League) error {
			s.Watch(Sofar{study, parallel, func() []report.Process { return processesOf(plan, factories, here) }})
			return nil
		}))
	}
	before, began, playing := prefix.Leagues(), s.Lab.Now(), driver
	var outcome experiments.Outcome
	var seconds float64 // of playing, which a merge hardly does
	if s.Parts != nil {
		outcome, err = experiments.Merge(ctx, plan, s.Parts, driver, experiments.Tee(sinks...), config)
	} else {
		if playing, err = s.reusing(plan, factories, driver); err != nil {
			return nil, err
		}
		outcome, err = experiments.Run(ctx, plan, playing, experiments.Tee(sinks...), config)
		seconds = s.Lab.Now().Sub(began).Seconds()
	}
	played = new(Played)
	if r, ok := playing.(*arena.Reuse); ok {
		probed, differ := r.Probed()
		played.Kept = probed - differ
	}
	if played.Interrupted = cutShort(ctx, err); err != nil && !played.Interrupted {
		return nil, err
	}
	facts := factsOf(plan, factories, here, driver, outcome, outcome.Leagues-before, seconds)
	if plan.Records == results.RecordsNone && !played.Interrupted {
		if err := keepSums(dir, study.Sums, outcome); err != nil {
			return nil, err
		}
	}
	run := study.Report(analysis.DefaultLevel, facts)
	judge(&run, s.Judge, study.Sums)
	played.Document = report.New(run)
	if c.explain != nil {
		played.Explanations = c.explain.Explanations(&played.Run.Estimates)
	}
	return played, nil
}

// factsOf returns what is known of a run beside its results, of which so many leagues were
// played in this time. here is what plays in this process.
func factsOf(plan results.Plan, factories []strategies.Factory, here, driver experiments.Driver, outcome experiments.Outcome, leagues int, seconds float64) report.Facts {
	facts := report.Facts{Seconds: seconds, Digest: outcome.Digest, Reproducible: outcome.Reproducible,
		Processes: processesOf(plan, factories, here), Spenders: spendersOf(plan, factories, here), Agents: agentsOf(plan, factories)}
	if co, ok := driver.(*cluster.Coordinator); ok {
		for _, share := range co.Shares() {
			facts.Cluster = append(facts.Cluster, report.Share(share))
		}
	}
	if d, ok := here.(*host.Driver); ok {
		facts.Messages = d.Messages()
	}
	if leagues > 0 && seconds > 0 {
		facts.MatchesPerSecond = analysis.Number(float64(outcome.Matches) * float64(leagues) / float64(outcome.Leagues) / seconds)
	}
	return facts
}

// cutShort reports whether an error says only that the context has ended.
func cutShort(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

// WritePage writes the page of the run into its folder, if the session wants one. Before
// that it plays mirror leagues, until ctx ends. It takes a moment, so what the run shows
// can be printed first.
func (p *Played) WritePage(ctx context.Context) error {
	if p.page == nil {
		return nil
	}
	return p.page(ctx)
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
	explain *explain.Collector  // nil if not wanted
	leagues *population.Leagues // nil if not wanted
	records []*results.League   // kept with explanations, for the lists of matches
}

// mostRecords is how many leagues are kept, which may be large.
const mostRecords = 20

// keep keeps the first league and those with the first faults.
func (c *collectors) keep(l *results.League) error {
	if l.Index == 0 || len(l.Notes) > 0 && len(c.records) < mostRecords {
		kept := new(results.League)
		kept.CopyFrom(l)
		c.records = append(c.records, kept)
	}
	return nil
}

func newCollectors(plan results.Plan, explanations, ranges bool) (*collectors, error) {
	c := new(collectors)
	var err error
	if ranges {
		if c.leagues, err = population.NewLeagues(plan); err != nil {
			return nil, err
		}
	}
	if explanations {
		if c.explain, err = explain.NewCollector(plan, explain.Options{}); err != nil {
			return nil, err
		}
	}
	return c, err
}

// sinks returns a sink that passes leagues to the study, the judge (unless nil) and
// the collectors.
func (c *collectors) sinks(study *report.Study, j *assert.Judge) experiments.Sink {
	all := []experiments.Sink{study}
	if j != nil {
		all = append(all, j)
	}
	if c.explain != nil {
		all = append(all, sinkFunc(c.explain.Add), sinkFunc(c.keep))
	}
	if c.leagues != nil {
		all = append(all, sinkFunc(c.leagues.Add))
	}
	return experiments.Tee(all...)
}

type sinkFunc func(*results.League) error

func (f sinkFunc) Append(l *results.League) error { return f(l) }

// scriptsOf reports whether a field has scripts in this process, and in others.
func scriptsOf(factories []strategies.Factory) (here, isolated bool) {
	for _, f := range factories {
		if _, elsewhere := f.(strategies.Batcher); f.Info().Kind.Script() && elsewhere {
			isolated = true
		} else if f.Info().Kind.Script() {
			here = true
		}
	}
	return here, isolated
}

// workersFor returns how many leagues to play in parallel; 0 means one per CPU.
// Agents mostly wait for messages, so more leagues keep the CPUs busy. Where every
// script has a process of its own, fewer leagues stay in the caches.
func (s Session) workersFor(plan results.Plan, factories []strategies.Factory, driver experiments.Driver) int {
	const waiting = 4
	switch {
	case s.Workers != 0:
		return s.Workers
	case plan.Transport != "direct":
		return waiting * runtime.GOMAXPROCS(0)
	}
	if _, pooled := driver.(*workers.Driver); pooled {
		return 0
	}
	if here, isolated := scriptsOf(factories); isolated && !here {
		return (runtime.GOMAXPROCS(0) + 1) / 2
	}
	return 0
}

// driverOf returns what plays the leagues of a plan: worker processes for a field with
// scripts that come from a pool, otherwise this process.
func (s Session) driverOf(plan results.Plan, factories []strategies.Factory) (experiments.Driver, error) {
	switch {
	case s.Absent != nil:
		return absent{s.Absent}, nil
	case plan.Transport != "direct":
		return host.NewDriver(plan, factories)
	}
	if d, err := workers.NewDriver(plan, factories); d != nil || err != nil {
		return d, err
	}
	return arena.New(plan, factories, arena.Config{Block: lockstep(factories)})
}

// absent is the driver of a merge without the code of the field.
type absent struct{ err error }

func (absent) Block() int { return 1 }

func (a absent) NewWorker(context.Context) (experiments.Worker, error) { return nil, a.err }

// Fits returns an error if a plan cannot be played for want of memory or of an agent.
func Fits(ctx context.Context, plan results.Plan, factories []strategies.Factory) error {
	if err := ready(ctx, factories); err != nil {
		return err
	}
	if plan.Transport != "direct" {
		return nil
	}
	_, err := workers.NewDriver(plan, factories)
	if errors.Is(err, workers.ErrMemory) {
		return &InputError{err, "play fewer scripts or legs (--legs 1), or scripts that you trust in this process, without a limit: --in-process"}
	}
	return err
}

// PlayInMemory plays a plan and returns only its estimates, with intervals of a level.
func PlayInMemory(ctx context.Context, plan results.Plan, factories []strategies.Factory, level float64) (analysis.Estimates, error) {
	acc, err := analysis.NewAccumulator(plan)
	if err != nil {
		return analysis.Estimates{}, err
	}
	err = Session{}.PlayUnrecorded(ctx, plan, factories, func(l *results.League) error { return acc.Add(*l) })
	return acc.Estimates(level), err
}

// reusing returns a driver that takes leagues over from the former run; without one that
// gives the same leagues, the driver itself.
func (s Session) reusing(plan results.Plan, factories []strategies.Factory, driver experiments.Driver) (experiments.Driver, error) {
	if s.Former == "" {
		return driver, nil
	}
	open := func() (*results.Reader, error) { return results.OpenReader(s.Former) }
	reader, err := open()
	if err != nil {
		return nil, err
	}
	changed, same := arena.Changed(reader.Plan(), plan)
	if err := reader.Close(); err != nil || !same {
		return driver, err
	}
	reuse, err := arena.NewReuse(driver, plan, factories, changed, open, arena.Config{})
	if err != nil {
		return nil, fmt.Errorf("take over leagues of the run before: %w", err)
	}
	return reuse, nil
}

// PlayUnrecorded plays the leagues of a plan as Play does, but without a folder: it passes
// each to add, in order.
func (s Session) PlayUnrecorded(ctx context.Context, plan results.Plan, factories []strategies.Factory, add func(*results.League) error) (err error) {
	if err := ready(ctx, factories); err != nil {
		return err
	}
	driver, err := s.driverOf(plan, factories)
	if err != nil {
		return err
	}
	var sink experiments.Sink = sinkFunc(add)
	config := experiments.Config{Workers: s.workersFor(plan, factories, driver)}
	if s.Cluster != nil {
		co, end, err2 := s.Cluster.coordinate(ctx, plan, factories, driver, nil)
		if err2 != nil {
			return err2
		}
		defer func() { err = errors.Join(err, end()) }()
		driver, config.Workers, sink = co, cluster.MaxChunks, experiments.Tee(recordedBy(co), sink)
	}
	_, err = experiments.Run(ctx, plan, driver, sink, config)
	return err
}

// recordedBy is a sink that tells a coordinator which leagues are recorded.
func recordedBy(co *cluster.Coordinator) experiments.Sink {
	return sinkFunc(func(l *results.League) error { return co.Record(l.Index) })
}
