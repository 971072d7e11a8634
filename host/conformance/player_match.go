package conformance

import (
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
	}
}

func joins(p playerT) {
	b := p.bout()
	a := p.send(p.invitation(b))
	if a.Refused && !p.registered() {
		p.Skip("it is not registered with this manager and refuses the invitation (%s): start it with the manager %s, so that it knows whose referee this is", a, p.manager.url)
	}
	p.accepted(a, protocol.TypeGameJoinAck)
	if !joinsIn(a) {
		p.Fail("the answer does not say that the player joins")
	}
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
