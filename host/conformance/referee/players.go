package referee

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// A reaction is how an agent answers a message of the referee.
type reaction func(m *match, s *sent) kit.Response

// plan says how the agents react in a match. Where it is nil they follow the
// protocol; PLAYER_A then chooses even and PLAYER_B odd.
type plan struct {
	join, choose, over [2]reaction
	report             reaction
}

// scenarios are the matches that several checks look at.
func scenarios() map[string]plan {
	return map[string]plan{
		"win":              {},
		"tie":              {choose: [2]reaction{choosing(protocol.Odd), choosing(protocol.Odd)}},
		"declined":         {join: [2]reaction{declines}},
		"invalid":          {choose: [2]reaction{choosing(protocol.Even, func(msg map[string]any) { msg["parity_choice"], msg["choice"] = "both", "both" })}},
		"both declined":    {join: [2]reaction{declines, declines}},
		"busy":             {join: [2]reaction{atFirst(busy, joining())}, choose: [2]reaction{playerB: atFirst(busy, choosing(protocol.Odd))}},
		"always busy":      {join: [2]reaction{busy}},
		"no join":          {join: [2]reaction{noAnswer}},
		"no choice":        {choose: [2]reaction{noAnswer}},
		"end refused":      {over: [2]reaction{busy}},
		"just in time":     lastMoment(beforeDeadline),
		"choice too late":  {choose: [2]reaction{tooLate}},
		"verifiable":       verifiable(adding(protocol.Even)),
		"verifiable too":   verifiable(adding(protocol.Even)),
		"verifiable, busy": verifiable(atFirst(busy, adding(protocol.Even))),
	}
}

// slow are scenarios in which the referee has to wait. Those of one list are
// played at the same time.
func slow() [][]string {
	return [][]string{{"always busy", "end refused"}, {"no join", "no choice", "just in time", "choice too late"}}
}

// fair are the scenarios in which a number is drawn.
var fair = []string{"win", "tie"}

func (m *match) react(s *sent) kit.Response {
	planned, usual := reaction(nil), reaction(func(_ *match, s *sent) kit.Response { return kit.Respond(s.Raw, nil) })
	switch {
	case s.who == toManager:
		planned, usual = m.plan.report, acknowledges
	case s.Type == protocol.TypeGameInvitation:
		planned, usual = m.plan.join[s.who], joining()
	case s.Type == protocol.TypeChooseParityCall:
		planned, usual = m.plan.choose[s.who], choosing([2]protocol.Choice{protocol.Even, protocol.Odd}[s.who])
	case s.Type == protocol.TypeGameOver:
		planned = m.plan.over[s.who]
	}
	if planned == nil {
		planned = usual
	}
	return planned(m, s)
}

// joins returns the acknowledgement of an invitation.
func (m *match) joins(who int) protocol.Message {
	return &protocol.GameJoinAck{
		Header: m.header(protocol.TypeGameJoinAck, who), PlayerID: playerIDs[who], ArrivalTimestamp: protocol.Timestamp(time.Now()),
		Accept: protocol.Some(true), Accepted: protocol.Some(true), Status: protocol.StatusAccepted,
	}
}

func (m *match) chooses(who int, c protocol.Choice) *protocol.ChooseParityResponse {
	return &protocol.ChooseParityResponse{Header: m.header(protocol.TypeChooseParityResponse, who), PlayerID: playerIDs[who], ParityChoice: c, Choice: c}
}

// header returns the header of a message that a player posts.
func (m *match) header(typ protocol.Type, who int) protocol.Header {
	h := protocol.NewHeader(typ, protocol.Sender(protocol.RolePlayer, playerIDs[who]), protocol.Timestamp(time.Now()), "posted-"+m.id)
	h.LeagueID, h.RoundID, h.MatchID, h.GameType, h.AuthToken = kit.League, protocol.RoundNumber(m.round), m.id, protocol.GameEvenOdd, m.keys[who].Expect
	return h
}

func joining(edits ...kit.Edit) reaction {
	return func(m *match, s *sent) kit.Response { return s.reply(m.joins(s.who)).Edit(edits...) }
}

func choosing(c protocol.Choice, edits ...kit.Edit) reaction {
	return func(m *match, s *sent) kit.Response { return s.reply(m.chooses(s.who, c)).Edit(edits...) }
}

// reply answers in the conversation of the request.
func (s *sent) reply(m protocol.Message) kit.Response {
	m.Head().ConversationID = ""
	return kit.Respond(s.Raw, m)
}

// signingRaw is a reaction that is signed by the player's own token.
func signingRaw(answer func(...kit.Edit) reaction) reaction {
	return func(m *match, s *sent) kit.Response {
		return answer(kit.Set("auth_token", m.peers.tokens[s.who]))(m, s)
	}
}

func acknowledges(_ *match, s *sent) kit.Response { return kit.Respond(s.Raw, kit.Recorded()) }

// refusing is a manager that refuses a report.
func refusing(e *protocol.Error) reaction {
	return func(_ *match, s *sent) kit.Response { return kit.Respond(s.Raw, e) }
}

var declines = joining(func(msg map[string]any) {
	msg["accept"], msg["accepted"], msg["status"] = false, false, protocol.StatusRejected
})

func busy(_ *match, s *sent) kit.Response { return kit.RespondBusy(s.Raw) }

func noAnswer(*match, *sent) kit.Response { return kit.Response{Delay: time.Hour} }

// received acknowledges that a message has arrived, and no more.
func received(_ *match, s *sent) kit.Response {
	id := []byte(kit.Object(s.Raw)["id"])
	if id == nil {
		id = []byte(`"` + jsonrpc.RandomID() + `"`)
	}
	return kit.Response{Body: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"status":"ACKNOWLEDGED"}}`, id)}
}

// atFirst answers the first message of a type in one way, and repetitions in another.
func atFirst(first, later reaction) reaction {
	return func(m *match, s *sent) kit.Response {
		if s.n == 1 {
			return first(m, s)
		}
		return later(m, s)
	}
}

// waiting reacts when something holds, and otherwise after a moment.
func waiting(holds func(m *match) bool, then reaction) reaction {
	return func(m *match, s *sent) kit.Response {
		m.peers.Until(m.peers.shortDelay(), func() bool { return holds(m) })
		return then(m, s)
	}
}

// beforeDeadline is how long before its deadline a player answers that uses its
// time: a message takes some time to arrive.
const beforeDeadline = 250 * time.Millisecond

// lastMoment is a match in which a player uses its time but for a moment: it answers then, or in
// the middle of its time if that is later; at once if the deadline is past, or later than the
// checks wait.
func lastMoment(moment time.Duration) plan {
	return plan{choose: [2]reaction{atFirst(func(m *match, s *sent) kit.Response {
		if left, ok := s.left(); ok && left <= m.peers.Session.Timeout {
			m.peers.Until(max(left-moment, left/2), func() bool { return m.count(protocol.TypeGameOver, playerB) > 0 })
		}
		return choosing(protocol.Even)(m, s)
	}, choosing(protocol.Even))}}
}

// left returns how much time a call gives, counted from its arrival. Because
// clocks may differ, it also compares the deadline with the call's timestamp.
func (s *sent) left() (time.Duration, bool) {
	deadline, err := protocol.ParseTimestamp(s.fields.Text("deadline"))
	if err != nil {
		return 0, false
	}
	left := deadline.Sub(s.At)
	if stamp, err := protocol.ParseTimestamp(s.fields.Text("timestamp")); err == nil {
		left = min(left, deadline.Sub(stamp))
	}
	return left, left > 0
}

// tooLate answers the first call with another choice than the next, when its time is over: the
// referee has given up on it. If that takes longer than the checks wait, it answers in time.
func tooLate(m *match, s *sent) kit.Response {
	if s.n > 1 {
		// The late answer is on its way before this one.
		m.peers.Until(m.peers.Session.Timeout, func() bool { return m.replied(playerA) })
		return choosing(protocol.Even)(m, s)
	}
	gaveUp := func() bool {
		m.late.Store(m.count(protocol.TypeChooseParityCall, playerA) > 1 || m.count(protocol.TypeGameOver, playerB) > 0)
		return m.late.Load()
	}
	if !m.peers.Until(m.peers.patience(), gaveUp) {
		return choosing(protocol.Even)(m, s)
	}
	return choosing(protocol.Odd)(m, s)
}

// verifiable is a match of two players that understand verifiable draws, of which the
// first answers the calls for its choice in some way.
func verifiable(first reaction) plan {
	join := joining(kit.Set("draw_scheme", draws.Scheme))
	return plan{join: [2]reaction{join, join}, choose: [2]reaction{first, adding(protocol.Odd)}}
}

// adding chooses, and adds to the draw what the player adds however often it is asked.
func adding(c protocol.Choice) reaction {
	return func(m *match, s *sent) kit.Response {
		sum := sha256.Sum256([]byte(m.id + m.keys[s.who].Send))
		return choosing(c, kit.Set("draw_nonce", hex.EncodeToString(sum[:16])))(m, s)
	}
}
