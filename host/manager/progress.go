package manager

import (
	"context"
	"time"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// Progress is how far a match is that a referee in another process conducts, by its word:
// for people who watch, and of no effect on the league. The arrays are of A and B.
type Progress struct {
	Match    string    `json:"match_id"`
	Players  [2]string `json:"players"`
	Asked    [2]bool   `json:"asked"` // for its choice
	Chosen   [2]bool   `json:"chosen"`
	Retried  [2]bool   `json:"retried"`           // it had to be asked again
	Deadline time.Time `json:"deadline,omitzero"` // for the choices, by the manager's clock
	Faults   [2]string `json:"faults"`            // why it has lost, which the result does not say; empty if it has not
}

// progressed hands on what a referee says of its matches. What it says of others, or of
// matches that are over, counts for nothing.
func (m *Manager) progressed(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
	from := in.From.(caller)
	msg, err := wire.Decode[*protocol.MatchProgress](in)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if list := m.readProgress(msg, from.agent); len(list) > 0 {
		m.emit(Event{Kind: MatchesProgressed, Agent: from.agent.id, Role: from.role, Name: from.agent.reg.Name, Round: m.state.round(), Progress: list})
	}
	return &protocol.Ack{
		Header: protocol.Header{MessageType: in.Type.Answer(), LeagueID: m.cfg.LeagueID}, Status: protocol.StatusAcknowledged,
	}, nil
}

// readProgress returns what a message says of matches that are the referee's. It is
// called with m.mu held.
func (m *Manager) readProgress(msg *protocol.MatchProgress, referee *member) (list []Progress) {
	if m.state.schedule == nil || msg.LeagueID != "" && msg.LeagueID != m.cfg.LeagueID {
		return nil
	}
	for i := range msg.Matches {
		told := &msg.Matches[i]
		p, known := m.state.schedule.Find(told.MatchID)
		if !known || p.Round != m.state.round() || m.state.matches[p.Index].referee != referee {
			continue
		}
		if m.state.matches[p.Index].outcome.over() && len(told.Faults) == 0 {
			continue
		}
		players := [2]string{m.state.seats[p.A].id, m.state.seats[p.B].id}
		one := Progress{Match: p.ID, Players: players}
		mark := func(ids []string, sides *[2]bool) {
			for _, id := range ids {
				for side, player := range players {
					sides[side] = sides[side] || id == player
				}
			}
		}
		mark(told.Asked, &one.Asked)
		mark(told.Chosen, &one.Chosen)
		mark(told.Retried, &one.Retried)
		for side, player := range players {
			one.Faults[side] = told.Faults[player]
		}
		if left, said := told.TimeLeftMS.Get(); said && left >= 0 && int64(left) <= longestChoice.Milliseconds() {
			one.Deadline = m.cfg.Now().Add(time.Duration(left) * time.Millisecond)
		}
		list = append(list, one)
	}
	return list
}

// longestChoice is the longest time for a choice that is worth a clock.
const longestChoice = 24 * time.Hour
