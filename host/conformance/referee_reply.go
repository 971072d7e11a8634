package conformance

import (
	"time"

	"github.com/strategylab/strategylab/host/protocol"
)

// replyChecks are about what counts as an answer of a player.
func replyChecks() []Check {
	again := func(name, rule, advice string, t protocol.Type, wrong, right reaction) Check {
		return duelCheck("reply."+name, Should, rule, advice, func(p refereeT) {
			plan := plan{}
			if t == protocol.TypeGameInvitation {
				plan.join[sideA] = firstly(1, wrong, right)
			} else {
				plan.choose[sideA] = firstly(1, wrong, right)
			}
			d := p.played(plan)
			if len(p.all(d, t, sideA)) < 2 {
				if o := p.one(d, protocol.TypeGameOver, sideA).told(); o.status != protocol.StatusTechnicalLoss {
					p.show(p.all(d, t, sideA)[0])
					p.Fail("the answer was taken")
				}
			}
		})
	}
	counts := func(name string, level Level, rule, advice string, plan plan) Check {
		return duelCheck("reply."+name, level, rule, advice, func(p refereeT) {
			d := p.played(plan)
			h := p.one(d, protocol.TypeGameOver, sideB)
			if o := h.told(); o.status == protocol.StatusTechnicalLoss || len(p.all(d, protocol.TypeChooseParityCall, sideA)) > 1 {
				p.show(p.one(d, protocol.TypeChooseParityCall, sideA))
				p.Fail("the answers of player %s did not count at once: %s", playerIDs[sideA], p.tally(d))
			}
		})
	}
	const ask = "Compare it with what was asked, and ask again; do not take it."
	join, call := protocol.TypeGameInvitation, protocol.TypeChooseParityCall
	return []Check{
		again("match", "An answer about another match does not count; it is asked for again (league.v2, errors, E002).", ask, join, joining(with("match_id", "R0M0")), joining()),
		again("player", "An answer in the name of another player does not count (league.v2, authentication).", ask, call,
			choosing(protocol.Odd, with("player_id", playerIDs[sideB])), choosing(protocol.Even)),
		again("token", "An answer with another auth_token than the player's does not count (league.v2, authentication).",
			"Accept as auth_token what the announcement says under expect, or a token t with HMAC(SHA-256(t), ...) = expect; ask again otherwise.", call,
			choosing(protocol.Odd, with("auth_token", forged)), choosing(protocol.Even)),
		duelCheck("reply.empty", Should, "An answer without a choice is asked for again (league.v2, errors, E002).", ask, func(p refereeT) {
			d := p.played(plan{choose: [2]reaction{firstly(1, choosing(protocol.Even, func(m map[string]any) { delete(m, "parity_choice") }), choosing(protocol.Even))}})
			if o := p.one(d, protocol.TypeGameOver, sideB).told(); o.status == protocol.StatusTechnicalLoss {
				p.show(p.one(d, call, sideA))
				p.Fail("an answer without a choice has lost the match at once; it may have been damaged on its way")
			}
		}),
		counts("raw", Should, "A player may sign with its own token, as by the book, in the place of the match key (league.v2, authentication).",
			"Accept as auth_token what the announcement says under expect, or a token t with HMAC(SHA-256(t), ...) = expect.", plan{
				join:   [2]reaction{signingRaw(joining)},
				choose: [2]reaction{signingRaw(func(e ...func(map[string]any)) reaction { return choosing(protocol.Even, e...) })},
			}),
		counts("accepted", Wild, "A join that says accepted in the place of accept counts (observed in real leagues).", "Look for accept, accepted and status.", plan{join: [2]reaction{joining(func(m map[string]any) {
			delete(m, "accept")
			m["accepted"] = true
		})}}),
		counts("choice", Wild, "A choice that is called choice in the place of parity_choice counts (observed in real leagues).", "Look for both names.", plan{choose: [2]reaction{choosing(protocol.Even, func(m map[string]any) {
			delete(m, "parity_choice")
			m["choice"] = "even"
		})}}),
		counts("members", Must, "Members of an answer that the referee does not know are passed over (league.v2, validation).", "Read the members that you need.",
			plan{join: [2]reaction{joining(with("x_weather", "sunny"))}, choose: [2]reaction{choosing(protocol.Even, with("x_weather", []any{"sunny", nil}))}}),
	}
}

// signingRaw has a player sign with its own token.
func signingRaw(answer func(...func(map[string]any)) reaction) reaction {
	return func(d *duel, h *heard) Said { return answer(with("auth_token", d.side.tokens[h.who]))(d, h) }
}

// postedChecks are about players that answer by a request of their own.
func postedChecks() []Check {
	const advice = "Take GAME_JOIN_ACK and CHOOSE_PARITY_RESPONSE at your endpoint as well; find the match by match_id and the player by auth_token."
	asked := []string{refereePlays, "referee.posted.join", "referee.posted.choice"}
	refused := func(name, rule string, level Level, change func(p refereeT, d *duel, m *protocol.ChooseParityResponse)) Check {
		return Check{
			ID: "referee.posted." + name, Level: level, Needs: asked, Rule: rule, Advice: "Check match and token before anything is remembered of the message.",
			run: forReferee(func(p refereeT) {
				d := p.begin(plan{choose: [2]reaction{received}})
				p.called(d)
				m := p.choice(d, sideA, protocol.Odd)
				change(p, d, m)
				a := p.send(m)
				evidence := p.evidence
				p.send(p.choice(d, sideA, protocol.Even))
				p.ends(d)
				p.evidence = evidence
				p.refused(a)
			}),
		}
	}
	return []Check{
		{
			ID: "referee.posted.join", Level: Should, Needs: []string{refereePlays}, Advice: advice,
			Rule: "A player may acknowledge an invitation, and post its GAME_JOIN_ACK later, signed, to the referee's endpoint: it is taken, and the match goes on (league.v2, dialects).",
			run: forReferee(func(p refereeT) {
				d := p.begin(plan{join: [2]reaction{received}})
				if !p.until(p.patience(), func() bool { return d.count(protocol.TypeGameInvitation, sideA) > 0 }) {
					p.Fail("no invitation came")
				}
				m := &protocol.GameJoinAck{Header: p.fromPlayer(protocol.TypeGameJoinAck, d, sideA), PlayerID: playerIDs[sideA], ArrivalTimestamp: protocol.Timestamp(time.Now()), Accept: protocol.Some(true)}
				a := p.send(m)
				p.accepted(a, "")
				p.ends(d)
				p.one(d, protocol.TypeChooseParityCall, sideA)
			}),
		},
		{
			ID: "referee.posted.choice", Level: Should, Needs: []string{refereePlays}, Advice: advice,
			Rule: "A player may acknowledge a call, and post its CHOOSE_PARITY_RESPONSE later, signed: it is taken, and counts (league.v2, dialects).",
			run: forReferee(func(p refereeT) {
				d := p.begin(plan{choose: [2]reaction{received}})
				p.called(d)
				a := p.send(p.choice(d, sideA, protocol.Even))
				p.accepted(a, "")
				p.ends(d)
				if o := p.one(d, protocol.TypeGameOver, sideB).told(); o.choices[playerIDs[sideA]] != "even" {
					p.Fail("the choice that was posted did not count: choices are %v", o.choices)
				}
			}),
		},
		refused("token", "A choice that is posted with a token that nobody was given is refused (4001, E012).", Must, func(_ refereeT, _ *duel, m *protocol.ChooseParityResponse) { m.AuthToken = forged }),
		refused("missing", "A choice that is posted without auth_token is refused (4001, E011).", Must, func(_ refereeT, _ *duel, m *protocol.ChooseParityResponse) { m.AuthToken = "" }),
		refused("other", "A choice that is posted for another player than the token's is refused (4001, E012).", Must, func(_ refereeT, d *duel, m *protocol.ChooseParityResponse) {
			m.Sender, m.AuthToken = protocol.Sender(protocol.RolePlayer, playerIDs[sideB]), d.keys[sideB].Expect
		}),
		refused("match", "A choice that is posted for a match that the referee does not have is refused (4003, E040).", Should, func(_ refereeT, _ *duel, m *protocol.ChooseParityResponse) { m.MatchID = "R0M99" }),
		{
			ID: "referee.posted.late", Level: Should, Needs: asked,
			Rule:   "A choice that is posted when the match is over is refused, and changes nothing (4005, E007).",
			Advice: "Look at the state of the match, not only at its id.",
			run: forReferee(func(p refereeT) {
				p.refused(p.send(p.choice(p.played(plan{}), sideA, protocol.Odd)))
			}),
		},
	}
}

// called waits until the first player was called on.
func (p refereeT) called(d *duel) {
	if !p.until(p.patience(), func() bool { return d.count(protocol.TypeChooseParityCall, sideA) > 0 }) {
		p.Fail("player %s was not called on", playerIDs[sideA])
	}
}

func (p refereeT) fromPlayer(t protocol.Type, d *duel, who int) protocol.Header {
	h := protocol.NewHeader(t, protocol.Sender(protocol.RolePlayer, playerIDs[who]), protocol.Timestamp(time.Now()), "posted-"+d.id)
	h.LeagueID, h.RoundID, h.MatchID, h.GameType, h.AuthToken = p.league, protocol.RoundNumber(d.round), d.id, protocol.GameEvenOdd, d.keys[who].Expect
	return h
}

// choice is that of a player, posted.
func (p refereeT) choice(d *duel, who int, c protocol.Choice) *protocol.ChooseParityResponse {
	return &protocol.ChooseParityResponse{Header: p.fromPlayer(protocol.TypeChooseParityResponse, d, who), PlayerID: playerIDs[who], ParityChoice: c}
}
