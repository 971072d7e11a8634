package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// bot is a player whose statistics are known. In each league it settles on a
// chance of saying even, even-mood or even+mood, and keeps to it: so matches of
// one league are dependent, as they are with players that learn.
type bot struct {
	even, mood float64
	fault      float64 // chance of a technical loss in a match
	kind       game.Fault
}

// world plays leagues among bots. It is a small independent arena for tests.
type world struct {
	plan     results.Plan
	bots     []bot
	draw     game.Draw
	schedule *game.Schedule
}

func newWorld(draw string, legs int, bots ...bot) *world {
	d := attest.Must(game.ParseDraw(draw))
	schedule := attest.Must(game.NewSchedule(len(bots), legs))
	w := &world{
		plan: results.Plan{Schema: results.PlanSchema, Legs: legs, Seed: 1, Draw: d.String(), Transport: "direct"},
		bots: bots, draw: d, schedule: schedule,
	}
	for i := range bots {
		w.plan.Field = append(w.plan.Field, results.Entrant{Name: fmt.Sprintf("bot#%d", i+1), Kind: "builtin"})
	}
	return w
}

// league plays one league; equal seeds and indices give equal leagues.
func (w *world) league(seed uint64, index int) results.League {
	l := results.League{Index: index, Seats: game.Seats(seed, index, len(w.bots))}
	r := rand.New(rand.NewPCG(seed, uint64(index)))
	even := make([]float64, len(w.bots))
	for i, b := range w.bots {
		even[i] = b.even + b.mood*float64(2*r.IntN(2)-1)
	}
	noted := map[int]bool{}
	side := func(seat int) game.Side {
		i := l.Seats[seat]
		s := game.Side{Choice: game.Odd}
		if r.Float64() < even[i] {
			s.Choice = game.Even
		}
		if b := w.bots[i]; r.Float64() < b.fault {
			s.Fault = b.kind
			if r.IntN(2) == 0 {
				s.Choice = game.NoParity
			}
			if !noted[i] {
				noted[i] = true
				l.Notes = append(l.Notes, results.Note{Field: i, Fault: b.kind, Text: fmt.Sprintf("bot%d.lua:%d: broke", i+1, index)})
			}
		}
		return s
	}
	for _, p := range w.schedule.Matches() {
		m := results.Match{A: side(p.A), B: side(p.B), Number: results.NoNumber}
		if m.A.Fault == game.NoFault && m.B.Fault == game.NoFault {
			m.Number = int32(w.draw.Pick(r.Uint64()))
		}
		l.Matches = append(l.Matches, m)
	}
	return l
}

// leagues plays n leagues.
func (w *world) leagues(seed uint64, n int) []results.League {
	list := make([]results.League, n)
	for i := range list {
		list[i] = w.league(seed, i)
	}
	return list
}

// analyse feeds leagues of a plan to an accumulator.
func analyse(t testing.TB, plan results.Plan, leagues []results.League) *analysis.Accumulator {
	t.Helper()
	acc := attest.Must(analysis.NewAccumulator(plan))
	for _, l := range leagues {
		attest.OK(t, acc.Add(l))
	}
	return acc
}
