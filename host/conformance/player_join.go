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
