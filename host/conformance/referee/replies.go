package referee

import (
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

func replyChecks() []kit.Check {
	again := func(name, rule, advice string, typ protocol.Type, wrong, right reaction) kit.Check {
		return matchCheck("reply."+name, kit.Should, rule, advice, func(t T) {
			plan := plan{}
			if typ == protocol.TypeGameInvitation {
				plan.join[playerA] = atFirst(wrong, right)
			} else {
				plan.choose[playerA] = atFirst(wrong, right)
			}
			m := t.play(plan)
			if len(t.messages(m, typ, playerA)) < 2 {
				if !t.technical(m) {
					t.show(t.messages(m, typ, playerA)[0])
					t.Fail("the answer was accepted")
				}
			}
		})
	}
	counts := func(name string, level kit.Level, rule, advice string, plan plan) kit.Check {
		return matchCheck("reply."+name, level, rule, advice, func(t T) {
			m := t.play(plan)
			if t.technical(m) || len(t.messages(m, protocol.TypeChooseParityCall, playerA)) > 1 {
				t.show(t.message(m, protocol.TypeChooseParityCall, playerA))
				t.Fail("the answers of %s did not count at once: %s", nameOf(playerA), t.summary(m))
			}
		})
	}
	const ask = "Compare it with the request, and send the request again; do not accept the answer."
	join, call := protocol.TypeGameInvitation, protocol.TypeChooseParityCall
	return []kit.Check{
		again("match", "An answer about another match does not count; the request is sent again (league.v2, errors, E002).", ask, join, joining(kit.Set("match_id", "R0M0")), joining()),
		again("player", "An answer in the name of another player does not count (league.v2, authentication).", ask, call,
			choosing(protocol.Odd, kit.Set("player_id", playerIDs[playerB])), choosing(protocol.Even)),
		again("token", "An answer with another auth_token than the player's does not count (league.v2, authentication).",
			"Accept as auth_token what the announcement says under expect, or a token t with HMAC(SHA-256(t), ...) = expect; ask again otherwise.", call,
			choosing(protocol.Odd, kit.Set("auth_token", kit.Forged)), choosing(protocol.Even)),
		matchCheck("reply.empty", kit.Should, "After an answer without a choice, the call is sent again (league.v2, errors, E002).", ask, func(t T) {
			m := t.play(plan{choose: [2]reaction{atFirst(choosing(protocol.Even, kit.Delete("parity_choice", "choice")), choosing(protocol.Even))}})
			if t.technical(m) {
				t.show(t.message(m, call, playerA))
				t.Fail("an answer without a choice has lost the match at once; it may have been damaged in transit")
			}
		}),
		counts("raw", kit.Should, "A player may sign with its own token instead of the match key (league.v2, authentication).",
			"Accept as auth_token what the announcement says under expect, or a token t with HMAC(SHA-256(t), ...) = expect.", plan{
				join:   [2]reaction{signingRaw(joining)},
				choose: [2]reaction{signingRaw(func(e ...kit.Edit) reaction { return choosing(protocol.Even, e...) })},
			}),
		counts("accepted", kit.Wild, "A join with accepted instead of accept counts (observed in real leagues).", "Look for accept, accepted and status.", plan{join: [2]reaction{joining(func(msg map[string]any) {
			delete(msg, "accept")
			delete(msg, "status")
			msg["accepted"] = true
		})}}),
		counts("choice", kit.Wild, "A choice that is called choice instead of parity_choice counts (observed in real leagues).", "Look for both names.", plan{choose: [2]reaction{choosing(protocol.Even, func(msg map[string]any) {
			delete(msg, "parity_choice")
			msg["choice"] = "even"
		})}}),
		counts("members", kit.Must, "Unknown members of an answer are ignored (league.v2, validation).", "Read the members that you need.",
			plan{join: [2]reaction{joining(kit.Set("x_weather", "sunny"))}, choose: [2]reaction{choosing(protocol.Even, kit.Set("x_weather", []any{"sunny", nil}))}}),
	}
}

func postedChecks() []kit.Check {
	const advice = "Accept GAME_JOIN_ACK and CHOOSE_PARITY_RESPONSE at your endpoint as well; find the match by match_id and the player by auth_token."
	asked := []string{playsMatches, "referee.posted.join", "referee.posted.choice"}
	refused := func(name, rule string, level kit.Level, change func(m *match, msg *protocol.ChooseParityResponse)) kit.Check {
		return kit.Check{
			ID: "referee.posted." + name, Level: level, Needs: asked, Rule: rule, Advice: "Check match and token before you store anything of the message.",
			Run: run(func(t T) {
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
			}),
		}
	}
	return []kit.Check{
		{
			ID: "referee.posted.join", Level: kit.Should, Needs: []string{playsMatches}, Advice: advice,
			Rule: "A player may acknowledge an invitation, and post its GAME_JOIN_ACK later, signed, to the referee's endpoint: it is accepted, and the match goes on (league.v2, dialects).",
			Run: run(func(t T) {
				m := t.announce(plan{join: [2]reaction{received}})
				t.awaitSent(m, protocol.TypeGameInvitation)
				t.Accepted(t.send(&protocol.GameJoinAck{
					Header: m.header(protocol.TypeGameJoinAck, playerA), PlayerID: playerIDs[playerA],
					ArrivalTimestamp: protocol.Timestamp(time.Now()), Accept: protocol.Some(true),
				}), "")
				t.awaitEnd(m)
				t.message(m, protocol.TypeChooseParityCall, playerA)
			}),
		},
		check("referee.posted.choice", kit.Should, []string{playsMatches}, "A player may acknowledge a call, and post its CHOOSE_PARITY_RESPONSE later, signed: it is accepted, and counts (league.v2, dialects).",
			advice, func(t T) {
				m := t.announce(plan{choose: [2]reaction{received}})
				t.awaitSent(m, protocol.TypeChooseParityCall)
				t.Accepted(t.send(m.choice(playerA, protocol.Even)), "")
				t.awaitEnd(m)
				if c := t.booked(m); c != protocol.Even {
					t.Fail("the posted choice did not count: GAME_OVER has %q", c)
				}
			}),
		refused("token", "A posted choice with a token that was never issued is refused (4001, E012).", kit.Should, func(_ *match, msg *protocol.ChooseParityResponse) { msg.AuthToken = kit.Forged }),
		refused("missing", "A posted choice without auth_token is refused (4001, E011).", kit.Should, func(_ *match, msg *protocol.ChooseParityResponse) { msg.AuthToken = "" }),
		refused("other", "A posted choice for another player than the token's is refused (4001, E012).", kit.Should, func(m *match, msg *protocol.ChooseParityResponse) {
			msg.Sender, msg.AuthToken = protocol.Sender(protocol.RolePlayer, playerIDs[playerB]), m.keys[playerB].Expect
		}),
		refused("match", "A posted choice for an unknown match is refused (4003, E040).", kit.Should, func(_ *match, msg *protocol.ChooseParityResponse) { msg.MatchID = "R0M99" }),
		check("referee.posted.late", kit.Should, asked, "A choice that is posted after the end of the match is refused, and changes nothing (4005, E007).",
			"Look at the state of the match, not only at its id.", func(t T) {
				t.Refused(t.send(t.play(plan{}).choice(playerA, protocol.Odd)))
			}),
	}
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

func deadlineChecks() []kit.Check {
	return []kit.Check{
		matchCheck("call.whole", kit.Should, "A player has all the time until the deadline of the call: a choice that arrives just before it counts (CHOOSE_PARITY_CALL).",
			"Wait for the answer until the deadline as it was sent, after rounding, and not less.", usesItsTime),
		matchCheck("reply.late", kit.Should, "An answer that arrives after its time does not count: the answer to the next attempt does (league.v2, timeouts).",
			"Close the connection at the deadline, or discard what arrives on it, and let no late answer affect the match, nor the next one.", answersLate),
	}
}

// usesItsTime tries several times, with twice the moment of the last: on a busy
// machine, an answer that is sent in time may arrive late.
func usesItsTime(t T) {
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
}

func answersLate(t T) {
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
}
