package arena_test

import (
	"context"
	"testing"

	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// The comparison is a league of two, markov-1 against frequency, over a
// thousand legs: once through the arena, once as a loop that knows both
// strategies and nothing else. TestHandwritten holds the two to the same
// choices, numbers and points.
const handLegs = 1000

// byHand plays one league and returns the points by field index. If rec is not
// nil it records the matches.
func byHand(seed uint64, league int, draw game.Draw, draws *game.DrawStream, rec []results.Match) (points [2]int) {
	draws.Reset(seed, league)
	seats := game.Seats(seed, league, 2)
	markovSeat := 0
	if seats[0] != 0 {
		markovSeat = 1
	}
	rnd := [2]*game.Rand{game.NewRand(game.StrategyKey(seed, league, 0)), game.NewRand(game.StrategyKey(seed, league, 1))}
	var after [3]int // markov: how often frequency played even rather than odd: at all, after even, after odd
	var last game.Parity
	surplus := 0 // frequency: the same of markov, at all
	for m := range handLegs {
		markov := game.NoParity
		if last != game.NoParity {
			markov = against(after[last])
		}
		if markov == game.NoParity {
			markov = against(after[0])
		}
		if markov == game.NoParity {
			markov = toss(rnd[0], m)
		}
		freq := against(surplus)
		if freq == game.NoParity {
			freq = toss(rnd[1], m)
		}
		number := draw.Pick(draws.Next())

		a, b, first := game.Side{Choice: markov}, game.Side{Choice: freq}, 0
		if (m%2 == 0) != (markovSeat == 0) { // seats swap roles in every second leg
			a, b, first = b, a, 1
		}
		v := game.Judge(a, b, number)
		points[first] += v.PointsA
		points[1-first] += v.PointsB
		if rec != nil {
			rec[m] = results.Match{A: a, B: b, Number: int32(number)}
		}

		d := 1
		if freq == game.Odd {
			d = -1
		}
		after[0] += d
		if last != game.NoParity {
			after[last] += d
		}
		last = freq
		if markov == game.Even {
			surplus++
		} else {
			surplus--
		}
	}
	return points
}

// against returns the opposite of what was played more often.
func against(surplus int) game.Parity {
	switch {
	case surplus > 0:
		return game.Odd
	case surplus < 0:
		return game.Even
	}
	return game.NoParity
}

func toss(rnd *game.Rand, match int) game.Parity {
	rnd.Rekey(game.ChoosePosition(uint64(match)))
	if rnd.Uint64()>>63 == 1 {
		return game.Even
	}
	return game.Odd
}

func handPlan(runs int) results.Plan {
	p := planOf(2, handLegs, runs)
	p.Field[0].Name, p.Field[1].Name = "markov-1", "frequency"
	return p
}

func handFactories(tb testing.TB) []strategies.Factory {
	tb.Helper()
	var out []strategies.Factory
	for _, name := range []string{"markov-1", "frequency"} {
		f, ok := builtin.Find(name)
		if !ok {
			tb.Fatalf("no strategy %s", name)
		}
		out = append(out, f)
	}
	return out
}

func BenchmarkMatch(b *testing.B) {
	b.Run("handwritten", func(b *testing.B) {
		draw := game.FairDraw()
		var draws game.DrawStream
		league, sum := 0, 0
		for b.Loop() {
			points := byHand(1, league, draw, &draws, nil)
			sum += points[0]
			league++
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*handLegs), "ns/match")
	})
	b.Run("arena", func(b *testing.B) {
		plan := handPlan(1)
		a, err := arena.New(plan, handFactories(b), arena.Config{})
		if err != nil {
			b.Fatal(err)
		}
		w, err := a.NewWorker(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		out, quarantined := make([]results.League, 1), make([]bool, 2)
		league := 0
		b.ReportAllocs()
		for b.Loop() {
			if err := w.Play(b.Context(), league, out, quarantined); err != nil {
				b.Fatal(err)
			}
			league++
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*handLegs), "ns/match")
	})
}
