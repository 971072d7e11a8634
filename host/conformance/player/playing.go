package player

import (
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

func joinChecks() []kit.Check {
	needs := []string{joinAnswered}
	return []kit.Check{
		check(joinAnswered, kit.Must, nil, "GAME_INVITATION is answered within its deadline (5 s by default) by a GAME_JOIN_ACK that accepts: accept true, or accepted true, or status ACCEPTED, ACK or RECEIVED (GAME_JOIN_ACK).",
			`Answer {"jsonrpc": "2.0", "id": <the request's>, "result": {"protocol": "league.v2", "message_type": "GAME_JOIN_ACK", ..., "accept": true}} with HTTP 200, whatever the method is called.`, joinsMatch),
		check("player.join.match", kit.Should, needs, "GAME_JOIN_ACK has the match_id of the invitation (GAME_JOIN_ACK).",
			"Copy match_id from the request into the answer.", func(t T) { m, a := t.invited(); t.Equal(a, "match_id", m.id) }),
		check("player.join.player", kit.Should, needs, "GAME_JOIN_ACK has the player's own player_id, the one that the manager assigned (GAME_JOIN_ACK).",
			"Keep player_id from the answer to the registration, and put it into every answer.", func(t T) { _, a := t.invited(); t.Equal(a, "player_id", t.ID) }),
		check("player.join.arrival", kit.Should, needs, "GAME_JOIN_ACK has arrival_timestamp, in UTC (GAME_JOIN_ACK).",
			"Add arrival_timestamp, in the format of timestamp.", func(t T) {
				_, a := t.invited()
				if _, err := protocol.ParseTimestamp(a.Message.Text("arrival_timestamp")); err != nil {
					t.Fail("arrival_timestamp is %s: %v", a.Message.Shown("arrival_timestamp"), err)
				}
			}),
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
	t.Registrar.Send(t.Aside(), t.call(m))
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
		check(choiceAnswered, kit.Must, needs[:1], `CHOOSE_PARITY_CALL is answered before its deadline by a CHOOSE_PARITY_RESPONSE whose choice is exactly "even" or "odd"; anything else loses the match (CHOOSE_PARITY_RESPONSE, E004).`,
			`Answer with "parity_choice": "even" or "odd" in lower case, within the deadline. If your player needs longer and a league allows it, try --timeout 30s.`, func(t T) { t.called() }),
		check("player.choice.name", kit.Wild, needs, "The choice is called parity_choice; some players call it choice, which is read too (CHOOSE_PARITY_RESPONSE).",
			"Send the choice under both names, parity_choice and choice: some referees know only one.", func(t T) {
				if _, a := t.called(); a.Message.Text("parity_choice") == "" {
					t.Fail("parity_choice is missing")
				}
			}),
		check("player.choice.match", kit.Should, needs, "CHOOSE_PARITY_RESPONSE has the match_id of the call (CHOOSE_PARITY_RESPONSE).",
			"Copy match_id from the request into the answer.", func(t T) { m, a := t.called(); t.Equal(a, "match_id", m.id) }),
		check("player.choice.player", kit.Should, needs, "CHOOSE_PARITY_RESPONSE has the player's own player_id (CHOOSE_PARITY_RESPONSE).",
			"Keep player_id from the answer to the registration, and put it into every answer.", func(t T) { _, a := t.called(); t.Equal(a, "player_id", t.ID) }),
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
	both := func(look func(t T, m match, a *kit.Answer, typ protocol.Type)) func(*kit.T) {
		return run(func(t T) {
			m, join := t.invited()
			look(t, m, join, protocol.TypeGameJoinAck)
			look(t, m, t.send(t.call(m)), protocol.TypeChooseParityResponse)
		})
	}
	header := func(id string, level kit.Level, rule kit.HeaderRule, needed ...string) kit.Check {
		return rule.Check(id, level, append(needs, needed...), both(func(t T, _ match, a *kit.Answer, typ protocol.Type) {
			rule.Test(t.T, "", a.Message, nil)
			t.Equal(a, "message_type", string(typ))
		}))
	}
	return []kit.Check{
		header("player.answer.header", kit.Should, kit.AnswerHeader),
		header("player.answer.utc", kit.Should, kit.UTC, "player.answer.header"),
		header("player.answer.seconds", kit.Wild, kit.WholeSeconds, "player.answer.utc"),
		{
			ID: "player.answer.sender", Level: kit.Should, Needs: needs,
			Rule:   "An answer that has a sender is signed player:<player_id> (league.v2, header fields).",
			Advice: `Set sender to "player:" and the id that the manager assigned.`,
			Run: both(func(t T, _ match, a *kit.Answer, _ protocol.Type) {
				if a.Message.Has("sender") {
					t.Equal(a, "sender", protocol.Sender(protocol.RolePlayer, t.ID))
				}
			}),
		},
		{
			ID: "player.answer.conversation", Level: kit.Should, Needs: needs,
			Rule:   "All messages of a match share conversation_id: an answer repeats the request's (league.v2, header fields).",
			Advice: "Copy conversation_id from the request into the answer.",
			Run: both(func(t T, m match, a *kit.Answer, _ protocol.Type) {
				if slices.Contains(t.Dialect.Omit, "conversation_id") {
					t.Skip("it is sent messages in %s, which leaves conversation_id out", t.Dialect.Name)
				}
				t.Equal(a, "conversation_id", m.conversation)
			}),
		},
		check("player.answer.token", kit.Should, needs, "An answer in a match is signed: auth_token is the player's own token, or the match key derived from it (league.v2, authentication). A strict referee refuses others.",
			"Keep auth_token from the answer to the registration, and put it into GAME_JOIN_ACK and CHOOSE_PARITY_RESPONSE.", signs),
		{
			ID: "player.answer.media", Level: kit.Should, Needs: needs,
			Rule:   "An answer is sent as application/json (league.v2, transport).",
			Advice: "Set the header Content-Type: application/json.",
			Run: both(func(t T, _ match, a *kit.Answer, _ protocol.Type) {
				given := a.Header.Get("Content-Type")
				if media, _, _ := strings.Cut(given, ";"); !strings.EqualFold(strings.TrimSpace(media), "application/json") {
					t.Fail("Content-Type is %q", given)
				}
			}),
		},
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
