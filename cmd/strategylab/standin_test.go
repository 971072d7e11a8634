package main

import (
	"context"
	"errors"
	"testing"

	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// standIn plays what is on record for a player: the same choices, and the same
// faults in the same matches.
type standIn struct {
	leagues map[game.Key]map[uint64]next // by the key of its seat, and by match
	first   map[game.Key]uint64
}

// next is what the player brought to a match, and what comes after it.
type next struct {
	side  game.Side
	after uint64 // its next match; the same if there is none
}

func newStandIn(plan results.Plan, recorded []results.League, field int) *standIn {
	s := &standIn{leagues: make(map[game.Key]map[uint64]next), first: make(map[game.Key]uint64)}
	schedule, err := game.NewSchedule(len(plan.Field), plan.Legs)
	if err != nil {
		panic(err) // the plan has been played
	}
	for _, l := range recorded {
		key := game.StrategyKey(plan.Seed, l.Index, field)
		matches := make(map[uint64]next)
		last := -1
		for i, m := range schedule.Matches() {
			side := l.Matches[i].A
			switch field {
			case l.Seats[m.A]:
			case l.Seats[m.B]:
				side = l.Matches[i].B
			default:
				continue
			}
			if last < 0 {
				s.first[key] = uint64(i)
			} else {
				matches[uint64(last)] = next{matches[uint64(last)].side, uint64(i)}
			}
			matches[uint64(i)] = next{side, uint64(i)}
			last = i
		}
		s.leagues[key] = matches
	}
	return s
}

func (s *standIn) Info() strategies.Info { return strategies.Info{Name: "stand-in"} }
func (s *standIn) Close() error          { return nil }

func (s *standIn) New(_ context.Context, setup strategies.Setup) (strategies.Strategy, error) {
	seat := &standInSeat{matches: s.leagues[setup.Key], at: s.first[setup.Key]}
	return seat, seat.ahead(seat.at)
}

type standInSeat struct {
	matches map[uint64]next
	at      uint64
}

// errors of the kinds that a seat may end with.
var standInErrors = map[game.Fault]error{
	game.FaultError: errors.New("on record"), game.FaultInvalid: strategies.ErrInvalidChoice,
	game.FaultTimeout: strategies.ErrTimeout, game.FaultBudget: strategies.ErrBudget, game.FaultCrash: strategies.ErrCrashed,
}

// ahead fails if the seat is to be out from a match on, for a reason that the
// match itself bears: what comes after it is forfeited.
func (s *standInSeat) ahead(match uint64) error {
	m := s.matches[match]
	if after := s.matches[m.after]; m.after != match && after.side.Fault == game.FaultForfeit {
		return standInErrors[m.side.Fault] // nil if it is out already
	}
	return nil
}

func (s *standInSeat) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	side := s.matches[t.Match].side
	if side.Fault != game.NoFault {
		return 0, standInErrors[side.Fault]
	}
	return strategies.Play(side.Choice), nil
}

func (s *standInSeat) Observe(_ context.Context, o *strategies.Outcome) error {
	if after := s.matches[o.Match].after; after != o.Match {
		return s.ahead(after)
	}
	return nil
}

func (s *standInSeat) Close() error { return nil }

// playBeside plays recorded leagues again, with a stand-in for each of n players
// from the first on.
func playBeside(t *testing.T, plan results.Plan, recorded []results.League, field []string, first, n int) []results.League {
	t.Helper()
	cat, err := catalog.Load(t.Context(), catalog.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer cat.Close()
	factories := make([]strategies.Factory, len(field))
	for i, name := range field {
		if i >= first && i < first+n {
			factories[i] = newStandIn(plan, recorded, i)
			continue
		}
		e, err := cat.Resolve(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		factories[i] = e.Factory
	}
	a, err := arena.New(plan, factories, arena.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := a.NewWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	played := make([]results.League, len(recorded))
	if err := w.Play(t.Context(), 0, played, make([]bool, len(field))); err != nil {
		t.Fatal(err)
	}
	return played
}
