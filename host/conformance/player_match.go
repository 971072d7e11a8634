package conformance

import (
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// The checks that others build on.
const (
	joinAnswered   = "player.join.answer"
	choiceAnswered = "player.choice.answer"
)

// joinChecks are about the invitation to a match.
func joinChecks() []Check {
	return []Check{
		{
			ID: joinAnswered, Level: Must,
			Rule:   "GAME_INVITATION is answered within its deadline (5 s by default) by a GAME_JOIN_ACK that accepts: accept true, or accepted true, or status ACCEPTED, ACK or RECEIVED (GAME_JOIN_ACK).",
			Advice: `Answer {"jsonrpc": "2.0", "id": <the request's>, "result": {"protocol": "league.v2", "message_type": "GAME_JOIN_ACK", ..., "accept": true}} with HTTP 200, whatever the method is called.`,
			run:    forPlayer(joins),
		},
		{
			ID: "player.join.match", Level: Must, Needs: []string{joinAnswered},
			Rule:   "GAME_JOIN_ACK bears the match_id of the invitation (GAME_JOIN_ACK).",
			Advice: "Copy match_id from the request into the answer.",
			run:    forPlayer(func(p playerT) { b, a := p.invited(); p.echoes(a, "match_id", b.id) }),
		},
		{
			ID: "player.join.player", Level: Must, Needs: []string{joinAnswered},
			Rule:   "GAME_JOIN_ACK bears the player's own player_id, the one that the manager gave it (GAME_JOIN_ACK).",
			Advice: "Keep player_id from the answer to the registration, and put it into every answer.",
			run:    forPlayer(func(p playerT) { _, a := p.invited(); p.echoes(a, "player_id", p.id) }),
		},
		{
			ID: "player.join.arrival", Level: Should, Needs: []string{joinAnswered},
			Rule:   "GAME_JOIN_ACK bears arrival_timestamp, in UTC (GAME_JOIN_ACK).",
			Advice: "Add arrival_timestamp, written like timestamp.",
			run: forPlayer(func(p playerT) {
				_, a := p.invited()
				p.instant(a, "arrival_timestamp")
			}),
		},
		{
			ID: "player.join.again", Level: Must, Needs: []string{joinAnswered},
			Rule:   "An invitation that is repeated, since its answer was lost, is accepted again (league.v2, retries).",
			Advice: "Do not refuse a match_id that is known already: answer as before.",
			run:    forPlayer(joinsAgain),
		},
	}
}

func joins(p playerT) {
	b := p.bout()
	a := p.send(p.invitation(b))
	p.accepted(a, protocol.TypeGameJoinAck)
	if !joinsIn(a) {
		p.Fail("the answer does not say that the player joins")
	}
	if id := a.Message.text("player_id"); !p.registered() && protocol.ValidID(id) {
		p.mu.Lock()
		p.id = id // it was told by another manager
		p.mu.Unlock()
	}
	// A player may take a referee that never goes on with a match for one that
	// has not read its answer, and answer in other ways from then on.
	own := &T{ctx: p.ctx, counter: p.counter, side: p.side}
	own.Send(letter{message: p.call(b), dialect: p.dialect})
}

// joinsIn reports whether an answer says that the player joins.
func joinsIn(a *Answer) bool {
	if a.Message.has("accept") {
		return string(a.Message["accept"]) == "true"
	}
	if a.Message.has("accepted") {
		return string(a.Message["accepted"]) == "true"
	}
	switch a.Message.text("status") {
	case protocol.StatusAccepted, "ACK", "RECEIVED":
		return true
	}
	return false
}

// invited begins a match and returns the player's answer, which accepts.
func (p playerT) invited() (bout, *Answer) {
	b := p.bout()
	a := p.send(p.invitation(b))
	p.accepted(a, protocol.TypeGameJoinAck)
	return b, a
}

// echoes ends the check unless an answer bears a member with a value.
func (p playerT) echoes(a *Answer, name, want string) {
	if got := a.Message.text(name); got != want {
		p.Fail("%s is %s, want %q", name, orMissing(a.Message[name]), want)
	}
}

// instant ends the check unless an answer bears a time in UTC.
func (p playerT) instant(a *Answer, name string) {
	text := a.Message.text(name)
	if text == "" {
		p.Fail("%s is %s", name, orMissing(a.Message[name]))
	}
	if _, err := protocol.ParseTimestamp(text); err != nil {
		p.Fail("%s: %v", name, err)
	}
}

func joinsAgain(p playerT) {
	b, _ := p.invited()
	for range 2 {
		a := p.send(p.invitation(b))
		p.accepted(a, protocol.TypeGameJoinAck)
		if !joinsIn(a) {
			p.Fail("the repeated invitation is not accepted")
		}
	}
}

// choiceChecks are about the call for a choice.
func choiceChecks() []Check {
	needs := []string{joinAnswered, choiceAnswered}
	return []Check{
		{
			ID: choiceAnswered, Level: Must, Needs: []string{joinAnswered},
			Rule:   `CHOOSE_PARITY_CALL is answered before the deadline that it names by a CHOOSE_PARITY_RESPONSE whose choice is exactly "even" or "odd"; anything else loses the match (CHOOSE_PARITY_RESPONSE, E004).`,
			Advice: `Answer with "parity_choice": "even" or "odd" in lower case, within the deadline. If it needs longer than was waited here and a league gives more, try --timeout 30s.`,
			run:    forPlayer(func(p playerT) { p.chooses(p.send(p.call(p.joined()))) }),
		},
		{
			ID: "player.choice.name", Level: Wild, Needs: needs,
			Rule:   "The choice is called parity_choice; some players say choice, which is read too (CHOOSE_PARITY_RESPONSE).",
			Advice: "Give the choice under both names, parity_choice and choice: there are referees that know only one.",
			run: forPlayer(func(p playerT) {
				if _, a := p.called(); a.Message.text("parity_choice") == "" {
					p.Fail("parity_choice is missing")
				}
			}),
		},
		{
			ID: "player.choice.match", Level: Must, Needs: needs,
			Rule:   "CHOOSE_PARITY_RESPONSE bears the match_id of the call (CHOOSE_PARITY_RESPONSE).",
			Advice: "Copy match_id from the request into the answer.",
			run:    forPlayer(func(p playerT) { b, a := p.called(); p.echoes(a, "match_id", b.id) }),
		},
		{
			ID: "player.choice.player", Level: Must, Needs: needs,
			Rule:   "CHOOSE_PARITY_RESPONSE bears the player's own player_id (CHOOSE_PARITY_RESPONSE).",
			Advice: "Keep player_id from the answer to the registration, and put it into every answer.",
			run:    forPlayer(func(p playerT) { _, a := p.called(); p.echoes(a, "player_id", p.id) }),
		},
		{
			ID: "player.choice.same", Level: Must, Needs: needs,
			Rule:   "A repeated call for the same match gets the same choice; each try has a JSON-RPC id and a deadline of its own (league.v2, retries).",
			Advice: "Remember the choice by match_id, and answer a repeated call from memory.",
			run:    forPlayer(choosesOnce),
		},
		{
			ID: "player.choice.past", Level: Should, Needs: needs,
			Rule:   "A call is answered even if its deadline is now or past: clocks differ, and the referee decides what is late (observed in real leagues).",
			Advice: "Do not compare the deadline with your own clock to refuse an answer.",
			run: forPlayer(func(p playerT) {
				call := p.call(p.joined())
				call.Deadline = "2020-01-01T00:00:00Z"
				p.chooses(p.send(call))
			}),
		},
		{
			ID: "player.choice.other", Level: Should, Needs: needs,
			Rule:   "A call that names another player_id is refused (E005, PLAYER_NOT_REGISTERED).",
			Advice: "Compare player_id of the call with your own and answer a mismatch by a JSON-RPC error.",
			run: forPlayer(func(p playerT) {
				call := p.call(p.joined())
				call.PlayerID = "P77"
				p.refused(p.send(call))
			}),
		},
		{
			ID: "player.choice.secret", Level: Must, Needs: needs,
			Rule:   "The choice stands in the answer to the call and nowhere else: neither the answer to an invitation nor an acknowledgement bears it.",
			Advice: "Leave the choice out of every message but CHOOSE_PARITY_RESPONSE.",
			run:    forPlayer(keepsChoice),
		},
	}
}

// called has the player join a match and choose, and returns the answer.
func (p playerT) called() (bout, *Answer) {
	b := p.joined()
	a := p.send(p.call(b))
	p.chooses(a)
	return b, a
}

// repeats is how often a player is asked the same again. One that draws its
// answer anew each time is found out but once in 2^repeats.
const repeats = 7

func choosesOnce(p playerT) {
	b, a := p.called()
	chosen := choiceIn(a)
	for range repeats {
		if again := p.chooses(p.send(p.call(b))); again != chosen {
			p.Fail("it chose %s at first and %s when it was asked again in match %s", chosen, again, b.id)
		}
	}
}

func keepsChoice(p playerT) {
	b, before := p.invited()
	p.bearsNoChoice(before)
	p.chooses(p.send(p.call(b)))
	p.bearsNoChoice(p.send(p.invitation(b)))
	p.bearsNoChoice(p.send(p.gameError(b)))
	p.bearsNoChoice(p.send(p.standings()))
}

func (p playerT) bearsNoChoice(a *Answer) {
	if c := choiceIn(a); c != "" {
		p.Fail("%s tells the choice %q", a, c)
	}
}

// answerChecks are about what every answer has in common, tried on the two that
// count.
func answerChecks() []Check {
	needs := []string{joinAnswered, choiceAnswered}
	return []Check{
		{
			ID: "player.answer.header", Level: Must, Needs: needs,
			Rule:   `An answer bears protocol "league.v2", its message_type and a timestamp (league.v2, header fields).`,
			Advice: "Put protocol, message_type and timestamp into every result.",
			run: forPlayer(func(p playerT) {
				p.bothAnswers(func(a *Answer, t protocol.Type) {
					p.echoes(a, "protocol", protocol.Version)
					p.echoes(a, "message_type", string(t))
					if a.Message.text("timestamp") == "" {
						p.Fail("timestamp is %s", orMissing(a.Message["timestamp"]))
					}
				})
			}),
		},
		{
			ID: "player.answer.utc", Level: Must, Needs: append(needs, "player.answer.header"),
			Rule:   "The timestamp of an answer is ISO 8601 in UTC and ends in Z or +00:00 (league.v2, header fields).",
			Advice: `Write the time in UTC; in Python: datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ").`,
			run: forPlayer(func(p playerT) {
				p.bothAnswers(func(a *Answer, _ protocol.Type) { p.instant(a, "timestamp") })
			}),
		},
		{
			ID: "player.answer.seconds", Level: Wild, Needs: append(needs, "player.answer.utc"),
			Rule:   "A timestamp has whole seconds and ends in Z, which is the one spelling that every receiver reads (observed in real leagues).",
			Advice: "Leave the fraction out, and write Z instead of +00:00.",
			run: forPlayer(func(p playerT) {
				p.bothAnswers(func(a *Answer, _ protocol.Type) {
					if stamp := a.Message.text("timestamp"); strings.Contains(stamp, ".") || !strings.HasSuffix(stamp, "Z") {
						p.Fail("timestamp is %q", stamp)
					}
				})
			}),
		},
		{
			ID: "player.answer.sender", Level: Should, Needs: needs,
			Rule:   "An answer that bears a sender is signed player:<player_id> (league.v2, header fields).",
			Advice: `Set sender to "player:" and the id that the manager gave.`,
			run: forPlayer(func(p playerT) {
				p.bothAnswers(func(a *Answer, _ protocol.Type) {
					if a.Message.has("sender") {
						p.echoes(a, "sender", protocol.Sender(protocol.RolePlayer, p.id))
					}
				})
			}),
		},
		{
			ID: "player.answer.conversation", Level: Should, Needs: needs,
			Rule:   "conversation_id is shared by all messages of a match: an answer repeats the request's (league.v2, header fields).",
			Advice: "Copy conversation_id from the request into the answer.",
			run: forPlayer(func(p playerT) {
				b, join := p.invited()
				p.echoes(join, "conversation_id", b.conversation)
				a := p.send(p.call(b))
				p.echoes(a, "conversation_id", b.conversation)
			}),
		},
		{
			ID: "player.answer.token", Level: Should, Needs: needs,
			Rule:   "An answer in a match is signed: auth_token is the player's own token, or the match key that follows from it (league.v2, authentication). A strict referee refuses others.",
			Advice: "Keep auth_token from the answer to the registration, and put it into GAME_JOIN_ACK and CHOOSE_PARITY_RESPONSE.",
			run:    forPlayer(signs),
		},
		{
			ID: "player.answer.media", Level: Should, Needs: needs,
			Rule:   "An answer is sent as application/json (league.v2, transport).",
			Advice: "Set the header Content-Type: application/json.",
			run: forPlayer(func(p playerT) {
				p.bothAnswers(func(a *Answer, _ protocol.Type) {
					given := a.Header.Get("Content-Type")
					if media, _, _ := strings.Cut(given, ";"); !strings.EqualFold(strings.TrimSpace(media), "application/json") {
						p.Fail("Content-Type is %q", given)
					}
				})
			}),
		},
	}
}

// bothAnswers looks at the answers to an invitation and to a call.
func (p playerT) bothAnswers(look func(a *Answer, t protocol.Type)) {
	b, join := p.invited()
	look(join, protocol.TypeGameJoinAck)
	look(p.send(p.call(b)), protocol.TypeChooseParityResponse)
}

func signs(p playerT) {
	p.needsRegistration()
	b := p.bout()
	keys := p.verifier.MatchKeys(p.league, b.id, b.referee)
	for _, m := range []protocol.Message{p.invitation(b), p.call(b)} {
		a := p.send(m)
		p.accepted(a, "")
		signed := a.Message.text("auth_token")
		if !keys.AcceptsPlayer(signed, p.league, b.id, b.referee) {
			p.Fail("auth_token is %s, which is neither the player's token nor the key of match %s", orMissing(a.Message["auth_token"]), b.id)
		}
	}
}

// needsRegistration skips a check that says nothing of a player that was given
// no token.
func (p playerT) needsRegistration() {
	if !p.registered() {
		p.Skip("the player has no token of this manager: start it with the manager %s", p.manager.url)
	}
}

// rpcChecks are about the frame of JSON-RPC.
func rpcChecks() []Check {
	needs := []string{joinAnswered}
	id := func(name, id, what string) Check {
		return Check{
			ID: "player.rpc." + name, Level: Must, Needs: needs,
			Rule:   "An answer bears the id of its request with its type kept: " + what + " (JSON-RPC 2.0, response object).",
			Advice: "Take the id as it was parsed and write it back; never convert it.",
			run: forPlayer(func(p playerT) {
				if p.dialect.Request.Bare {
					p.Skip("it registered without JSON-RPC and is spoken to so")
				}
				a := p.Send(letter{message: p.invitation(p.bout()), dialect: p.dialect, id: id})
				p.accepted(a, protocol.TypeGameJoinAck)
				if got := string(a.Document["id"]); got != id {
					p.Fail("the id %s came back as %s", id, orMissing(a.Document["id"]))
				}
			}),
		}
	}
	return []Check{
		id("string", `"42"`, "a string stays a string, also one of digits"),
		id("number", `42`, "a number stays a number"),
		id("large", `9007199254740993`, "a number beyond 2^53 keeps its digits"),
		{
			ID: "player.rpc.version", Level: Should, Needs: needs,
			Rule:   `An answer bears jsonrpc "2.0" and exactly one of result and error (JSON-RPC 2.0, response object).`,
			Advice: `Add "jsonrpc": "2.0", and leave out error beside a result.`,
			run:    forPlayer(framed),
		},
		{
			ID: "player.rpc.noid", Level: Should, Needs: needs,
			Rule:   "A request of the league without an id is refused with id null (league.v2, transport).",
			Advice: "Answer an invitation without id by the error -32600 with id null.",
			run:    forPlayer(wantsRequestID),
		},
	}
}

func framed(p playerT) {
	_, a := p.invited()
	if slices.Contains([]string{protocol.DialectBare, "request"}, a.Wrapping) {
		p.Skip("its answers are no JSON-RPC responses")
	}
	if v := a.Document.text("jsonrpc"); v != "2.0" {
		p.Fail("jsonrpc is %s", orMissing(a.Document["jsonrpc"]))
	}
	if _, both := a.Document["error"]; both {
		p.Fail("error stands beside result; many callers take that for a failure, even if it is null")
	}
}

func wantsRequestID(p playerT) {
	if p.dialect.Request.Bare {
		p.Skip("it registered without JSON-RPC and is spoken to so")
	}
	var doc map[string]any
	decode(p.body(letter{message: p.invitation(p.bout()), dialect: p.dialect, id: `"` + jsonrpc.RandomID() + `"`}), &doc)
	delete(doc, "id")
	a := ReadAnswer(p.Post(encode(doc), nil))
	p.refused(a)
	if a.Document != nil && a.Document.has("id") {
		p.Fail("it is refused with the id %s, want null", a.Document["id"])
	}
}
