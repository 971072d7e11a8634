// Package arena plays leagues directly: it calls strategies with typed values and
// exchanges no messages. It is the default driver of experiments. It follows the
// rules of packages game and strategies/seat like the agents do, so the records
// are equal.
//
// If no strategy of the field is a strategies.Batcher, a worker plays one league after
// the other, match by match. Otherwise it plays a block of leagues in lockstep: all
// calls to one Batcher that the leagues are ready for share a step, and while it is in
// progress the worker plays all matches that do not depend on its answers.
package arena

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// DefaultBlock is the number of leagues played in lockstep with a Batcher in the
// field. Larger blocks keep many script machines in memory; smaller ones make
// steps too small for their overhead.
const DefaultBlock = 64

// Lockstep returns how many leagues a worker should play in lockstep. More leagues need
// fewer exchanges with plugins, but all seats of a block are alive at once: the
// machines of scripts take memory and fall out of the CPU caches (docs/performance.md has
// the figures). scripts says that the field has scripts in this process, isolated that it
// has some in other processes.
func Lockstep(scripts, isolated bool) int {
	switch {
	case scripts:
		return 12
	case isolated:
		return 32
	}
	return 256
}

// Config of an arena. The zero value means the defaults.
type Config struct {
	// Block is the number of leagues that a worker plays in lockstep with a
	// strategies.Batcher in the field; 0 means DefaultBlock.
	Block int
	// Log, if not nil, returns the log for the prints of a player in a league.
	// It must be safe for concurrent use.
	Log func(league, field int) *slog.Logger
}

// Arena is the direct driver of one plan. It is safe for concurrent use.
type Arena struct {
	plan      results.Plan
	factories []strategies.Factory // by field index
	sources   []string             // by field index: source of the code, for notes
	batchers  []strategies.Batcher // each once
	batcherOf []int                // by field index, in batchers; -1 for none
	draw      game.Draw
	rounds    int
	matches   []match  // in the order of the schedule
	parts     []part   // of their sides A and B in turn
	firsts    []int32  // by seat: its first part
	ids       []string // by seat
	opts      Config
}

var _ experiments.Driver = (*Arena)(nil)

type match struct {
	id    string
	round int
}

// part is what one seat plays of a match. All parts together are looked at again and
// again, so they are small enough to stay in a cache.
type part struct {
	seat int32
	next int32 // the next part of the same seat; after the last, the number of parts
}

// New returns an arena for a plan. factories[f] plays for the player with field
// index f; one factory may appear several times. The caller closes the factories
// after the last worker.
func New(plan results.Plan, factories []strategies.Factory, opts Config) (*Arena, error) {
	if err := plan.Validate(); err != nil {
		return nil, fmt.Errorf("arena: %w", err)
	}
	if len(factories) != len(plan.Field) {
		return nil, fmt.Errorf("arena: %d factories for %d players", len(factories), len(plan.Field))
	}
	draw, err := game.ParseDraw(plan.Draw)
	if err != nil {
		return nil, fmt.Errorf("arena: %w", err)
	}
	sched, err := game.NewSchedule(len(plan.Field), plan.Legs)
	if err != nil {
		return nil, fmt.Errorf("arena: %w", err)
	}
	if opts.Block < 1 {
		opts.Block = DefaultBlock
	}
	a := &Arena{
		plan: plan, factories: factories, draw: draw, opts: opts,
		rounds: sched.Rounds(),
	}
	for seat := range plan.Field {
		a.ids = append(a.ids, game.PlayerID(seat))
	}
	for _, m := range sched.Matches() {
		a.matches = append(a.matches, match{id: m.ID, round: m.Round})
		a.parts = append(a.parts, part{seat: int32(m.A)}, part{seat: int32(m.B)})
	}
	a.follow()
	return a, a.inspect()
}

// inspect collects sources and batchers.
func (a *Arena) inspect() error {
	for i, f := range a.factories {
		if f == nil {
			return fmt.Errorf("arena: no factory for %s", a.plan.Field[i].Name)
		}
		a.sources = append(a.sources, cmp.Or(f.Info().Source, a.plan.Field[i].Name))
		a.batcherOf = append(a.batcherOf, -1)
		b, ok := f.(strategies.Batcher)
		if !ok {
			continue
		}
		if a.batcherOf[i] = slices.Index(a.batchers, b); a.batcherOf[i] < 0 {
			a.batcherOf[i] = len(a.batchers)
			a.batchers = append(a.batchers, b)
		}
	}
	return nil
}

// Block implements experiments.Driver: one league, or those in lockstep.
func (a *Arena) Block() int {
	if len(a.batchers) == 0 {
		return 1
	}
	return a.opts.Block
}

// NewWorker returns a worker. It cannot fail.
func (a *Arena) NewWorker(context.Context) (experiments.Worker, error) {
	w := &worker{arena: a, block: block{arena: a}}
	for _, b := range a.batchers {
		w.block.groups = append(w.block.groups, &group{factory: b})
	}
	return w, nil
}

type worker struct {
	arena *Arena
	block block
}

// Play implements experiments.Worker.
func (w *worker) Play(ctx context.Context, first int, out []results.League, quarantined []bool) (err error) {
	if n := len(w.arena.factories); len(quarantined) != n {
		return fmt.Errorf("arena: quarantine has %d players, want %d", len(quarantined), n)
	}
	defer func() { err = errors.Join(err, w.block.end(err != nil)) }()
	if len(w.arena.batchers) > 0 {
		for at := 0; at < len(out) && err == nil; at += w.arena.opts.Block {
			err = w.block.play(ctx, first+at, out[at:min(at+w.arena.opts.Block, len(out))], quarantined)
		}
		return err
	}
	for i := range out {
		if err := w.block.playAlone(ctx, first+i, &out[i], quarantined); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) Close() error {
	var err error
	for _, g := range w.block.groups {
		err = errors.Join(err, g.close())
	}
	return err
}
