package audit

import (
	"fmt"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

func (e *Evidence) announcement(m *protocol.RoundAnnouncement) {
	e.announced = true
	for _, a := range m.Matches {
		e.pair(a.MatchID, m.RoundID.Number(), a.PlayerAID, a.PlayerBID)
	}
}

// schedule takes the schedule from the answer to a query.
func (e *Evidence) schedule(x *trace.Exchange) {
	a, ok := x.Answer.(*protocol.LeagueQueryResponse)
	if !ok || a.QueryType != protocol.QuerySchedule {
		return
	}
	data, err := protocol.ReadData[protocol.ScheduleData](a)
	if err != nil {
		return
	}
	e.announced = true
	for _, r := range data.Rounds {
		for _, m := range r.Matches {
			e.pair(m.MatchID, r.RoundID.Number(), m.PlayerAID, m.PlayerBID)
		}
	}
}

func (e *Evidence) pair(id string, round int, a, b string) {
	m := e.match(id, round)
	was := m.Players
	if m.announced && (was[0] != a || was[1] != b) {
		e.stray("match %s was announced between %s and %s, and then between %s and %s", id, was[0], was[1], a, b)
	}
	m.announced, m.Players = true, [2]string{a, b}
	e.players[a], e.players[b] = true, true
}

func (e *Evidence) invitation(x *trace.Exchange, m *protocol.GameInvitation) {
	known := e.byID[m.MatchID] != nil
	match := e.match(m.MatchID, m.RoundID.Number())
	if !known && e.announced {
		e.stray("match %s was played without being announced", m.MatchID)
	}
	if e.completed {
		e.stray("the invitation to match %s came after the league was complete", m.MatchID)
	}
	named := ""
	if a, ok := x.Answer.(*protocol.GameJoinAck); ok {
		named = a.PlayerID
	}
	self := e.playerOf(x, named)
	if match.announced || self == "" || m.OpponentID == "" {
		return
	}
	match.Players = [2]string{self, m.OpponentID}
	if m.RoleInMatch == protocol.PlayerB {
		match.Players = [2]string{m.OpponentID, self}
	}
}

func (e *Evidence) call(x *trace.Exchange, m *protocol.ChooseParityCall) {
	match := e.match(m.MatchID, m.RoundID.Number())
	player := e.playerOf(x, m.PlayerID)
	match.asked = append(match.asked, asking{player, x.At, stamp(m.Timestamp), stamp(m.Deadline)})
	if a, ok := x.Answer.(*protocol.ChooseParityResponse); ok {
		match.answer(player, answer{a.Chosen(), x.Latency, x.Status < 300})
	}
}

// late takes the choice of a player who posts it as a request of its own.
func (e *Evidence) late(x *trace.Exchange, m *protocol.ChooseParityResponse) {
	match := e.match(m.MatchID, m.RoundID.Number())
	player := e.playerOf(x, m.PlayerID)
	a := answer{choice: m.Chosen(), taken: x.Refused == nil && x.Failure == ""}
	for _, call := range match.asked {
		if call.player == player {
			a.after = x.At.Add(x.Latency).Sub(call.at)
		}
	}
	match.answer(player, a)
}

// answer keeps the first choice of a player: it is the one that counts.
func (m *Match) answer(player string, a answer) {
	if before, ok := m.answers[player]; ok && before.taken || a.choice == "" {
		return
	}
	m.answers[player] = a
}

func (e *Evidence) fault(x *trace.Exchange, m *protocol.GameError) {
	if protocol.Code(m.ErrorCode) != protocol.CodeTimeout {
		return
	}
	player := m.AffectedPlayer
	if player == "" {
		player = e.playerOf(x, m.PlayerID)
	}
	match := e.match(m.MatchID, m.RoundID.Number())
	match.errors = append(match.errors, claim{player, x.At, stamp(m.Timestamp)})
}

func (e *Evidence) over(x *trace.Exchange, m *protocol.GameOver) {
	known := e.byID[m.MatchID] != nil
	match := e.match(m.MatchID, m.RoundID.Number())
	self := e.playerOf(x, m.PlayerID)
	if !known {
		e.stray("the result of match %s came, and no other message about it before", m.MatchID)
	}
	o, err := m.Outcome(self, match.opponentOf(self))
	t := Telling{To: self, Outcome: o, Wrong: err}
	if r := m.GameResult; r != nil {
		t.Parity = r.NumberParity.Value()
	}
	if x.Direction == jsonrpc.Out && x.Answer == nil && x.Failure != "" {
		return // nobody was told
	}
	match.told = append(match.told, t)
}

func (e *Evidence) report(m *protocol.MatchResultReport) {
	match := e.match(m.MatchID, m.RoundID.Number())
	o, err := m.Outcome(match.Players[0], match.Players[1])
	t := Telling{To: "manager", Outcome: o, Wrong: err}
	if d := m.Result.Details; d != nil {
		t.Parity = d.NumberParity.Value()
	}
	match.told = append(match.told, t)
}

func (m *Match) opponentOf(player string) string {
	switch player {
	case m.Players[0]:
		return m.Players[1]
	case m.Players[1]:
		return m.Players[0]
	}
	return ""
}

// maxStrays bounds how many oddities are kept.
const maxStrays = 100

func (e *Evidence) stray(format string, args ...any) {
	if len(e.strays) < maxStrays {
		e.strays = append(e.strays, fmt.Sprintf(format, args...))
	}
}
