package arena_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/batch"
)

// witness keeps all that a strategy receives.
type witness struct {
	setups   []strategies.Setup
	turns    map[string][]strategies.Turn // by own id
	outcomes map[string][]strategies.Outcome
	random   map[string][]uint64 // in the order of start, choose, observe, ...
}

// factory is a strategy that plays odd in every third match and fails in every
// seventh.
func (w *witness) factory() *script {
	w.turns, w.outcomes = make(map[string][]strategies.Turn), make(map[string][]strategies.Outcome)
	w.random = make(map[string][]uint64)
	draw := func(s strategies.Setup) { w.random[s.ID] = append(w.random[s.ID], s.Rand.Uint64()) }
	return &script{
		start: func(s strategies.Setup) error {
			w.setups = append(w.setups, s)
			draw(s)
			return nil
		},
		choose: func(_ context.Context, s strategies.Setup, t *strategies.Turn) (strategies.Choice, error) {
			w.turns[s.ID] = append(w.turns[s.ID], *t)
			draw(s)
			switch {
			case t.Match%7 == 6:
				return 0, errBoom
			case t.Match%3 == 2:
				return strategies.Odd, nil
			}
			return strategies.Even, nil
		},
		observe: func(_ context.Context, s strategies.Setup, o *strategies.Outcome) error {
			w.outcomes[s.ID] = append(w.outcomes[s.ID], *o)
			draw(s)
			return nil
		},
	}
}

// TestWhatAStrategyReceives checks every field of Setup, Turn and Outcome against
// the schedule and the record, with an odd number of players so that there are
// byes.
func TestWhatAStrategyReceives(t *testing.T) {
	t.Parallel()
	for _, batched := range []bool{false, true} {
		t.Run(fmt.Sprintf("batched %v", batched), func(t *testing.T) {
			t.Parallel()
			const players, legs = 5, 3
			plan := planOf(players, legs, 1)
			var w witness
			script := w.factory()
			var factory strategies.Factory = script
			if batched {
				factory = batch.Of(script)
			}
			factories := slices.Repeat([]strategies.Factory{factory}, players)
			l := play(t, newArena(t, plan, arena.Config{}, factories...), players, 1)[0]
			checkSetups(t, plan, l, w.setups)
			checkCalls(t, plan, l, &w)
		})
	}
}

func checkSetups(t *testing.T, plan results.Plan, l results.League, got []strategies.Setup) {
	t.Helper()
	field := []string{"P01", "P02", "P03", "P04", "P05"}
	var want []strategies.Setup
	for seat, id := range field {
		want = append(want, strategies.Setup{
			ID: id, Name: id, Field: field, Rounds: 15, Legs: 3, Key: game.StrategyKey(plan.Seed, 0, l.Seats[seat]), Bounded: true,
		})
	}
	slices.SortFunc(got, func(a, b strategies.Setup) int { return strings.Compare(a.ID, b.ID) })
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(strategies.Setup{}, "Rand")); diff != "" {
		t.Errorf("setups (-want +got):\n%s", diff)
	}
}

func checkCalls(t *testing.T, plan results.Plan, l results.League, w *witness) {
	t.Helper()
	sched, err := game.NewSchedule(len(plan.Field), plan.Legs)
	if err != nil {
		t.Fatal(err)
	}
	for seat := range plan.Field {
		id := game.PlayerID(seat)
		rnd := game.NewRand(game.StrategyKey(plan.Seed, 0, l.Seats[seat]))
		rekeyed := func(position uint64) uint64 {
			rnd.Rekey(position)
			return rnd.Uint64()
		}
		var turns []strategies.Turn
		var outcomes []strategies.Outcome
		random := []uint64{rekeyed(game.StartPosition)}
		var standing strategies.Standing
		for _, p := range sched.Matches() {
			if p.A != seat && p.B != seat {
				continue
			}
			m := l.Matches[p.Index]
			role, opponent, own, other := game.RoleA, p.B, m.A, m.B
			result, points := m.Verdict().ResultA, m.Verdict().PointsA
			if p.B == seat {
				role, opponent, own, other = game.RoleB, p.A, m.B, m.A
				result, points = m.Verdict().ResultB, m.Verdict().PointsB
			}
			match := uint64(p.Index)
			turns = append(turns, strategies.Turn{
				Match: match, MatchID: p.ID, Round: p.Round, Opponent: game.PlayerID(opponent), Role: role, Standing: standing,
			})
			o := strategies.Outcome{
				Match: match, MatchID: p.ID, Round: p.Round, Opponent: game.PlayerID(opponent), Role: role,
				Choice: own.Choice, OpponentChoice: other.Choice, Result: result, Points: points,
			}
			if m.Number != results.NoNumber {
				o.Number, o.Drew = int(m.Number), true
			}
			outcomes = append(outcomes, o)
			standing.Add(result, points)
			random = append(random, rekeyed(game.ChoosePosition(match)), rekeyed(game.ObservePosition(match)))
		}
		if diff := cmp.Diff(turns, w.turns[id]); diff != "" {
			t.Errorf("turns of %s (-want +got):\n%s", id, diff)
		}
		if diff := cmp.Diff(outcomes, w.outcomes[id]); diff != "" {
			t.Errorf("outcomes of %s (-want +got):\n%s", id, diff)
		}
		if !slices.Equal(random, w.random[id]) {
			t.Errorf("random numbers of %s do not depend on seed, league, player and match alone", id)
		}
	}
}

// TestNobodyLearnsBeforeBothHaveChosen follows the order of calls to both
// players of each match.
func TestNobodyLearnsBeforeBothHaveChosen(t *testing.T) {
	t.Parallel()
	for _, batched := range []bool{false, true} {
		asked := make(map[uint64]int)
		factory := &script{
			choose: func(_ context.Context, _ strategies.Setup, t *strategies.Turn) (strategies.Choice, error) {
				asked[t.Match]++
				return strategies.Even, nil
			},
			observe: func(_ context.Context, _ strategies.Setup, o *strategies.Outcome) error {
				if asked[o.Match] != 2 {
					t.Errorf("batched %v: match %d was told when %d were asked", batched, o.Match, asked[o.Match])
				}
				return nil
			},
		}
		f := strategies.Factory(factory)
		if batched {
			f = batch.Of(factory)
		}
		play(t, newArena(t, planOf(4, 2, 1), arena.Config{}, f, f, f, f), 4, 1)
		if len(asked) != 12 {
			t.Errorf("%d matches were asked, want 12", len(asked))
		}
	}
}
