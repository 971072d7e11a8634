// Package calibration measures whether the numbers of package analysis keep what
// they promise: how often intervals catch the truth, how often equal players are
// told apart, how often a better one is found.
//
// It needs players whose true values are known. A [Bot] says even with a chance
// that is fixed in each league, so all that is expected of it follows from the
// rules by arithmetic ([Truth]). A [Field] of bots is played many times over, each
// time as a whole experiment ([Measure]); the caller supplies what plays it, which
// is to be the same code that plays real experiments. What has no formula, such as
// the share of titles, is taken from all repetitions together, which know it a
// hundred times better than one does.
//
// A [Row] sets what was measured beside what was promised, with the error that
// comes from having measured a finite number of times.
package calibration

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/results"
)

// Play plays all leagues of a plan among bots, plan.Field[i] being bots[i], and
// gives each to add, in league order. It is called on several goroutines at once.
type Play func(ctx context.Context, plan results.Plan, bots []Bot, add func(*results.League) error) error

// Options of a measurement.
type Options struct {
	Repetitions int // experiments; at least 1
	Seed        uint64
	Workers     int     // experiments under way at once; at least 1
	Level       float64 // of intervals and decisions; 0 means analysis.DefaultLevel
	// Done, if not nil, is called after every experiment, on any goroutine.
	Done func()
}

// Measure plays a field's experiment as often as the options say, each time with
// another seed, judges it each time, and returns the rows of what was promised
// and what came out. The rows do not depend on the number of workers.
func Measure(ctx context.Context, f Field, play Play, opts Options) ([]Row, error) {
	if opts.Level == 0 {
		opts.Level = analysis.DefaultLevel
	}
	t := newTally(f, opts)
	g, each := errgroup.WithContext(ctx)
	g.SetLimit(max(1, opts.Workers))
	for rep := range opts.Repetitions {
		if each.Err() != nil {
			break
		}
		g.Go(func() error {
			if err := t.repetition(each, rep, play); err != nil {
				return fmt.Errorf("calibrate %s, repetition %d: %w", f.Name, rep, err)
			}
			if opts.Done != nil {
				opts.Done()
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return t.rows(), nil
}

// repetition plays one experiment and judges it.
func (t *tally) repetition(ctx context.Context, rep int, play Play) error {
	plan := t.field.Plan(t.opts.Seed + uint64(rep))
	acc, err := analysis.NewAccumulator(plan)
	if err != nil {
		return err
	}
	if err := play(ctx, plan, t.field.Bots, func(l *results.League) error { return acc.Add(*l) }); err != nil {
		return err
	}
	e := acc.Estimates(t.opts.Level)
	found := t.judge(&e)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(rep, &e, found)
	return nil
}
