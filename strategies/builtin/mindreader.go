package builtin

import (
	"context"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// mindReader is Shannon's machine that played matching pennies against people
// (A Mind-Reading (?) Machine, Bell Laboratories memorandum, 18 March 1953; a
// simpler model of Hagelbarger's SEER, IRE Transactions on Electronic
// Computers 5, 1956). It knows eight situations: whether the opponent won the
// last meeting but one, whether it then changed its choice, and whether it won
// the last. For each it remembers whether the opponent next stayed or changed,
// and trusts that once it has happened twice running; until then it plays at
// random.
//
// Shannon's machine won by matching, so it played what it predicted. Here
// winning is differing, for both: the opponent counts as having won where the
// choices differed, and the machine plays the opposite of what it predicts.
type mindReader struct {
	unattached
	rnd  *game.Rand
	mind opponents[mind]
}

func newMindReader() strategies.Factory {
	return define("mind-reader", "Shannon's mind-reading machine",
		"Remembers, for each of eight situations made of the last two meetings, whether the opponent then stayed or changed, "+
			"and relies on what happened twice running. Here it plays the opposite of what it predicts. "+
			"Source: Shannon, A Mind-Reading (?) Machine, 1953.",
		func(s strategies.Setup) strategies.Strategy {
			return &mindReader{rnd: s.Rand, mind: newOpponents[mind](s.Field)}
		})
}

func (m *mindReader) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	return play(m.mind.at(t.Opponent).predict().Opposite(), m.rnd), nil
}

func (m *mindReader) Observe(_ context.Context, o *strategies.Outcome) error {
	if o.Choice != game.NoParity && o.OpponentChoice != game.NoParity {
		m.mind.at(o.Opponent).add(o.OpponentChoice, o.Choice != o.OpponentChoice)
	}
	return nil
}

// habit is what an opponent did in a situation when it last arose.
type habit struct {
	did   reaction
	twice bool // and also the time before
}

// reaction is whether the opponent repeated its choice.
type reaction uint8

const (
	unknown reaction = iota
	stayed
	changed
)

// mind is what the machine knows of one opponent.
type mind struct {
	habits    [8]habit
	situation uint8
	met       uint8       // meetings so far, at most 2
	last      game.Parity // of the opponent
	won       bool        // whether the opponent won the last meeting
}

func (m *mind) predict() game.Parity {
	h := m.habits[m.situation%8]
	switch {
	case m.met < 2 || !h.twice:
		return game.NoParity
	case h.did == changed:
		return m.last.Opposite()
	}
	return m.last
}

func (m *mind) add(opponent game.Parity, won bool) {
	change := opponent != m.last
	if m.met == 2 {
		h := &m.habits[m.situation%8]
		did := stayed + reaction(flag(change))
		h.twice = h.did == did
		h.did = did
	}
	m.situation = flag(m.won)<<2 | flag(change)<<1 | flag(won)
	m.last, m.won = opponent, won
	m.met = min(m.met+1, 2)
}

// flag is 1 for true and 0 for false.
func flag(b bool) uint8 {
	var n uint8
	if b {
		n = 1
	}
	return n
}
