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
)

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
