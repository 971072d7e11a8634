package experiments_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

func planOf(players, legs, runs int) results.Plan {
	p := results.Plan{Schema: results.PlanSchema, Runs: runs, Legs: legs, Seed: 5, Transport: "direct"}
	for i := range players {
		p.Field = append(p.Field, results.Entrant{Name: fmt.Sprintf("player-%d", i), Kind: "builtin"})
	}
	return p
}

// stub is a driver that makes leagues up, the same for the same index.
type stub struct {
	plan  results.Plan
	block int
	// fault says what costs a player its seat in the first match of a league.
	fault func(league, field int) game.Fault
	// share is what a league costs a player that is not quarantined, and whether that is
	// counted.
	share func(league, field int) (int64, bool)
	// meddle, if not nil, says who is quarantined in a league, and what is noted in it.
	meddle func(league int, quarantined []bool) ([]bool, []results.Note)
	// before is called before each league is made up.
	before  func(ctx context.Context, league int) error
	open    func() error
	release error

	schedule func() *game.Schedule // of the plan, laid out once

	mu      sync.Mutex
	workers int // open
	played  int // leagues, again and again if need be
}

var _ experiments.Driver = (*stub)(nil)

func (s *stub) Block() int { return max(1, s.block) }

func (s *stub) NewWorker(context.Context) (experiments.Worker, error) {
	if s.open != nil {
		if err := s.open(); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.workers++
	if s.schedule == nil {
		s.schedule = sync.OnceValue(func() *game.Schedule {
			sched, err := game.NewSchedule(len(s.plan.Field), s.plan.Legs)
			if err != nil {
				panic(err)
			}
			return sched
		})
	}
	return &stubWorker{s}, nil
}

type stubWorker struct{ *stub }

func (w *stubWorker) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.workers--
	return w.release
}

func (w *stubWorker) Play(ctx context.Context, first int, out []results.League, quarantined []bool) error {
	for i := range out {
		if err := ctx.Err(); err != nil {
			return err
		}
		if w.before != nil {
			if err := w.before(ctx, first+i); err != nil {
				return err
			}
		}
		aside, notes := quarantined, []results.Note(nil)
		if w.meddle != nil {
			aside, notes = w.meddle(first+i, quarantined)
		}
		w.makeUp(first+i, &out[i], aside)
		out[i].Notes = append(out[i].Notes, notes...)
		w.mu.Lock()
		w.played++
		w.mu.Unlock()
	}
	return nil
}

// makeUp fills in one league, over the memory of the last.
func (s *stub) makeUp(index int, l *results.League, quarantined []bool) {
	rng := rand.New(rand.NewPCG(s.plan.Seed, uint64(index)))
	l.Index, l.Matches, l.Notes, l.Costs = index, l.Matches[:0], l.Notes[:0], l.Costs[:0]
	l.Seats = append(l.Seats[:0], game.Seats(s.plan.Seed, index, len(s.plan.Field))...)
	for _, field := range l.Seats {
		if s.share == nil || quarantined[field] {
			continue
		}
		if share, exact := s.share(index, field); share > results.FullShare {
			l.AddCost(results.Cost{Field: field, Share: share, Exact: exact})
		}
	}
	out := make(map[int]bool)
	side := func(seat int) game.Side {
		field := l.Seats[seat]
		choice := game.Even + game.Parity(rng.IntN(2))
		switch {
		case quarantined[field]:
			return game.Side{Fault: game.FaultQuarantined}
		case out[field]:
			return game.Side{Fault: game.FaultForfeit}
		case s.fault == nil:
			return game.Side{Choice: choice}
		}
		f := s.fault(index, field)
		if f == game.NoFault {
			return game.Side{Choice: choice}
		}
		out[field] = true
		l.Notes = append(l.Notes, results.Note{Field: field, Fault: f, Text: fmt.Sprintf("%v in league %d", f, index)})
		return game.Side{Fault: f}
	}
	draw, words := game.FairDraw(), game.NewDrawStream(s.plan.Seed, index)
	for _, p := range s.schedule().Matches() {
		m := results.Match{A: side(p.A), B: side(p.B), Number: results.NoNumber}
		number := int32(draw.Pick(words.Next()))
		if m.A.Fault|m.B.Fault == game.NoFault {
			m.Number = number
		}
		l.Matches = append(l.Matches, m)
	}
}

// collector is a sink that keeps copies.
type collector struct {
	leagues []results.League
	fail    func(index int) error
	flushed int // leagues at the last flush
}

func (c *collector) Append(l *results.League) error {
	if c.fail != nil {
		if err := c.fail(l.Index); err != nil {
			return err
		}
	}
	c.leagues = append(c.leagues, results.League{
		Index: l.Index, Seats: append([]int(nil), l.Seats...),
		Matches: append([]results.Match(nil), l.Matches...), Notes: append([]results.Note(nil), l.Notes...),
		Costs: append([]results.Cost(nil), l.Costs...),
	})
	return nil
}

func (c *collector) Flush() error {
	c.flushed = len(c.leagues)
	return nil
}

// all yields the leagues as a file would.
func (c *collector) all(yield func(*results.League, error) bool) {
	for i := range c.leagues {
		if !yield(&c.leagues[i], nil) {
			return
		}
	}
}

// run plays a plan to its end.
func run(tb testing.TB, driver *stub, opts experiments.Config) (*collector, experiments.Outcome) {
	tb.Helper()
	var c collector
	out, err := experiments.Run(tb.Context(), driver.plan, driver, &c, opts)
	if err != nil {
		tb.Fatal(err)
	}
	if driver.workers != 0 {
		tb.Errorf("%d workers were not closed", driver.workers)
	}
	return &c, out
}

// wantResumed cuts what a driver has played after some leagues, and wants the rest played as
// it was.
func wantResumed(t *testing.T, driver *stub, want *collector, outcome experiments.Outcome, cut int) {
	t.Helper()
	got := &collector{leagues: slices.Clone(want.leagues[:cut])}
	prefix, err := experiments.Resume(driver.plan, got.all, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := experiments.Run(t.Context(), driver.plan, driver, got, experiments.Config{After: prefix})
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, outcome, out)
	wantLeagues(t, want, got)
}

func wantLeagues(t *testing.T, want, got *collector) {
	t.Helper()
	if !reflect.DeepEqual(want.leagues, got.leagues) { // cmp is slow, and good at telling where
		t.Errorf("leagues (-want +got):\n%s", cmp.Diff(want.leagues, got.leagues))
	}
}

func wantOutcome(t *testing.T, want, got experiments.Outcome) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
}
