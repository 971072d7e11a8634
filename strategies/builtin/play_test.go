package builtin_test

import (
	"math"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

func find(tb testing.TB, name string) strategies.Factory {
	tb.Helper()
	f, ok := builtin.Find(name)
	if !ok {
		tb.Fatalf("no built-in strategy %q", name)
	}
	return f
}

func fieldOf(players int) []string {
	field := make([]string, players)
	for i := range field {
		field[i] = game.PlayerID(i)
	}
	return field
}

func newSeat(tb testing.TB, f strategies.Factory, s strategies.Setup) strategies.Strategy {
	tb.Helper()
	seat, err := f.New(tb.Context(), s)
	if err != nil {
		tb.Fatalf("%s: New: %v", f.Info().Name, err)
	}
	return seat
}

// player is a strategy on a seat with the host's part around it: it rekeys,
// throws the coin and tells outcomes.
type player struct {
	tb        testing.TB
	seat      strategies.Strategy
	rnd, coin *game.Rand
	answer    strategies.Choice // the last one, before the coin

	turn strategies.Turn // reused for all calls, as a host may
	out  strategies.Outcome
}

// sit puts a strategy on a seat of a field, counted from 0.
func sit(tb testing.TB, f strategies.Factory, field []string, seat int, seed uint64) *player {
	tb.Helper()
	p := &player{
		tb:   tb,
		rnd:  game.NewRand(game.StrategyKey(seed, 0, seat)),
		coin: game.NewRand(game.CoinKey(seed, 0, seat)),
	}
	id := game.PlayerID(seat)
	p.seat = newSeat(tb, f, strategies.Setup{ID: id, Name: id, Field: field, Rand: p.rnd})
	return p
}

func (p *player) choose(match int, opponent string, role game.Role) game.Parity {
	p.tb.Helper()
	p.rnd.Rekey(game.ChoosePosition(uint64(match)))
	p.coin.Rekey(uint64(match))
	p.turn = strategies.Turn{Match: uint64(match), Opponent: opponent, Role: role}
	c, err := p.seat.Choose(p.tb.Context(), &p.turn)
	if err != nil || !c.Valid() {
		p.tb.Fatalf("match %d: Choose = %v, %v", match, c, err)
	}
	p.answer = c
	return c.Resolve(p.coin)
}

func (p *player) observe(o strategies.Outcome) {
	p.tb.Helper()
	p.rnd.Rekey(game.ObservePosition(o.Match))
	p.out = o
	if err := p.seat.Observe(p.tb.Context(), &p.out); err != nil {
		p.tb.Fatalf("match %d: Observe: %v", o.Match, err)
	}
}

// meet has the player meet an opponent who plays the given parity. Roles alternate with the match.
func (p *player) meet(match int, opponent string, theirs game.Parity, number int) game.Parity {
	p.tb.Helper()
	role := roleOf(match)
	own := p.choose(match, opponent, role)
	p.observe(outcome(match, opponent, role, own, theirs, number))
	return own
}

func roleOf(match int) game.Role { return game.RoleA + game.Role(match&1) }

// outcome is what a player learns of a match that both played.
func outcome(match int, opponent string, role game.Role, own, theirs game.Parity, number int) strategies.Outcome {
	v := game.Judge(game.Side{Choice: own}, game.Side{Choice: theirs}, number)
	return strategies.Outcome{
		Match: uint64(match), Opponent: opponent, Role: role, Choice: own, OpponentChoice: theirs,
		Number: number, Drew: true, Result: v.ResultA, Points: v.PointsA,
	}
}

// match is a match as its first player saw it.
type match struct {
	own, theirs game.Parity
	number      int
}

func (m match) differ() bool { return m.own != m.theirs }

// opponent says what somebody plays next, given the past matches as the
// strategy under test saw them.
type opponent func(past []match) game.Parity

// cycle plays a pattern such as "eeo" over and over.
func cycle(pattern string) opponent {
	return func(past []match) game.Parity { return letter(pattern[len(past)%len(pattern)]) }
}

func letter(c byte) game.Parity {
	if c == 'e' {
		return game.Even
	}
	return game.Odd
}

// stationary plays even with probability p, whatever happens.
func stationary(p float64, seed uint64) opponent {
	rnd := game.NewRand(game.Key{seed, 1})
	return func([]match) game.Parity { return throw(rnd, p) }
}

func throw(r *game.Rand, even float64) game.Parity {
	if r.Bernoulli(even) {
		return game.Even
	}
	return game.Odd
}

// versus plays matches of a strategy with one opponent. The numbers drawn are 1 to 10 in turn.
func versus(tb testing.TB, name string, o opponent, matches int, seed uint64) []match {
	tb.Helper()
	p := sit(tb, find(tb, name), fieldOf(2), 0, seed)
	var past []match
	for i := range matches {
		theirs, number := o(past), i%10+1
		past = append(past, match{p.meet(i, "P02", theirs, number), theirs, number})
	}
	return past
}

// each plays matches of two strategies with one another, by the given draw.
func each(tb testing.TB, a, b string, draw game.Draw, matches int, seed uint64) []match {
	tb.Helper()
	field := fieldOf(2)
	pa, pb := sit(tb, find(tb, a), field, 0, seed), sit(tb, find(tb, b), field, 1, seed)
	draws := game.NewDrawStream(seed, 0)
	past := make([]match, matches)
	for i := range past {
		ra, rb := roleOf(i), roleOf(i+1)
		ca, cb := pa.choose(i, field[1], ra), pb.choose(i, field[0], rb)
		n := draw.Pick(draws.Next())
		pa.observe(outcome(i, field[1], ra, ca, cb, n))
		pb.observe(outcome(i, field[0], rb, cb, ca, n))
		past[i] = match{ca, cb, n}
	}
	return past
}

func count(past []match, which func(match) bool) int {
	n := 0
	for _, m := range past {
		if which(m) {
			n++
		}
	}
	return n
}

// wantShare checks how many of n independent events of the given chance came about: within five
// standard errors, which a right program leaves once in 1.7 million seeds. The seeds are fixed.
func wantShare(tb testing.TB, what string, events, n int, want float64) {
	tb.Helper()
	got, tolerance := float64(events)/float64(n), 5*math.Sqrt(want*(1-want)/float64(n))
	if math.Abs(got-want) > tolerance {
		tb.Errorf("%s in %.4f of %d, want %.4f +- %.4f", what, got, n, want, tolerance)
	}
}

func wantDifferShare(tb testing.TB, what string, past []match, want float64) {
	tb.Helper()
	wantShare(tb, what+": choices differ", count(past, match.differ), len(past), want)
}

// wantDifferFrom checks that the choices differed in every match from one on.
func wantDifferFrom(tb testing.TB, what string, past []match, from int) {
	tb.Helper()
	for i, m := range past {
		if i >= from && !m.differ() {
			tb.Errorf("%s: choices equal in match %d, want them to differ from %d on", what, i, from)
			return
		}
	}
}

// patterns returns every pattern of the given length.
func patterns(length int) []string {
	all := make([]string, 1<<length)
	for i := range all {
		for j := range length {
			all[i] += string("eo"[i>>j&1])
		}
	}
	return all
}

// moves writes what the strategy under test played, as "eoo".
func moves(past []match) string {
	s := make([]byte, len(past))
	for i, m := range past {
		s[i] = m.own.String()[0]
	}
	return string(s)
}
