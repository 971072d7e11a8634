package explain_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// player chooses from what it and its opponent have said in the meeting, first match
// first, and from its last result.
type player func(own, other []game.Parity, last game.Result, r *rand.Rand) game.Parity

func coin(p float64) player {
	return func(_, _ []game.Parity, _ game.Result, r *rand.Rand) game.Parity {
		if r.Float64() < p {
			return game.Even
		}
		return game.Odd
	}
}

func alternate(own, _ []game.Parity, _ game.Result, r *rand.Rand) game.Parity {
	if len(own) == 0 {
		return coin(0.5)(nil, nil, 0, r)
	}
	return own[len(own)-1].Opposite()
}

func imitate(_, other []game.Parity, _ game.Result, r *rand.Rand) game.Parity {
	if len(other) == 0 {
		return coin(0.5)(nil, nil, 0, r)
	}
	return other[len(other)-1]
}

// stay repeats what did not lose.
func stay(own, _ []game.Parity, last game.Result, r *rand.Rand) game.Parity {
	if len(own) == 0 {
		return coin(0.5)(nil, nil, 0, r)
	}
	if last == game.Loss {
		return own[len(own)-1].Opposite()
	}
	return own[len(own)-1]
}

// late says even half of the time in the first three matches, then always odd.
func late(own, _ []game.Parity, _ game.Result, r *rand.Rand) game.Parity {
	if len(own) >= 3 {
		return game.Odd
	}
	return coin(0.5)(nil, nil, 0, r)
}

// play plays leagues among players, some matches of which a player may fail.
func play(t testing.TB, legs, leagues int, fault float64, players ...player) (results.Plan, []results.League) {
	t.Helper()
	plan := results.Plan{Schema: results.PlanSchema, Runs: leagues, Legs: legs}
	for i := range players {
		plan.Field = append(plan.Field, results.Entrant{Name: fmt.Sprint("p", i), Kind: "builtin"})
	}
	schedule := attest.Must(game.NewSchedule(len(players), legs))
	var list []results.League
	for index := range leagues {
		r := rand.New(rand.NewPCG(5, uint64(index)))
		l := results.League{Index: index, Seats: game.Seats(1, index, len(players))}
		said := map[[2]int][]game.Parity{}
		last := map[[2]int]game.Result{}
		for _, p := range schedule.Matches() {
			ab, ba := [2]int{p.A, p.B}, [2]int{p.B, p.A}
			m := results.Match{Number: int32(1 + r.IntN(10))}
			m.A.Choice = players[l.Seats[p.A]](said[ab], said[ba], last[ab], r)
			m.B.Choice = players[l.Seats[p.B]](said[ba], said[ab], last[ba], r)
			if r.Float64() < fault {
				m.A, m.Number = game.Side{Fault: game.FaultError}, results.NoNumber
			} else {
				said[ab], said[ba] = append(said[ab], m.A.Choice), append(said[ba], m.B.Choice)
				v := m.Verdict()
				last[ab], last[ba] = v.ResultA, v.ResultB
			}
			l.Matches = append(l.Matches, m)
		}
		list = append(list, l)
	}
	return plan, list
}

func explained(t testing.TB, plan results.Plan, list []results.League, o explain.Options) explain.Explanations {
	t.Helper()
	c := attest.Must(explain.NewCollector(plan, o))
	for i := range list {
		attest.OK(t, c.Add(&list[i]))
	}
	return c.Explanations(&analysis.Estimates{Level: analysis.DefaultLevel, Players: make([]analysis.Player, len(plan.Field))})
}

func within(t *testing.T, what string, got analysis.Estimate, low, high float64) {
	t.Helper()
	if !(got.Estimate >= low && got.Estimate <= high && got.Low <= got.Estimate && got.Estimate <= got.High) {
		t.Errorf("%s is %+v, want %g to %g", what, got, low, high)
	}
}

// TestLearningCurve has a player who says odd from the fourth leg on, against one who
// always says even.
func TestLearningCurve(t *testing.T) {
	t.Parallel()
	plan, list := play(t, 6, 400, 0, late, coin(1))
	e := explained(t, plan, list, explain.Options{Matches: 12})
	if e.Learnt+e.Judged != 2 || e.Leagues != 400 {
		t.Errorf("predicted %d leagues, counted %d", e.Learnt+e.Judged, e.Leagues)
	}
	for leg, p := range e.Players[0].Learning {
		if leg < 3 {
			within(t, fmt.Sprint("leg ", leg+1), p, 0.42, 0.58)
			continue
		}
		within(t, fmt.Sprint("leg ", leg+1), p, 1, 1)
	}
	if !reflect.DeepEqual(e.Players[0].Learning, e.Players[1].Learning) {
		t.Error("two who only met each other have two learning curves")
	}
}

// TestWithoutLeagues holds that nothing is claimed from nothing.
func TestWithoutLeagues(t *testing.T) {
	t.Parallel()
	plan, list := play(t, 3, 1, 0, coin(0.5), coin(0.5), coin(0.5))
	for n := range 2 {
		p := explained(t, plan, list[:n], explain.Options{}).Players[0]
		if p.Studied != nil || p.Regret != nil {
			t.Errorf("after %d leagues: %+v", n, p)
		}
	}
}

func TestBadRecordsAreRefused(t *testing.T) {
	t.Parallel()
	plan, list := play(t, 3, 1, 0, coin(0.5), coin(0.5), coin(0.5))
	c := attest.Must(explain.NewCollector(plan, explain.Options{}))
	short, strange := list[0], list[0]
	short.Matches = short.Matches[1:]
	strange.Seats = []int{0, 1, 3}
	for _, l := range []results.League{short, strange} {
		if err := c.Add(&l); err == nil || !strings.Contains(err.Error(), "explain league 0") {
			t.Errorf("a bad record gives %v", err)
		}
	}
	plan.Legs = 0
	if _, err := explain.NewCollector(plan, explain.Options{}); err == nil {
		t.Error("a plan without legs is accepted")
	}
}

func TestOpponents(t *testing.T) {
	t.Parallel()
	at := func(x, half float64) analysis.Estimate {
		return analysis.Estimate{Estimate: x, Low: x - half, High: x + half}
	}
	e := &analysis.Estimates{Players: make([]analysis.Player, 4), Pairs: []analysis.Pair{
		{A: 0, B: 1, Differ: at(0.9, 0.05)}, {A: 0, B: 2, Differ: at(0.88, 0.05)}, {A: 0, B: 3, Differ: at(0.2, 0.05)},
		{A: 1, B: 2, Differ: at(0.5, 0.05)},
	}}
	for i, name := range []string{"a", "b", "c", "d"} {
		e.Players[i].Name = name
	}
	if best, worst := explain.Opponents(e, 0); best.Name != "b" || best.Rivals != 1 || worst.Name != "d" || worst.Rivals != 0 {
		t.Errorf("best %+v, worst %+v", best, worst)
	}
	if best, worst := explain.Opponents(e, 2); best.Name != "a" || worst.Name != "b" {
		t.Errorf("best %+v, worst %+v", best, worst)
	}
	e.Pairs = nil
	if best, _ := explain.Opponents(e, 0); best != nil {
		t.Error("somebody who met nobody has opponents")
	}
}
