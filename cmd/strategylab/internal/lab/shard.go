package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// ShardOf returns the plan of a part of the leagues of a plan, numbered from 1.
func ShardOf(plan results.Plan, number, of int) (results.Plan, error) {
	shard, err := experiments.Split(plan.Runs, number, of)
	plan.Shard = &shard
	return plan, err
}

// Foresee returns the field indices of the players that a shard of a plan takes for
// quarantined; see [experiments.Foresee].
func (s Session) Foresee(ctx context.Context, plan results.Plan, factories []strategies.Factory) ([]int, error) {
	driver, err := s.driverOf(plan, factories)
	if err != nil {
		return nil, err
	}
	return experiments.Foresee(ctx, plan, driver, experiments.Config{Workers: s.workersFor(plan, factories, driver)})
}

// PlayShard plays the remaining leagues of the shard in an open folder, whose path is
// path, and closes the folder. An interruption is not an error. It returns the number
// of leagues in the folder, or, if that keeps no records, of those that were played.
func (s Session) PlayShard(ctx context.Context, dir *results.Dir, path string, factories []strategies.Factory) (leagues int, err error) {
	defer func() { err = errors.Join(err, dir.Close()) }()
	plan := dir.Plan()
	if err := s.keepSources(plan, path); err != nil {
		return 0, err
	}
	prefix, err := experiments.Resume(plan, dir.Leagues(), nil)
	if err != nil {
		return 0, err
	}
	driver, err := s.driverOf(plan, factories)
	if err != nil {
		return 0, err
	}
	sinks := []experiments.Sink{dir, s.Seen}
	var acc *analysis.Accumulator // of what is not recorded
	if plan.Records == results.RecordsNone {
		if acc, err = analysis.NewAccumulator(plan); err != nil {
			return 0, err
		}
		sinks = append(sinks, sinkFunc(func(l *results.League) error { return acc.Add(*l) }))
	}
	out, err := experiments.Run(ctx, plan, driver, experiments.Tee(sinks...),
		experiments.Config{Workers: s.workersFor(plan, factories, driver), After: prefix})
	if err == nil && acc != nil {
		err = keepSums(dir, acc, out)
	}
	if cutShort(ctx, err) {
		err = nil
	}
	return out.Leagues, err
}

// OpenShards opens the folders of shards and returns the plan of the run that they are
// the parts of, with the parts in order. The caller calls end after the last use.
func (l Lab) OpenShards(ctx context.Context, dirs []string) (plan results.Plan, parts []experiments.Part, end func(), err error) {
	var readers []*results.Reader
	end = func() {
		for _, r := range readers {
			_ = r.Close() // it was only read
		}
	}
	for _, dir := range dirs {
		r, err := results.OpenShard(l.Path(dir))
		if err != nil {
			end()
			return plan, nil, nil, ReadError("merge", dir, err)
		}
		readers = append(readers, r)
		parts = append(parts, experiments.Part{Name: dir, Plan: r.Plan(), Leagues: r.Leagues()})
	}
	if plan, err = experiments.Whole(ctx, parts); err != nil {
		end()
		return plan, nil, nil, fmt.Errorf("merge: %w", err)
	}
	return plan, parts, end, nil
}

// keepSums writes what the folder of a complete run without records keeps.
func keepSums(dir *results.Dir, acc *analysis.Accumulator, o experiments.Outcome) error {
	text, err := acc.Sums()
	if err != nil {
		return err
	}
	return dir.KeepSums(experiments.SumsOf(o, text))
}

// OpenSums is OpenShards for shards without records. outcome is that of their run, but for
// its digest.
func (l Lab) OpenSums(ctx context.Context, dirs []string) (plan results.Plan, parts []experiments.Part, outcome experiments.Outcome, err error) {
	for _, dir := range dirs {
		plan, sums, err := results.ReadSums(l.Path(dir))
		if _, missing := os.Stat(filepath.Join(l.Path(dir), results.PlanFile)); missing == nil && errors.Is(err, fs.ErrNotExist) {
			err = nil // Whole says that it is incomplete
		}
		if err != nil {
			return plan, nil, outcome, ReadError("merge", dir, err)
		}
		parts = append(parts, experiments.Part{Name: dir, Plan: plan, Sums: &sums})
	}
	if plan, err = experiments.Whole(ctx, parts); err == nil {
		outcome, err = experiments.AddUp(plan, parts)
	}
	if err != nil {
		return plan, nil, outcome, fmt.Errorf("merge: %w", err)
	}
	return plan, parts, outcome, nil
}

// AddSums writes the run that parts without records are the shards of, with its outcome,
// into an open folder, whose path is path, and closes the folder. It has the numbers of the run with
// records, but no digest and no page.
func (s Session) AddSums(dir *results.Dir, path string, parts []experiments.Part, outcome experiments.Outcome) (played *Played, err error) {
	defer func() { err = errors.Join(err, dir.Close()) }()
	plan := dir.Plan()
	study, err := study(plan, analysis.DefaultLevel, s.Yours)
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		if err := study.Sums.AddSums(p.Sums.Analysis); err != nil {
			return nil, fmt.Errorf("merge %s: %w; play the shard again", p.Name, err)
		}
	}
	if err := s.keepSources(plan, path); err != nil {
		return nil, err
	}
	played = new(Played)
	played.Document = report.New(study.Report(analysis.DefaultLevel, report.Facts{Reproducible: outcome.Reproducible}))
	return played, errors.Join(dir.Summary(played.Document), keepSums(dir, study.Sums, outcome))
}
