package manager

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/strategylab/strategylab/host/protocol"
)

// cachedSchedule is the answer to GET_SCHEDULE as it was written last. Every
// player of a large league asks for the same megabytes as soon as it starts.
type cachedSchedule struct {
	changes uint64
	answer  func(protocol.Header) protocol.Message
}

// maxWhole is the number of matches up to which the schedule is told at once;
// with more, the answer would be longer than the 16 MiB that clients read.
const maxWhole = 80_000

// scheduleAnswer answers GET_SCHEDULE: with every round, or with the one asked
// for.
func (m *Manager) scheduleAnswer(h protocol.Header, round protocol.Round) (protocol.Message, error) {
	if round.String() != "" {
		return answerQuery(h, protocol.QuerySchedule, m.scheduleData(round.Number()))
	}
	answer, err := m.wholeSchedule()
	if err != nil {
		return nil, err
	}
	return answer(h), nil
}

func (m *Manager) wholeSchedule() (func(protocol.Header) protocol.Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.state.matches) > maxWhole {
		e := protocol.Refuse(protocol.CodeMissingField, protocol.TypeLeagueQuery,
			fmt.Sprintf("The schedule has %d matches, too many for one answer; ask for one round in query_params.round_id.", len(m.state.matches)))
		e.Violations = []protocol.Violation{{Path: "/query_params/round_id", Rule: "required"}}
		return nil, e
	}
	if m.schedule.answer == nil || m.schedule.changes != m.changes {
		data, err := json.Marshal(m.scheduleLocked(0))
		if err != nil {
			return nil, err
		}
		m.schedule = cachedSchedule{m.changes, protocol.Broadcast(&protocol.LeagueQueryResponse{
			Header:    protocol.Header{MessageType: protocol.TypeLeagueQueryResponse},
			QueryType: protocol.QuerySchedule, Success: protocol.Some(true), Data: data,
		})}
	}
	return m.schedule.answer, nil
}

// scheduleData returns a round of the schedule.
func (m *Manager) scheduleData(round int) protocol.ScheduleData {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.scheduleLocked(round)
}

// scheduleLocked returns one round of the schedule, or all for 0. It is called
// with m.mu held.
func (m *Manager) scheduleLocked(round int) protocol.ScheduleData {
	total := m.state.rounds()
	d := protocol.ScheduleData{TotalRounds: protocol.Some(total), Rounds: []protocol.ScheduledRound{}}
	first, last := 1, total
	if round != 0 {
		first, last = round, round
	}
	for r := max(first, 1); r <= min(last, total); r++ {
		d.Rounds = append(d.Rounds, m.scheduledRound(r))
	}
	return d
}

func (m *Manager) scheduledRound(round int) protocol.ScheduledRound {
	pairings, referees := m.state.schedule.Round(round), m.plan(round)
	d := protocol.ScheduledRound{
		RoundID: protocol.RoundNumber(round), Byes: m.byes(round), Matches: make([]protocol.ScheduledMatch, len(pairings)),
	}
	for i, p := range pairings {
		e := protocol.ScheduledMatch{
			MatchID: p.ID, GameType: protocol.GameEvenOdd, PlayerAID: m.state.seats[p.A].id, PlayerBID: m.state.seats[p.B].id,
			Status: protocol.MatchPending, Winner: protocol.Null[string](),
		}
		if referees[i] != nil {
			e.RefereeID, e.RefereeEndpoint = referees[i].id, referees[i].reg.Endpoint
		}
		switch {
		case m.state.matches[p.Index].outcome.over():
			e.Status = protocol.MatchFinished
			if winner := m.state.finished(p).Winner(); winner != "" {
				e.Winner = protocol.Some(winner)
			}
		case m.announced == round:
			e.Status = protocol.MatchRunning
		}
		d.Matches[i] = e
	}
	return d
}
