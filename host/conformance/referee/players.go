package referee

import (
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/protocol"
)

// A spot is a step of a match: where an agent is sent a message of a type.
type spot struct {
	who int // playerA, playerB or toManager
	typ protocol.Type
}

var (
	joinA, joinB     = spot{playerA, protocol.TypeGameInvitation}, spot{playerB, protocol.TypeGameInvitation}
	chooseA, chooseB = spot{playerA, protocol.TypeChooseParityCall}, spot{playerB, protocol.TypeChooseParityCall}
	overA, overB     = spot{playerA, protocol.TypeGameOver}, spot{playerB, protocol.TypeGameOver}
	errorA, reported = spot{playerA, protocol.TypeGameError}, spot{toManager, protocol.TypeMatchResultReport}
)

// A deviation is how an agent answers a message otherwise than by the protocol, given what it
// would usually answer.
type deviation func(m *match, s *sent, usual kit.Response) kit.Response

// plan says where agents deviate in a match.
type plan map[spot]deviation

// scenarios are the matches that several checks look at. Those of one list are played at the
// same time, since the referee has to wait in them.
var scenarios = []map[string]plan{
	{"win": {}},
	{"tie": {chooseA: edits(choosing(protocol.Odd))}},
	{"declined": {joinA: declines}},
	{"invalid": {chooseA: edits(choosing("both"))}},
	{"both declined": {joinA: declines, joinB: declines}},
	{"busy": {joinA: turns(busy), chooseB: turns(busy)}},
	{"always busy": {joinA: busy}, "end refused": {overA: busy}},
	{"no join": {joinA: silent}, "no choice": {chooseA: silent}, "late": {chooseA: turns(late, waits(replied))}},
	{"verifiable": {joinA: verifies, joinB: verifies}},
	{"verifiable too": {joinA: verifies, joinB: verifies}},
	{"verifiable, busy": {joinA: verifies, joinB: verifies, chooseA: turns(busy)}},
}

// fair are the scenarios in which a number is drawn.
var fair = []string{"win", "tie"}

// react answers a message by the plan of the match.
func (m *match) react(s *sent) kit.Response {
	var answer protocol.Message // an acknowledgement
	switch s.typ {
	case protocol.TypeMatchResultReport:
		answer = kit.Recorded()
	case protocol.TypeGameInvitation:
		answer = m.joins(s.who)
	case protocol.TypeChooseParityCall:
		choice := m.chooses(s.who)
		if s.Fields.Has("draw_commitment") {
			choice.DrawNonce = m.nonces[s.who]
		}
		answer = choice
	}
	if answer != nil {
		answer.Head().ConversationID = "" // that of the request
	}
	usual := kit.Respond(s.Raw, answer)
	if deviate := m.plan[s.spot]; deviate != nil {
		return deviate(m, s, usual)
	}
	return usual
}

// joins returns the acknowledgement of an invitation.
func (m *match) joins(who int) protocol.Message {
	return &protocol.GameJoinAck{
		Header: m.header(protocol.TypeGameJoinAck, who), PlayerID: playerIDs[who], ArrivalTimestamp: protocol.Timestamp(time.Now()),
		Accept: protocol.Some(true), Accepted: protocol.Some(true), Status: protocol.StatusAccepted,
	}
}

// chooses returns the choice of a player: PLAYER_A chooses even and PLAYER_B odd.
func (m *match) chooses(who int) *protocol.ChooseParityResponse {
	c := [2]protocol.Choice{protocol.Even, protocol.Odd}[who]
	return &protocol.ChooseParityResponse{Header: m.header(protocol.TypeChooseParityResponse, who), PlayerID: playerIDs[who], ParityChoice: c, Choice: c}
}

// header returns the header of a message that a player posts.
func (m *match) header(typ protocol.Type, who int) protocol.Header {
	h := protocol.NewHeader(typ, protocol.Sender(protocol.RolePlayer, playerIDs[who]), protocol.Timestamp(time.Now()), "posted-"+m.id)
	h.LeagueID, h.RoundID, h.MatchID, h.GameType, h.AuthToken = kit.League, protocol.RoundNumber(m.round), m.id, protocol.GameEvenOdd, m.keys[who].Expect
	return h
}

// edits changes the usual answer.
func edits(edit kit.Edit) deviation {
	return func(_ *match, _ *sent, usual kit.Response) kit.Response { return usual.Edit(edit) }
}

// choosing is the edit of an answer that makes another choice.
func choosing(c protocol.Choice) kit.Edit {
	return func(msg map[string]any) { msg["parity_choice"], msg["choice"] = c, c }
}

var (
	declines = edits(func(msg map[string]any) {
		msg["accept"], msg["accepted"], msg["status"] = false, false, protocol.StatusRejected
	})
	verifies = edits(kit.Set("draw_scheme", draws.Scheme))
)

// signsRaw signs by the player's own token.
func signsRaw(m *match, s *sent, usual kit.Response) kit.Response {
	return usual.Edit(kit.Set("auth_token", m.peers.tokens[s.who]))
}

// refuses is that of a manager that refuses a report.
func refuses(e *protocol.Error) deviation {
	return func(_ *match, s *sent, _ kit.Response) kit.Response { return kit.Respond(s.Raw, e) }
}

func busy(_ *match, s *sent, _ kit.Response) kit.Response { return kit.RespondBusy(s.Raw) }

func silent(*match, *sent, kit.Response) kit.Response { return kit.Response{Silent: true} }

// received acknowledges that a message has arrived, and no more.
var received = edits(func(msg map[string]any) {
	clear(msg)
	msg["status"] = protocol.StatusAcknowledged
})

// turns answers the first messages in some ways, one after the other, and later ones as usual.
func turns(all ...deviation) deviation {
	return func(m *match, s *sent, usual kit.Response) kit.Response {
		if s.n <= len(all) {
			return all[s.n-1](m, s, usual)
		}
		return usual
	}
}

// waits answers when something holds, and otherwise after a moment.
func waits(holds func(m *match) bool) deviation {
	return func(m *match, _ *sent, usual kit.Response) kit.Response {
		m.peers.Until(m.peers.shortDelay(), func() bool { return holds(m) })
		return usual
	}
}

// replied reports whether the first player has answered a call. The lock is held.
func replied(m *match) bool {
	for _, s := range m.sent {
		if s.spot == chooseA && s.Answered {
			return true
		}
	}
	return false
}

// late answers by another choice than usual when the time of the call is over: the referee has gone
// on without it. If that takes longer than the checks wait, it answers as usual.
func late(m *match, _ *sent, usual kit.Response) kit.Response {
	if m.peers.Until(m.peers.patience(), m.gaveUp) {
		return usual.Edit(choosing(protocol.Odd))
	}
	return usual
}

// gaveUp reports whether the referee has gone on without an answer to its call. The lock is held.
func (m *match) gaveUp() bool { return m.count(chooseA) > 1 || m.count(overB) > 0 }
