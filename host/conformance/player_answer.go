package conformance

import (
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
)

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
				if slices.Contains(p.dialect.Omit, "conversation_id") {
					p.Skip("it is spoken to in %s, which leaves conversation_id out", p.dialect.Name)
				}
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
	p.needsKeys()
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
