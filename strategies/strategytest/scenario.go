package strategytest

import (
	"fmt"

	"github.com/strategylab/strategylab/host/game"
)

// scenario is a small league, or a part of one, that a strategy may meet.
type scenario struct {
	id    string
	title string // what was found good when nothing failed
	hint  string // for failures that bring none of their own
	// live scenarios happen only where matches are played over a wire: what
	// fails there does not matter to experiments.
	live bool

	players, legs int
	draw          game.Draw
	against       func(seat int) opponent

	unknown  bool             // a league that tells nothing of itself
	untold   func(n int) bool // the outcome of match n is never told
	held     int              // outcomes come so many at a time, the latest first
	lost     func(n int) bool // the answer to match n gets lost
	uncalled func(n int) bool // match n is lost without a call
}

func never(int) bool { return false }

func every(k, offset int) func(int) bool {
	return func(n int) bool { return n%k == offset }
}

// scenarios returns what Check plays, the plain league first.
func scenarios() []scenario {
	list := []scenario{
		{
			id: "league", title: "it gets through a league of six", players: 6, legs: 10,
		},
		{
			id: "technical", title: "it copes with technical losses, its own and its opponents'", players: 6, legs: 5,
			hint: "after a technical loss choices and the drawn number are absent: nil in Lua, null in JavaScript; " +
				"test for that before using them",
			against: func(i int) opponent { return failing(assorted(i), every(3, 1)) },
			lost:    every(5, 2), uncalled: every(5, 3),
		},
		{
			id: "two-players", title: "it copes with a field of two", players: 2, legs: 30,
			hint: "with two players there is one opponent, met again and again",
		},
		{
			id: "byes", title: "it copes with rounds in which it does not play", players: 3, legs: 6,
			hint: "with an odd number of players somebody sits out each round, so rounds are skipped",
		},
		{
			id: "draws", title: "it copes with numbers other than 1 to 10", players: 4, legs: 6, draw: strangeDraw(),
			hint: "the drawn number may be 0 or far above 10: do not use it as an index",
		},
		{
			id: "long", title: "it copes with hundreds of matches against one opponent", players: 2, legs: 400,
			hint: "the history grows with every match: keep what you need in variables, counted in observe",
		},
		{
			id: "foreign", title: "it copes with a league that tells nothing of itself", players: 4, legs: 5,
			live: true, unknown: true,
			hint: "other people's leagues may not say who plays, how many rounds there are, or who the opponent is: " +
				"those fields are then empty, zero or absent",
		},
		{
			id: "untold", title: "it copes with outcomes that are never told", players: 4, legs: 5,
			live: true, untold: every(3, 0),
			hint: "in live play observe may never come for a match: do not count on it",
		},
		{
			id: "out-of-order", title: "it copes with outcomes that come late and out of order", players: 4, legs: 5,
			live: true, held: 3,
			hint: "in live play several matches may be under way at once: " +
				"go by outcome.match_id and outcome.opponent, not by the order of calls",
		},
	}
	for i := range list {
		list[i].fill()
	}
	return list
}

// fill replaces what a scenario leaves out.
func (sc *scenario) fill() {
	if sc.draw.Size() == 0 {
		sc.draw = game.FairDraw()
	}
	if sc.against == nil {
		sc.against = assorted
	}
	for _, f := range []*func(int) bool{&sc.untold, &sc.lost, &sc.uncalled} {
		if *f == nil {
			*f = never
		}
	}
	sc.held = max(sc.held, 1)
}

func strangeDraw() game.Draw {
	d, err := game.WeightedDraw(map[int]int{0: 2, 7: 1, 1000: 3, game.MaxDrawNumber: 1})
	if err != nil {
		panic(fmt.Sprintf("strategytest: %v", err)) // constant arguments
	}
	return d
}

// opponent is what a simulated player brings to its n-th meeting with the seat
// under test, which chose last in the meeting before (NoParity at first).
type opponent func(n int, last game.Parity, r *game.Rand) game.Side

// assorted returns an opponent that can be told from its neighbours.
func assorted(seat int) opponent {
	var choose func(n int, last game.Parity, r *game.Rand) game.Parity
	switch seat % 6 {
	case 0:
		choose = func(int, game.Parity, *game.Rand) game.Parity { return game.Even }
	case 1:
		choose = func(int, game.Parity, *game.Rand) game.Parity { return game.Odd }
	case 2:
		choose = func(n int, _ game.Parity, _ *game.Rand) game.Parity { return game.ParityOf(n) }
	case 3:
		choose = func(_ int, last game.Parity, _ *game.Rand) game.Parity { return last }
	case 4:
		choose = func(_ int, last game.Parity, _ *game.Rand) game.Parity { return last.Opposite() }
	case 5:
		choose = func(_ int, _ game.Parity, r *game.Rand) game.Parity { return game.ParityOf(r.IntN(2)) }
	}
	return func(n int, last game.Parity, r *game.Rand) game.Side {
		p := choose(n, last, r)
		if p == game.NoParity {
			p = game.Even
		}
		return game.Side{Choice: p}
	}
}

// failing makes an opponent lose some of its meetings on technical grounds.
func failing(o opponent, when func(n int) bool) opponent {
	return func(n int, last game.Parity, r *game.Rand) game.Side {
		if when(n) {
			return game.Side{Fault: game.FaultNoAnswer}
		}
		return o(n, last, r)
	}
}
