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
	"github.com/strategylab/strategylab/strategies/builtin"
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
			ID: id, Name: id, Field: field, Rounds: 15, Legs: 3, Key: game.StrategyKey(plan.Seed, 0, l.Seats[seat]), Totals: 2,
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
	asked := make(map[uint64]int)
	for _, f := range ways(&script{
		choose: func(_ context.Context, _ strategies.Setup, t *strategies.Turn) (strategies.Choice, error) {
			asked[t.Match]++
			return strategies.Even, nil
		},
		observe: func(_ context.Context, _ strategies.Setup, o *strategies.Outcome) error {
			if asked[o.Match] != 2 {
				t.Errorf("match %d was told when %d were asked", o.Match, asked[o.Match])
			}
			return nil
		},
	}) {
		clear(asked)
		play(t, newArena(t, planOf(4, 2, 1), arena.Config{}, f, f, f, f), 4, 1)
		if len(asked) != 12 {
			t.Errorf("%d matches were asked, want 12", len(asked))
		}
	}
}

func TestProbabilitiesAreTossedByTheHost(t *testing.T) {
	t.Parallel()
	plan := planOf(3, 20, 4)
	for _, f := range ways(&script{choose: func(context.Context, strategies.Setup, *strategies.Turn) (strategies.Choice, error) {
		return 0.3, nil
	}}) {
		sched, err := game.NewSchedule(3, 20)
		if err != nil {
			t.Fatal(err)
		}
		for index, l := range play(t, newArena(t, plan, arena.Config{}, f, f, f), 3, 4) {
			for _, p := range sched.Matches() {
				for seat, side := range map[int]game.Side{p.A: l.Matches[p.Index].A, p.B: l.Matches[p.Index].B} {
					coin := game.NewRand(game.CoinKey(plan.Seed, index, l.Seats[seat]))
					coin.Rekey(uint64(p.Index))
					want := game.Odd
					if coin.Bernoulli(0.3) {
						want = game.Even
					}
					if side != (game.Side{Choice: want}) {
						t.Fatalf("league %d, %s, seat %d: %v, want %v", index, p.ID, seat, side, want)
					}
				}
			}
		}
	}
}

// TestDrawsDoNotShift plays one plan with and without technical losses.
func TestDrawsDoNotShift(t *testing.T) {
	t.Parallel()
	plan := planOf(4, 3, 3)
	plan.Draw = "weights:1=3,2=1,9=2"
	fails := &script{choose: func(_ context.Context, _ strategies.Setup, t *strategies.Turn) (strategies.Choice, error) {
		if t.Match%2 == 0 {
			return 0, errBoom
		}
		return strategies.Odd, nil
	}}
	fine := &script{}
	with := play(t, newArena(t, plan, arena.Config{}, fails, fine, fine, fine), 4, 3)
	without := play(t, newArena(t, plan, arena.Config{}, fine, fine, fine, fine), 4, 3)
	draw, err := game.ParseDraw(plan.Draw)
	if err != nil {
		t.Fatal(err)
	}
	missing := 0
	for i := range with {
		draws := game.NewDrawStream(plan.Seed, i)
		for m, got := range without[i].Matches {
			if want := int32(draw.Pick(draws.Next())); got.Number != want {
				t.Fatalf("league %d, match %d: drew %d, want %d", i, m, got.Number, want)
			}
			switch with[i].Matches[m].Number {
			case results.NoNumber:
				missing++
			case got.Number:
			default:
				t.Errorf("league %d, match %d: drew %d, and %d without the faults", i, m, with[i].Matches[m].Number, got.Number)
			}
		}
	}
	if missing == 0 {
		t.Error("nothing failed")
	}
}

func TestBarredPlayersAreNotCalled(t *testing.T) {
	t.Parallel()
	plan, out := planOf(3, 2, 1), &script{}
	for _, f := range ways(out) {
		w, err := newArena(t, plan, arena.Config{}, &script{}, f, &script{}).NewWorker(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		leagues := make([]results.League, 2)
		if err := w.Play(t.Context(), 0, leagues, []bool{false, true, false}); err != nil {
			t.Fatal(err)
		}
		for _, l := range leagues {
			for i, side := range sidesOf(plan, l, 1) {
				if side != (game.Side{Fault: game.FaultQuarantined}) {
					t.Errorf("match %d: %v, want quarantined", i, side)
				}
			}
		}
		if len(out.calls) != 0 {
			t.Errorf("called: %q", out.calls)
		}
	}
}

// talker says what it is asked and fails in one match.
type talker struct{ strategies.Factory }

func (f talker) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	seat, err := f.Factory.New(ctx, s)
	return talking{seat, s}, err
}

type talking struct {
	strategies.Strategy
	setup strategies.Setup
}

func (s talking) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	s.setup.Log.Info("asked in " + t.MatchID)
	if t.Round == 2 {
		return 0, fmt.Errorf("no idea")
	}
	return s.Strategy.Choose(ctx, t)
}

// The steps of a player have its matches in order, with what it said in each, and add up.
func TestFollow(t *testing.T) {
	t.Parallel()
	plan := results.Plan{Schema: results.PlanSchema, Runs: 5, Legs: 4, Seed: 7, Draw: game.FairDraw().String(), Transport: "direct"}
	var field []strategies.Factory
	for i, name := range []string{"always-odd", "always-even", "random"} {
		f, ok := builtin.Find(name)
		if !ok {
			t.Fatalf("no built-in strategy %s", name)
		}
		if i == 0 {
			f = talker{f}
		}
		field = append(field, f)
		plan.Field = append(plan.Field, results.Entrant{Name: name, Kind: "builtin"})
	}
	for league := range plan.Runs {
		steps, err := arena.Follow(t.Context(), plan, field, league, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(steps) != 2*plan.Legs {
			t.Fatalf("%d steps, want %d", len(steps), 2*plan.Legs)
		}
		total := 0
		for _, s := range steps {
			total += s.Points
			said := strings.Join(s.Said, "; ")
			switch failed := s.Mine.Fault != game.NoFault; {
			case s.Total != total || s.Place < 1 || s.Place > 3:
				t.Errorf("%s: place %d with %d points, want %d", s.Match.ID, s.Place, s.Total, total)
			case failed != (s.Match.Round == 2) || failed != strings.Contains(said, "no idea"):
				t.Errorf("%s failed: %v, and said %q", s.Match.ID, failed, said)
			case !strings.HasPrefix(said, "asked in "+s.Match.ID):
				t.Errorf("in %s it said %q", s.Match.ID, said)
			case !failed && (s.Mine.Choice != game.Odd || s.Opponent == 1 && s.Theirs.Choice != game.Even):
				t.Errorf("%s: %v against %v", s.Match.ID, s.Mine, s.Theirs)
			case s.Number == results.NoNumber != failed:
				t.Errorf("%s: the number is %d", s.Match.ID, s.Number)
			}
		}
	}
}
