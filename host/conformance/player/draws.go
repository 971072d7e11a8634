package player

import (
	"strconv"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// drawn is a match with a verifiable draw, as far as it has come.
type drawn struct {
	match
	key        string
	commitment string
	choice     protocol.Choice
	nonce      string // of the player
}

// promised begins a match with a commitment to a key, and skips the check of a
// player that does not say that it understands verifiable draws.
func (t T) promised(key string) *drawn {
	t.needsKeys()
	m, join := t.invited()
	if join.Message.Text("draw_scheme") != draws.Scheme {
		t.Skip("not offered: GAME_JOIN_ACK does not say draw_scheme %s", draws.Scheme)
	}
	d := &drawn{match: m, key: key}
	d.commitment = t.commitment(d, key)
	a := t.asked(d, d.commitment)
	d.choice, d.nonce = t.chooses(a), a.Message.Text("draw_nonce")
	return d
}

// commitment returns what commits to a key in a match.
func (t T) commitment(d *drawn, key string) string {
	b := t.bound(d, "")
	c, err := b.Commitment(key)
	if err != nil {
		panic(err) // the suite makes its keys itself
	}
	return c
}

// asked calls for a choice, with a commitment.
func (t T) asked(d *drawn, commitment string) *kit.Answer {
	call := t.call(d.match)
	call.DrawCommitment = commitment
	return t.send(call)
}

// bound is the match as its draw is bound to it, without a nonce of the opponent.
func (t T) bound(d *drawn, other protocol.Choice) draws.Match {
	return draws.Match{League: kit.League, ID: d.id, Round: d.round, Players: [2]draws.Player{
		{ID: t.ID, Choice: string(d.choice), Nonce: d.nonce}, {ID: d.opponent, Choice: string(other)},
	}}
}

// ends reveals a key and returns the acknowledgement. The number follows from the key,
// or is off by this much, which changes no points.
func (t T) ends(d *drawn, key string, off int) *kit.Answer {
	other := protocol.Even
	if d.choice == protocol.Even {
		other = protocol.Odd
	}
	b := t.bound(d, other)
	n, err := b.Number(key)
	if err != nil {
		panic(err) // the suite makes its keys itself
	}
	n = 1 + (n-1+off)%10
	over := t.over(d.match, d.choice)
	parity := game.ParityOf(n).String()
	over.GameResult.DrawnNumber, over.GameResult.NumberParity = protocol.Some(n), protocol.Some(parity)
	if parity == string(d.choice) {
		over.GameResult.WinnerPlayerID, over.GameResult.Reason = protocol.Some(t.ID), "the player chose the parity of the drawn number"
	}
	over.DrawKey, over.DrawNonces = key, map[string]string{}
	if d.nonce != "" {
		over.DrawNonces[t.ID] = d.nonce
	}
	a := t.send(over)
	t.Accepted(a, protocol.TypeGameOver.Answer())
	return a
}

// says ends the check unless an acknowledgement says whether the number could be verified.
func (t T) says(a *kit.Answer, verified bool) {
	t.Says(a.Message, map[string]string{"draw_verified": strconv.FormatBool(verified)})
}

var drawTests = map[string]func(T){
	"draws.nonce": func(t T) {
		d := t.promised(draws.NewKey())
		if !draws.ValidNonce(d.nonce) {
			t.Fail("draw_nonce is %q", d.nonce)
		}
		if a := t.asked(d, d.commitment); a.Message.Text("draw_nonce") != d.nonce {
			t.Fail("draw_nonce is %s when it is asked again, and was %q", a.Message.Shown("draw_nonce"), d.nonce)
		}
	},
	"draws.fresh": func(t T) {
		a, b := t.promised(draws.NewKey()), t.promised(draws.NewKey())
		if a.nonce != "" && a.nonce == b.nonce {
			t.Fail("draw_nonce is %q in the matches %s and %s", a.nonce, a.id, b.id)
		}
	},
	"draws.verified": func(t T) {
		d := t.promised(draws.NewKey())
		t.says(t.ends(d, d.key, 0), true)
	},
	"draws.number": func(t T) {
		d := t.promised(draws.NewKey())
		t.says(t.ends(d, d.key, 2), false)
	},
	"draws.swapped": func(t T) {
		d, key := t.promised(draws.NewKey()), draws.NewKey()
		t.asked(d, t.commitment(d, key))
		t.says(t.ends(d, key, 0), false)
	},
	"draws.reused": func(t T) {
		key := draws.NewKey()
		d := t.promised(key)
		t.ends(d, key, 0)
		again := t.promised(key)
		t.says(t.ends(again, key, 0), false)
	},
	"draws.round": func(t T) {
		d := t.promised(draws.NewKey())
		t.ends(d, d.key, 0)
		end := t.RoundCompleted()
		end.RoundID = protocol.RoundNumber(d.round)
		a := t.send(end)
		t.Accepted(a, protocol.TypeRoundCompleted.Answer())
		t.says(a, true)
	},
}
