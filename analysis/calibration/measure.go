// Package calibration measures whether the estimates of package analysis keep their
// promises: how often intervals cover the truth, how often equal players are found
// different, how often a better one is found.
//
// It needs players with known true values. A [Player] says even with a chance that is
// fixed in each league, so its expectations follow from the rules by arithmetic
// ([Truth]). A [Field] of players is played many times, each time as a whole experiment
// ([Measure]), by the rules and the random streams of real ones. Values without a formula,
// such as the share of titles, are taken from all repetitions together, which know them
// far better than one does.
//
// A [Row] has a measured value beside the promised one, with the Monte Carlo error of
// the measurement.
package calibration

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Options of a measurement.
type Options struct {
	Repetitions int // experiments; at least 1
	Seed        uint64
	Workers     int     // experiments in parallel; at least 1
	Level       float64 // of intervals and decisions; 0 means analysis.DefaultLevel
	// Done, if not nil, is called after every experiment, on any goroutine.
	Done func()

	play func(ctx context.Context, f Field, plan results.Plan, add func(*results.League) error) error // nil plays by the rules
}

// Measure plays a field's experiment once per repetition, each time with another seed,
// and returns the rows of promised and measured values. The rows do not depend on the
// number of workers.
func Measure(ctx context.Context, f Field, opts Options) ([]Row, error) {
	opts.Level = cmp.Or(opts.Level, analysis.DefaultLevel)
	t := newTally(f, opts)
	err := repeat(ctx, f, opts, t.repetition)
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

func (t *tally) repetition(ctx context.Context, rep int) error {
	acc, err := t.opts.experiment(ctx, t.field, rep, nil)
	if err != nil {
		return err
	}
	e := acc.Verdicts(t.opts.Level)
	found := t.judge(&e)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(rep, &e, found)
	return nil
}

// experiment plays an experiment. After each league it calls each, unless that is nil.
func (o Options) experiment(ctx context.Context, f Field, rep int, each func(acc *analysis.Accumulator) error) (*analysis.Accumulator, error) {
	plan := f.Plan(o.Seed + uint64(rep))
	acc, err := analysis.NewAccumulator(plan)
	if err != nil {
		return nil, err
	}
	add := func(l *results.League) error {
		if err := acc.Add(*l); err != nil || each == nil {
			return err
		}
		return each(acc)
	}
	if o.play != nil {
		return acc, o.play(ctx, f, plan, add)
	}
	return acc, f.Play(ctx, plan, add)
}

// Play plays all leagues of a plan among the players of the field, and passes each to add,
// in league order; add must not keep it.
func (f Field) Play(ctx context.Context, plan results.Plan, add func(*results.League) error) error {
	schedule, err := game.NewSchedule(len(f.Players), plan.Legs)
	if err != nil {
		return err
	}
	draw, err := game.ParseDraw(plan.Draw)
	if err != nil {
		return err
	}
	matches := schedule.Matches()
	l := results.League{Matches: make([]results.Match, len(matches))}
	sides := make([]func() game.Side, len(f.Players)) // by field index
	var draws game.DrawStream
	for l.Index = range plan.Runs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		l.Seats = game.Seats(plan.Seed, l.Index, len(f.Players))
		for i, p := range f.Players {
			r := game.NewRand(game.StrategyKey(plan.Seed, l.Index, i))
			r.Rekey(game.StartPosition)
			sides[i] = p.sides(r)
		}
		draws.Reset(plan.Seed, l.Index)
		for k, pair := range matches {
			m := results.Match{A: sides[l.Seats[pair.A]](), B: sides[l.Seats[pair.B]](), Number: results.NoNumber}
			if word := draws.Next(); m.A.Fault == game.NoFault && m.B.Fault == game.NoFault {
				m.Number = int32(draw.Pick(word))
			}
			l.Matches[k] = m
		}
		if err := add(&l); err != nil {
			return err
		}
	}
	return nil
}

// sides returns what the player does in the matches of a league, one after another.
func (p Player) sides(r *game.Rand) func() game.Side {
	even, fault := p.Even, p.Fault
	switch {
	case p.Mood > 0 && r.Bernoulli(0.5):
		even += p.Mood
	case p.Mood > 0:
		even -= p.Mood
	case p.Rarely > 0 && r.Bernoulli(p.Rarely):
		even = 1
	case p.Rarely > 0:
		even = (even - p.Rarely) / (1 - p.Rarely)
	}
	if p.Down > 0 && r.Bernoulli(p.Down) {
		fault = 1
	}
	coin := rand.New(rand.NewPCG(r.Uint64(), r.Uint64()))
	return func() game.Side {
		switch {
		case fault > 0 && coin.Float64() < fault:
			return game.Side{Fault: game.FaultInvalid}
		case coin.Float64() < even:
			return game.Side{Choice: game.Even}
		}
		return game.Side{Choice: game.Odd}
	}
}

// MeasureAll is Measure for several fields, each with seeds of its own, so that it gives the same
// figures alone. progress gets a line for each, and for each thousand repetitions. With an error
// come the rows of the fields before.
func MeasureAll(ctx context.Context, fields []Field, opts Options, progress io.Writer) (rows []Row, err error) {
	seed := opts.Seed
	for k, f := range fields {
		fmt.Fprintf(progress, "%d of %d: %s\n", k+1, len(fields), f.Name)
		h := fnv.New32a()
		h.Write([]byte(f.Name))
		opts.Seed = seed + uint64(h.Sum32())<<32
		var done atomic.Int64
		opts.Done = func() {
			if n := done.Add(1); n%1000 == 0 {
				fmt.Fprintf(progress, "  %d repetitions\n", n)
			}
		}
		found, err := Measure(ctx, f, opts)
		if err != nil {
			return rows, err
		}
		rows = append(rows, found...)
	}
	return rows, nil
}
