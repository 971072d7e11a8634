package manager

import (
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

// plays answers a message about a match that the manager's own referee conducts,
// as a player does. It reports whether the message is one.
func plays(m *message) (kit.Response, bool) {
	h := protocol.Header{Sender: protocol.Sender(protocol.RolePlayer, m.id), AuthToken: m.to.token, MatchID: m.fields.Text("match_id")}
	switch m.typ {
	case protocol.TypeGameInvitation:
		h.MessageType = protocol.TypeGameJoinAck
		return kit.Respond(m.Raw, &protocol.GameJoinAck{
			Header: h, PlayerID: m.id, ArrivalTimestamp: protocol.Timestamp(time.Now()), Accept: protocol.Some(true),
		}), true
	case protocol.TypeChooseParityCall:
		h.MessageType = protocol.TypeChooseParityResponse
		return kit.Respond(m.Raw, &protocol.ChooseParityResponse{Header: h, PlayerID: m.id, ParityChoice: protocol.Even}), true
	}
	return kit.Response{}, false
}

// conductsMatches is why checks of reports are not made.
const conductsMatches = "the manager accepts no referee and plays the matches itself, so nothing is reported to it"

// watch follows a league whose matches the manager conducts itself, until it
// ends or nothing more is sent.
func (t T) watch() {
	l := t.league
	for n := -1; ; {
		over, now := false, 0
		more := t.Until(t.patience(), func() bool {
			over, now = t.endSent(), len(t.messages)
			return over || now > n || t.Context().Err() != nil
		})
		if over || !more || t.Context().Err() != nil {
			break
		}
		n = now
	}
	t.Lock()
	defer t.Unlock()
	byRound := map[int]*round{}
	for _, m := range t.messages {
		id := m.fields.Text("match_id")
		if m.typ != protocol.TypeGameInvitation && m.typ != protocol.TypeChooseParityCall || id == "" {
			continue
		}
		i := slices.IndexFunc(t.matches, func(known *match) bool { return known.id == id })
		switch {
		case i < 0:
			known := &match{id: id, round: m.round, by: m, players: [2]string{m.id}}
			t.peers.matches = append(t.matches, known)
			if byRound[m.round] == nil {
				byRound[m.round] = &round{number: m.round, spoiled: true, closed: t.events}
				l.rounds = append(l.rounds, byRound[m.round])
			}
			byRound[m.round].matches = append(byRound[m.round].matches, known)
		case t.matches[i].players[0] != m.id && t.matches[i].players[1] == "":
			t.matches[i].players[1] = m.id
		}
	}
	if n := len(t.matches); n < t.pairs() {
		l.stopped = fmt.Sprintf("of %d pairs of players, the manager's own referee invited %d", t.pairs(), n)
	}
}

// reported skips a check of results in a league whose results the suite does not
// know.
func (t T) reported() {
	if t.conducts() {
		t.Skip(conductsMatches)
	}
}
