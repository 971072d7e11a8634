package strategytest

import (
	"fmt"

	"github.com/strategylab/strategylab/host/game"
)

type scenario struct {
	id    string
	title string // the finding when nothing failed
	hint  string // for failures without a hint of their own
	// live scenarios occur only in live leagues: failures there do not matter to experiments.
	live bool

	players, legs int
	draw          game.Draw
	against       func(seat int) opponent

	unknown  bool             // the league reveals nothing about itself
	untold   func(n int) bool // the outcome of match n never arrives
	held     int              // outcomes arrive in batches of this size, latest first
	lost     func(n int) bool // the answer to match n is lost
	uncalled func(n int) bool // match n is lost without being asked
}

func never(int) bool { return false }

func every(k, offset int) func(int) bool {
	return func(n int) bool { return n%k == offset }
}

// scenarios returns what Check plays, the plain league first.
func scenarios() []scenario {
	list := []scenario{
		{
			id: "league", title: "completes a league of six players", players: 6, legs: 10,
		},
		{
			id: "technical", title: "handles technical losses of both sides", players: 6, legs: 5,
			hint: "after a technical loss, choices and the drawn number may be absent: " +
				"nil in Lua, null in JavaScript; test before using them",
			against: func(i int) opponent { return failing(assorted(i), every(3, 1)) },
			lost:    every(5, 2), uncalled: every(5, 3),
		},
		{
			id: "two-players", title: "handles a field of two", players: 2, legs: 30,
			hint: "with two players every match is against the same opponent",
		},
		{
			id: "byes", title: "handles byes", players: 3, legs: 6,
			hint: "with an odd number of players one has a bye in each round, so round numbers have gaps",
		},
		{
			id: "draws", title: "handles drawn numbers other than 1 to 10", players: 4, legs: 6, draw: strangeDraw(),
			hint: "the drawn number may be 0 or far above 10: do not use it as an index",
		},
		{
			id: "long", title: "handles hundreds of matches against one opponent", players: 2, legs: 400,
			hint: "the history grows with every match: keep counts in variables and update them in observe",
		},
		{
			id: "foreign", title: "handles a league with unknown fields", players: 4, legs: 5,
			live: true, unknown: true,
			hint: "foreign leagues may not tell the players, the number of rounds or the opponent: " +
				"those fields are then empty, zero or absent",
		},
		{
			id: "untold", title: "handles missing outcomes", players: 4, legs: 5,
			live: true, untold: every(3, 0),
			hint: "in live play, observe may not be called for every match",
		},
		{
			id: "out-of-order", title: "handles outcomes that arrive late and out of order", players: 4, legs: 5,
			live: true, held: 3,
			hint: "in live play several matches may be in progress at once: " +
				"use outcome.match_id and outcome.opponent, not the order of calls",
		},
	}
	for i := range list {
		list[i].fill()
	}
	return list
}

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

// opponent returns what a simulated player plays in its n-th match with the seat
// under test; last is the seat's choice in the match before (NoParity at first).
type opponent func(n int, last game.Parity, r *game.Rand) game.Side

// assorted returns a different opponent for each of six seats.
func assorted(seat int) opponent {
	choose := [...]func(n int, last game.Parity, r *game.Rand) game.Parity{
		func(int, game.Parity, *game.Rand) game.Parity { return game.Even },
		func(int, game.Parity, *game.Rand) game.Parity { return game.Odd },
		func(n int, _ game.Parity, _ *game.Rand) game.Parity { return game.ParityOf(n) },
		func(_ int, last game.Parity, _ *game.Rand) game.Parity { return last },
		func(_ int, last game.Parity, _ *game.Rand) game.Parity { return last.Opposite() },
		func(_ int, _ game.Parity, r *game.Rand) game.Parity { return game.ParityOf(r.IntN(2)) },
	}[seat%6]
	return func(n int, last game.Parity, r *game.Rand) game.Side {
		p := choose(n, last, r)
		if p == game.NoParity {
			p = game.Even
		}
		return game.Side{Choice: p}
	}
}

// failing makes an opponent lose some matches by technical loss.
func failing(o opponent, when func(n int) bool) opponent {
	return func(n int, last game.Parity, r *game.Rand) game.Side {
		if when(n) {
			return game.Side{Fault: game.FaultNoAnswer}
		}
		return o(n, last, r)
	}
}
