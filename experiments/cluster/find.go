package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// UnknownRunError says that a broker has no run of a name.
type UnknownRunError struct {
	Run  string
	Runs []string // that it has
}

// Error names the runs that there are.
func (e *UnknownRunError) Error() string {
	there := "it has none"
	if len(e.Runs) > 0 {
		there = "it has " + strings.Join(e.Runs, ", ")
	}
	return fmt.Sprintf("the broker has no run %q; %s", e.Run, there)
}

// FindRun returns the job of a run that is on the broker, and its sources by field index,
// to continue it without the folder of its experiment. The plan is the whole one.
func (l *Link) FindRun(ctx context.Context, run string) (job Job, sources map[int][]byte, err error) {
	a, err := l.announced(ctx, run)
	if err != nil {
		return job, nil, err
	}
	content, err := l.get(ctx, a.Job, MaxJob)
	if err != nil {
		return job, nil, fmt.Errorf("run %s: %w", run, err)
	}
	if err := json.Unmarshal(content, &job); err != nil {
		return job, nil, fmt.Errorf("run %s: read the job: %w", run, err)
	}
	if err := job.Plan.Validate(); err != nil {
		return job, nil, fmt.Errorf("run %s: read the job: %w", run, err)
	}
	sources = make(map[int][]byte)
	for field, name := range job.Sources {
		if name == "" {
			continue
		}
		if sources[field], err = l.get(ctx, name, DefaultMaxCode); err != nil {
			return job, nil, fmt.Errorf("run %s: %w", run, err)
		}
	}
	return job, sources, nil
}

// announced returns the announcement of a run.
func (l *Link) announced(ctx context.Context, run string) (a announcement, err error) {
	ctx, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	if err := l.prepare(ctx); err != nil {
		return a, err
	}
	runs, err := l.js.KeyValue(ctx, l.store("runs"))
	if err != nil {
		return a, l.explain(err)
	}
	lister, err := runs.ListKeys(ctx)
	if err != nil {
		return a, l.explain(err)
	}
	var names []string
	for name := range lister.Keys() {
		names = append(names, name)
	}
	slices.Sort(names)
	if !slices.Contains(names, run) {
		return a, &UnknownRunError{run, names}
	}
	value, err := runs.Get(ctx, run)
	if err != nil {
		return a, l.explain(err)
	}
	if err := json.Unmarshal(value.Value(), &a); err != nil {
		return a, fmt.Errorf("run %s: read its announcement: %w", run, err)
	}
	return a, nil
}

// ErrPlayed says that another experiment plays a run.
var ErrPlayed = errors.New("another experiment is playing it; stop that first")

// Unplayed returns ErrPlayed if an experiment that plays a run answers within a while.
func (l *Link) Unplayed(ctx context.Context, run string, wait time.Duration) error {
	s, err := l.Survey(ctx, wait)
	if err != nil {
		return err
	}
	for _, r := range s.Runs {
		if r.Run == run {
			return fmt.Errorf("run %s: %w", run, ErrPlayed)
		}
	}
	return nil
}
