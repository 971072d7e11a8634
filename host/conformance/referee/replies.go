package referee

import (
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

// again tests that an answer does not count: the player is asked again, or loses.
func again(p plan) func(T) {
	return func(t T) {
		m := t.play(p)
		typ := protocol.TypeGameInvitation
		if p.join[playerA] == nil {
			typ = protocol.TypeChooseParityCall
		}
		if asked := t.messages(m, typ, playerA); len(asked) < 2 && !t.technical(m) {
			t.failOn(asked[0], "the answer was accepted")
		}
	}
}

// counts tests that the answers of the first player count at once.
func counts(p plan) func(T) {
	return func(t T) {
		m := t.play(p)
		if t.technical(m) || len(t.messages(m, protocol.TypeChooseParityCall, playerA)) > 1 {
			t.failOn(t.message(m, protocol.TypeChooseParityCall, playerA), "the answers of %s did not count at once: %s", nameOf(playerA), t.summary(m))
		}
	}
}

// wrong is a match in which the first choice of the first player is wrong.
func wrong(edit kit.Edit) plan {
	return plan{choose: [2]reaction{atFirst(choosing(protocol.Odd, edit), choosing(protocol.Even))}}
}

var replyTests = map[string]func(T){
	"reply.match":  again(plan{join: [2]reaction{atFirst(joining(kit.Set("match_id", "R0M0")), joining())}}),
	"reply.player": again(wrong(kit.Set("player_id", playerIDs[playerB]))),
	"reply.token":  again(wrong(kit.Set("auth_token", kit.Forged))),
	"reply.empty": func(t T) {
		m := t.play(wrong(kit.Delete("parity_choice", "choice")))
		if t.technical(m) {
			t.failOn(t.message(m, protocol.TypeChooseParityCall, playerA), "an answer without a choice has lost the match at once; it may have been damaged in transit")
		}
	},
	"reply.raw": counts(plan{
		join:   [2]reaction{signingRaw(joining)},
		choose: [2]reaction{signingRaw(func(e ...kit.Edit) reaction { return choosing(protocol.Even, e...) })},
	}),
	"reply.accepted": counts(plan{join: [2]reaction{joining(kit.Delete("accept", "status"), kit.Set("accepted", true))}}),
	"reply.choice":   counts(plan{choose: [2]reaction{choosing(protocol.Even, kit.Delete("parity_choice"), kit.Set("choice", "even"))}}),
	"reply.members": counts(plan{
		join: [2]reaction{joining(kit.Set("x_weather", "sunny"))}, choose: [2]reaction{choosing(protocol.Even, kit.Set("x_weather", []any{"sunny", nil}))},
	}),
	"reply.late": func(t T) {
		m := t.start("choice too late")
		t.awaitProgress(func() bool { return m.replied(playerA) })
		if !m.late.Load() {
			t.skipSlow()
		}
		t.awaitEnd(m)
		called := t.messages(m, protocol.TypeChooseParityCall, playerA)
		booked := t.booked(m)
		if booked == protocol.Odd {
			t.failOn(called[0], "the choice odd of %s arrived after the time of its call, and counts", nameOf(playerA))
		}
		if len(called) > 1 && booked == "" {
			t.failOn(called[1], "the answer to the second call arrived in time, and does not count")
		}
		if booked = t.booked(t.play(plan{})); booked != protocol.Even {
			t.Fail("in the next match, %s chose even; GAME_OVER has %q", nameOf(playerA), booked)
		}
	},
	// It tries several times, with twice the moment of the last: on a busy
	// machine, an answer that is sent in time may arrive late.
	"call.whole": func(t T) {
		const tries = 3
		moment := beforeDeadline
		for try, m := 1, t.start("just in time"); ; try++ {
			t.awaitEnd(m)
			s := t.message(m, protocol.TypeChooseParityCall, playerA)
			left, ok := s.left()
			switch {
			case !ok:
				t.Skip("the call has no deadline, or one that is past when it arrives: %s", s.fields.Shown("deadline"))
			case left > t.T.Session.Timeout:
				t.Skip("the call gives %v: set a short deadline on the referee, or use a longer --timeout", left.Round(time.Second))
			}
			if t.booked(m) != "" && len(t.messages(m, protocol.TypeChooseParityCall, playerA)) == 1 {
				t.Note("answered %v after the call, of %v", s.answered.Sub(s.At).Round(time.Millisecond), left.Round(time.Millisecond))
				return
			}
			if try == tries {
				t.Fail("%s answered %v before its deadline, and that did not count: %s", nameOf(playerA), moment, t.summary(m))
			}
			moment *= 2
			m = t.announce(lastMoment(moment))
		}
	},
}

// refused tests that a posted choice is refused.
func refused(change func(m *match, msg *protocol.ChooseParityResponse)) func(T) {
	return func(t T) {
		m := t.announce(plan{choose: [2]reaction{received}})
		t.awaitSent(m, protocol.TypeChooseParityCall)
		msg := m.choice(playerA, protocol.Odd)
		change(m, msg)
		a := t.send(msg)
		evidence := t.Evidence
		t.send(m.choice(playerA, protocol.Even))
		t.awaitEnd(m)
		t.Evidence = evidence
		t.Refused(a)
	}
}

var postedTests = map[string]func(T){
	"posted.join": func(t T) {
		m := t.announce(plan{join: [2]reaction{received}})
		t.awaitSent(m, protocol.TypeGameInvitation)
		t.Accepted(t.send(&protocol.GameJoinAck{
			Header: m.header(protocol.TypeGameJoinAck, playerA), PlayerID: playerIDs[playerA],
			ArrivalTimestamp: protocol.Timestamp(time.Now()), Accept: protocol.Some(true),
		}), "")
		t.awaitEnd(m)
		t.message(m, protocol.TypeChooseParityCall, playerA)
	},
	"posted.choice": func(t T) {
		m := t.announce(plan{choose: [2]reaction{received}})
		t.awaitSent(m, protocol.TypeChooseParityCall)
		t.Accepted(t.send(m.choice(playerA, protocol.Even)), "")
		t.awaitEnd(m)
		if c := t.booked(m); c != protocol.Even {
			t.Fail("the posted choice did not count: GAME_OVER has %q", c)
		}
	},
	"posted.token":   refused(func(_ *match, msg *protocol.ChooseParityResponse) { msg.AuthToken = kit.Forged }),
	"posted.missing": refused(func(_ *match, msg *protocol.ChooseParityResponse) { msg.AuthToken = "" }),
	"posted.other": refused(func(m *match, msg *protocol.ChooseParityResponse) {
		msg.Sender, msg.AuthToken = protocol.Sender(protocol.RolePlayer, playerIDs[playerB]), m.keys[playerB].Expect
	}),
	"posted.match": refused(func(_ *match, msg *protocol.ChooseParityResponse) { msg.MatchID = "R0M99" }),
	"posted.late":  func(t T) { t.Refused(t.send(t.play(plan{}).choice(playerA, protocol.Odd))) },
}

func (t T) awaitSent(m *match, typ protocol.Type) {
	if !t.Until(t.patience(), func() bool { return m.count(typ, playerA) > 0 }) {
		t.Fail("%s was sent no %s", nameOf(playerA), typ)
	}
}

// header returns the header of a message that a player posts.
func (m *match) header(typ protocol.Type, who int) protocol.Header {
	h := protocol.NewHeader(typ, protocol.Sender(protocol.RolePlayer, playerIDs[who]), protocol.Timestamp(time.Now()), "posted-"+m.id)
	h.LeagueID, h.RoundID, h.MatchID, h.GameType, h.AuthToken = kit.League, protocol.RoundNumber(m.round), m.id, protocol.GameEvenOdd, m.keys[who].Expect
	return h
}

func (m *match) choice(who int, c protocol.Choice) *protocol.ChooseParityResponse {
	return &protocol.ChooseParityResponse{Header: m.header(protocol.TypeChooseParityResponse, who), PlayerID: playerIDs[who], ParityChoice: c}
}
