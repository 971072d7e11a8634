// Package calibration measures whether the estimates of package analysis keep their
// promises: how often intervals cover the truth, how often equal players are found
// different, how often a better one is found.
//
// It needs players with known true values. A [Player] says even with a chance that is
// fixed in each league, so its expectations follow from the rules by arithmetic
// ([Truth]). A [Field] of players is played many times, each time as a whole experiment
// ([Measure]); the caller supplies the function that plays it, which should be the code
// that plays real experiments. Values without a formula, such as the share of titles,
// are taken from all repetitions together, which know them far better than one does.
//
// A [Row] has a measured value beside the promised one, with the Monte Carlo error of
// the measurement.
package calibration

import (
	"cmp"
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/results"
)

// Play plays all leagues of a plan among players, plan.Field[i] being players[i], and passes
// each to add, in league order. It is called on several goroutines at once.
type Play func(ctx context.Context, plan results.Plan, players []Player, add func(*results.League) error) error

// Options of a measurement.
type Options struct {
	Repetitions int // experiments; at least 1
	Seed        uint64
	Workers     int     // experiments in parallel; at least 1
	Level       float64 // of intervals and decisions; 0 means analysis.DefaultLevel
	// Done, if not nil, is called after every experiment, on any goroutine.
	Done func()
}

// Measure plays a field's experiment once per repetition, each time with another seed,
// and returns the rows of promised and measured values. The rows do not depend on the
// number of workers.
func Measure(ctx context.Context, f Field, play Play, opts Options) ([]Row, error) {
	opts.Level = cmp.Or(opts.Level, analysis.DefaultLevel)
	t := newTally(f, opts)
	err := repeat(ctx, f, opts, func(ctx context.Context, rep int) error { return t.repetition(ctx, rep, play) })
	if err != nil {
		return nil, err
	}
	return t.rows(), nil
}

// repeat runs all repetitions of an experiment in parallel.
func repeat(ctx context.Context, f Field, opts Options, run func(ctx context.Context, rep int) error) error {
	g, each := errgroup.WithContext(ctx)
	g.SetLimit(max(1, opts.Workers))
	for rep := range opts.Repetitions {
		if each.Err() != nil {
			break
		}
		g.Go(func() error {
			if err := run(each, rep); err != nil {
				return fmt.Errorf("calibrate %s, repetition %d: %w", f.Name, rep, err)
			}
			if opts.Done != nil {
				opts.Done()
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

func (t *tally) repetition(ctx context.Context, rep int, play Play) error {
	plan := t.field.Plan(t.opts.Seed + uint64(rep))
	acc, err := analysis.NewAccumulator(plan)
	if err != nil {
		return err
	}
	if err := play(ctx, plan, t.field.Players, func(l *results.League) error { return acc.Add(*l) }); err != nil {
		return err
	}
	e := acc.Verdicts(t.opts.Level)
	found := t.judge(&e)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(rep, &e, found)
	return nil
}
