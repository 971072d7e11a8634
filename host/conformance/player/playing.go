package player

import (
	"slices"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

func joinChecks() []kit.Check {
	needs := []string{joinAnswered}
	return []kit.Check{
		check(joinAnswered, kit.Must, nil, "GAME_INVITATION is answered within its deadline (5 s by default) by a GAME_JOIN_ACK that accepts: accept true, or accepted true, or status ACCEPTED, ACK or RECEIVED (GAME_JOIN_ACK).",
			`Answer {"jsonrpc": "2.0", "id": <the request's>, "result": {"protocol": "league.v2", "message_type": "GAME_JOIN_ACK", ..., "accept": true}} with HTTP 200, whatever the method is called.`, joinsMatch),
		kit.FieldsCheck("player.join.fields", protocol.TypeGameJoinAck, needs, run(func(t T) {
			_, a := t.invited()
			t.Valid(a.Message, protocol.TypeGameJoinAck, true)
		})),
		check("player.join.again", kit.Should, needs, "An invitation that is repeated because its answer was lost is accepted again (league.v2, retries).",
			"Do not refuse a known match_id: answer as before.", joinsAgain),
	}
}

func joinsMatch(t T) {
	m := t.begin()
	a := t.send(t.invitation(m))
	t.Accepted(a, protocol.TypeGameJoinAck)
	if !joins(a) {
		t.Fail("the answer does not accept the invitation")
	}
	if id := a.Message.Text("player_id"); !t.Registered() && protocol.ValidID(id) {
		t.Lock()
		t.ID = id // another manager has assigned it
		t.Unlock()
	}
	// A player may conclude from a match that never continues that its answers
	// are not understood, and change them.
	t.Aside().Send(kit.Request{Message: t.call(m)})
}

func joinsAgain(t T) {
	m := t.joined()
	for range 2 {
		a := t.send(t.invitation(m))
		t.Accepted(a, protocol.TypeGameJoinAck)
		if !joins(a) {
			t.Fail("the repeated invitation is not accepted")
		}
	}
}

func choiceChecks() []kit.Check {
	needs := []string{joinAnswered, choiceAnswered}
	return []kit.Check{
		check(choiceAnswered, kit.Must, needs[:1], `CHOOSE_PARITY_CALL is answered before its deadline by a CHOOSE_PARITY_RESPONSE whose choice is even or odd, however it is spelled; anything else loses the match (CHOOSE_PARITY_RESPONSE, E004).`,
			`Answer with "parity_choice": "even" or "odd" in lower case, within the deadline. If your player needs longer and a league allows it, try --timeout 30s.`, func(t T) { t.called() }),
		kit.FieldsCheck("player.choice.fields", protocol.TypeChooseParityResponse, needs, run(func(t T) {
			_, a := t.called()
			t.Valid(a.Message, protocol.TypeChooseParityResponse, true)
		})),
		check("player.choice.same", kit.Should, needs, "A repeated call for the same match gets the same choice; each attempt has a JSON-RPC id and a deadline of its own (league.v2, retries).",
			"Remember the choice by match_id, and answer a repeated call from memory.", choosesOnce),
		check("player.choice.past", kit.Should, needs, "A call is answered even if its deadline is now or past: clocks differ, and the referee decides what is late (observed in real leagues).",
			"Do not compare the deadline with your own clock to refuse an answer.", func(t T) {
				call := t.call(t.joined())
				call.Deadline = "2020-01-01T00:00:00Z"
				t.chooses(t.send(call))
			}),
		check("player.choice.other", kit.Wild, needs, "A call with another player_id is refused (E005, PLAYER_NOT_REGISTERED).",
			"Compare player_id of the call with your own and answer a mismatch by a JSON-RPC error.", func(t T) {
				t.NeedsRegistration(t.T)
				call := t.call(t.joined())
				call.PlayerID = "P77"
				t.Refused(t.send(call))
			}),
		check("player.choice.secret", kit.Should, needs, "Only the answer to the call has the choice: neither the answer to an invitation nor an acknowledgement has it.",
			"Leave the choice out of every message but CHOOSE_PARITY_RESPONSE.", keepsChoice),
	}
}

// repeats is how often a player is sent the same call. A player that chooses
// at random each time goes undetected once in 2^repeats.
const repeats = 7

func choosesOnce(t T) {
	m, a := t.called()
	chosen := choiceIn(a)
	for range repeats {
		if again := t.chooses(t.send(t.call(m))); again != chosen {
			t.Fail("it chose %s at first and %s when asked again in match %s", chosen, again, m.id)
		}
	}
}

func keepsChoice(t T) {
	silent := func(a *kit.Answer) {
		if c := choiceIn(a); c != "" {
			t.Fail("%s reveals the choice %q", a, c)
		}
	}
	m, before := t.invited()
	silent(before)
	t.chooses(t.send(t.call(m)))
	silent(t.send(t.invitation(m)))
	silent(t.send(t.gameError(m)))
	silent(t.send(t.standings()))
}

// answerChecks are about what every answer has in common, tested on the two
// that matter.
func answerChecks() []kit.Check {
	needs := []string{joinAnswered, choiceAnswered}
	both := func(look func(t T, m match, a *kit.Answer)) func(t T) {
		return func(t T) {
			m, join := t.invited()
			look(t, m, join)
			look(t, m, t.send(t.call(m)))
		}
	}
	return []kit.Check{
		check("player.answer.match", kit.Should, needs, "An answer is about the match of its request and from the player itself: match_id, player_id and sender, where it has them (GAME_JOIN_ACK, CHOOSE_PARITY_RESPONSE).",
			"Copy match_id from the request; keep player_id from the answer to the registration, and put it into every answer.", both(func(t T, m match, a *kit.Answer) {
				t.Agrees(a.Message, map[string]string{"match_id": m.id, "player_id": t.ID, "sender": protocol.Sender(protocol.RolePlayer, t.ID)})
			})),
		check("player.answer.seconds", kit.Wild, append(needs, "player.join.fields", "player.choice.fields"), kit.WholeSeconds.Rule, kit.WholeSeconds.Advice, both(func(t T, _ match, a *kit.Answer) {
			kit.WholeSeconds.Test(t.T, "", a.Message, nil)
		})),
		check("player.answer.conversation", kit.Should, needs, "All messages of a match share conversation_id: an answer repeats the request's (league.v2, header fields).",
			"Copy conversation_id from the request into the answer.", both(func(t T, m match, a *kit.Answer) {
				if d := t.T.Session.Peer().Speaks(); slices.Contains(d.Omit, "conversation_id") {
					t.Skip("it is sent messages in %s, which leaves conversation_id out", d.Name)
				}
				t.Equal(a, "conversation_id", m.conversation)
			})),
		check("player.answer.token", kit.Should, needs, "An answer in a match is signed: auth_token is the player's own token, or the match key derived from it (league.v2, authentication). A strict referee refuses others.",
			"Keep auth_token from the answer to the registration, and put it into GAME_JOIN_ACK and CHOOSE_PARITY_RESPONSE.", signs),
		check("player.answer.media", kit.Should, needs, "An answer is sent as application/json (league.v2, transport).", "Set the header Content-Type: application/json.",
			both(func(t T, _ match, a *kit.Answer) {
				if given := a.Header.Get("Content-Type"); !kit.IsJSON(given) {
					t.Fail("Content-Type is %q", given)
				}
			})),
	}
}

func signs(t T) {
	t.needsKeys()
	m := t.begin()
	keys := t.Verifier.MatchKeys(kit.League, m.id, m.referee)
	for _, request := range []protocol.Message{t.invitation(m), t.call(m)} {
		a := t.send(request)
		t.Accepted(a, "")
		if !keys.AcceptsPlayer(a.Message.Text("auth_token"), kit.League, m.id, m.referee) {
			t.Fail("auth_token is %s, which is neither the player's token nor the key of match %s", a.Message.Shown("auth_token"), m.id)
		}
	}
}

func authChecks() []kit.Check {
	needs := []string{choiceAnswered}
	signed := func(name, rule, advice string, test func(t T)) kit.Check {
		needs := needs
		if name == "manager" {
			needs = []string{choiceAnswered, acksStandings}
		}
		return check("player.auth."+name, kit.Should, needs, rule, advice, func(t T) {
			t.needsKeys()
			test(t)
		})
	}
	refusesCall := func(edit kit.Edit) func(t T) {
		return func(t T) { t.Refused(t.send(t.call(t.joined()), edit)) }
	}
	const compare = "Keep the auth_token of the invitation with the match, and refuse messages about it that have another (error 4001). Better, calculate the match key as league.v2 describes, and compare with that."
	return []kit.Check{
		signed("token", "A call with another auth_token than the match's is refused (4001, E012).", compare, refusesCall(kit.Set("auth_token", kit.Forged))),
		signed("missing", "A call without auth_token is refused in a match that was opened with one (4001, E011).", compare, refusesCall(kit.Delete("auth_token"))),
		signed("referee", "A call by another referee than the match's is refused, even if it has the match's token (4001, E012).",
			"Keep the sender of the invitation with the match, and compare it.", refusesCall(kit.Set("sender", protocol.Sender(protocol.RoleReferee, kit.OtherReferee)))),
		signed("player", "A call signed by a player is refused: players do not call each other (4001, E012).",
			"Refuse match messages whose sender does not begin with referee:.", refusesCall(kit.Set("sender", protocol.Sender(protocol.RolePlayer, "P02")))),
		signed("manager", "A league message whose auth_token is not the manager's is refused, once the manager has shown its token (3001, E012).",
			"Keep the auth_token of the first message from the manager, and refuse league messages that have another.",
			func(t T) {
				m := t.standings()
				t.Accepted(t.send(m), "")
				m.AuthToken = kit.Forged
				t.Refused(t.send(m))
			}),
		kit.QuietCheck(kit.Player, needs, func(t *kit.T) kit.Request {
			p := with(t)
			p.needsKeys()
			return kit.Request{Message: p.call(p.joined())}
		}),
		check("player.auth.then", kit.Should, needs[:1], "A refused call changes nothing: the referee's own call is answered afterwards.",
			"Check the token before you store anything of the message.", func(t T) {
				m := t.joined()
				bad := t.call(m)
				bad.AuthToken = kit.Forged
				t.send(bad)
				t.chooses(t.send(t.call(m)))
			}),
	}
}

func stateChecks() []kit.Check {
	return []kit.Check{
		check("player.state.others", kit.Wild, []string{joinAnswered, "player.round.ack"}, "An invitation to a match that the manager has announced between two others is refused (4002, E005).",
			"Keep the matches of ROUND_ANNOUNCEMENT, and refuse invitations to those of others.", refusesOthers),
		check("player.state.uninvited", kit.Should, []string{choiceAnswered, "player.answer.match"}, "A call for a match without an invitation is answered with a choice for that match, or refused (4003, E040).",
			"Do not let the program fail on an unknown match_id.", func(t T) {
				m := t.begin()
				a := t.send(t.call(m))
				t.readable(a)
				if !a.Refused {
					t.sameMatch(a, m)
				}
			}),
		check("player.state.late", kit.Should, []string{choiceAnswered, "player.choice.same"}, "A call after GAME_OVER gets the choice that was made, or is refused; never another choice.",
			"Keep the choices of matches that are over.", answersLate),
	}
}

func refusesOthers(t T) {
	t.NeedsRegistration(t.T)
	m := t.newMatch()
	m.conversation, m.opponent = "", "P98"
	round := t.announcement(m)
	round.Matches[0].PlayerAID, round.Matches[0].PlayerBID = "P97", "P98"
	t.Accepted(t.send(round), "")
	t.Refused(t.send(t.invitation(m)))
}

func answersLate(t T) {
	const repeats = 7
	m, a := t.called()
	chosen := choiceIn(a)
	t.send(t.over(m, chosen))
	for range repeats {
		late := t.send(t.call(m))
		t.readable(late)
		if c := choiceIn(late); c != "" && c != chosen {
			t.Fail("it chose %s in match %s, and %s when asked again after the end", chosen, m.id, c)
		}
	}
}

// forgedEndCheck comes late, because a player that believes the message may
// leave.
func forgedEndCheck() kit.Check {
	return check("player.auth.completed", kit.Should, []string{choiceAnswered, "player.hostile.then"}, "LEAGUE_COMPLETED is believed from the manager only: one signed by a referee is refused, and the player plays on (league.v2, authentication).",
		"Refuse league messages whose sender is not league_manager or whose auth_token is not the one that the manager has shown before (error 3001).", func(t T) {
			t.needsKeys()
			m := t.joined()
			end := t.LeagueCompleted(t.players()...)
			end.AuthToken = t.Verifier.MatchKeys(kit.League, m.id, m.referee).Send
			t.Refused(t.send(end, kit.Set("sender", protocol.Sender(protocol.RoleReferee, m.referee))))
			t.chooses(t.send(t.call(m)))
		})
}

func noticeChecks() []kit.Check {
	const acksOver = "player.over.ack"
	acked := func(id string, typ protocol.Type, needs []string, send func(t T) *kit.Answer) kit.Check {
		return kit.AckCheck(id, typ, needs, func(t *kit.T) *kit.Answer { return send(with(t)) })
	}
	return []kit.Check{
		acked("player.round.ack", protocol.TypeRoundAnnouncement, nil, func(t T) *kit.Answer { return t.send(t.announcement(t.newMatch())) }),
		acked(acksStandings, protocol.TypeLeagueStandingsUpdate, nil, func(t T) *kit.Answer { return t.send(t.standings()) }),
		acked("player.roundend.ack", protocol.TypeRoundCompleted, nil, func(t T) *kit.Answer { return t.send(t.RoundCompleted()) }),
		acked(acksOver, protocol.TypeGameOver, []string{joinAnswered, choiceAnswered}, func(t T) *kit.Answer {
			m, a := t.called()
			return t.send(t.over(m, choiceIn(a)))
		}),
		check("player.over.forms", kit.Should, []string{acksOver}, "GAME_OVER is accepted for every way a match can end: a tie (DRAW), and a technical loss, in which drawn_number, number_parity and winner_player_id may be null and choices empty.",
			"Read of the result what you need, and only if it is there.", sendsEveryResult),
		check("player.over.again", kit.Should, []string{acksOver}, "A GAME_OVER that is repeated because its acknowledgement was lost is acknowledged again.",
			"Answer a match that is over as the first time.", func(t T) {
				m, a := t.called()
				over := t.over(m, choiceIn(a))
				t.Accepted(t.send(over), protocol.TypeGameOver.Answer())
				t.Accepted(t.send(over), protocol.TypeGameOver.Answer())
			}),
		acked("player.error.ack", protocol.TypeGameError, []string{joinAnswered}, func(t T) *kit.Answer { return t.send(t.gameError(t.joined())) }),
		check("player.error.then", kit.Must, []string{choiceAnswered}, "A GAME_ERROR that announces a retry does not end the match: the call that follows is answered (league.v2, retries).",
			"Treat GAME_ERROR as information; a match ends with GAME_OVER.", func(t T) {
				m := t.joined()
				t.send(t.gameError(m))
				t.chooses(t.send(t.call(m)))
			}),
		check("player.ack.fields", kit.Wild, []string{acksStandings}, "An acknowledgement has status ACKNOWLEDGED and the player's player_id.",
			`Add "status": "ACKNOWLEDGED" and "player_id" to acknowledgements.`, func(t T) {
				a := t.send(t.standings())
				t.Says(a.Message, map[string]string{"status": protocol.StatusAcknowledged, "player_id": t.ID})
			}),
	}
}

func sendsEveryResult(t T) {
	m, a := t.called()
	own := choiceIn(a)
	tie := t.over(m, own)
	tie.GameResult.Status, tie.GameResult.WinnerPlayerID = protocol.StatusDraw, protocol.Null[string]()
	tie.GameResult.Choices = map[string]protocol.Choice{t.ID: own, m.opponent: own}
	t.Accepted(t.send(tie), protocol.TypeGameOver.Answer())

	m, _ = t.called()
	both := t.over(m, own)
	both.GameResult = &protocol.GameResult{
		Status: protocol.StatusTechnicalLoss, WinnerPlayerID: protocol.Null[string](), DrawnNumber: protocol.Null[int](), NumberParity: protocol.Null[string](),
		Choices: map[string]protocol.Choice{}, TechnicalLossPlayerIDs: []string{t.ID, m.opponent}, Reason: "neither player chose in time",
	}
	t.Accepted(t.send(both), protocol.TypeGameOver.Answer())
}

// Play implements kit.Peers: our own referee conducts a match of the player against our
// own player.
func (p *peers) Play(own *kit.T) kit.Play {
	t, c := with(own), own.Session.Company(own.Context())
	defer c.Close() // what it could not end shows in what follows
	over := make(chan referee.Event, 1)
	conducts, err := c.Referee("REF09", func(e referee.Event) { over <- e })
	if err != nil {
		return kit.NotTried(err.Error())
	}
	opponent, err := c.Player("P99", kit.NewToken("P99"), func(player.Event) {})
	if err != nil {
		return kit.NotTried(err.Error())
	}
	m := t.newMatch()
	m.referee, m.opponent = conducts.ID, opponent.ID
	a := t.announcement(m)
	match := &a.Matches[0]
	match.RefereeEndpoint = conducts.Endpoint.URL
	if !t.mute.Load() {
		t.Aside().Send(kit.Request{Message: a})
	}
	keys := [2]credential.KeyPair{p.Verifier.MatchKeys(kit.League, m.id, m.referee), credential.NewVerifier(opponent.Token).MatchKeys(kit.League, m.id, m.referee)}
	keys[0].Optional, keys[1].Optional = true, true // as for every player of a tolerant league
	match.PlayerAEndpoint, match.PlayerBEndpoint, match.PlayerAKeys, match.PlayerBKeys = own.Session.URL, opponent.Endpoint.URL, &keys[0], &keys[1]
	if err := c.Announce(conducts, a); err != nil {
		return kit.NotTried(err.Error())
	}
	select {
	case e := <-over:
		switch fault := e.Sides[0].Fault; {
		case fault == game.NoFault:
			return kit.Played
		case !p.Registered() && with(own.Aside()).send(t.invitation(t.newMatch())).Refused:
			return kit.NotTried("the player is not registered with this manager, and refuses our referee")
		default:
			return kit.CouldNot("in a match that our referee conducted, it had a technical loss: %v: %s", fault, e.Error)
		}
	case <-own.Context().Done():
		return kit.NotTried("the checks were canceled")
	}
}
