package manager

import (
	"cmp"
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

func (m *Manager) query(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
	from := in.From.(caller)
	msg, err := wire.Decode[*protocol.LeagueQuery](in)
	if err != nil {
		return nil, err
	}
	if msg.LeagueID != "" && msg.LeagueID != m.cfg.LeagueID {
		return nil, protocol.Refuse(protocol.CodeLeagueNotFound, in.Type, fmt.Sprintf("The league here is %s.", m.cfg.LeagueID)).
			With("league_id", m.cfg.LeagueID)
	}
	params := msg.QueryParams
	if params == nil {
		params = new(protocol.QueryParams)
	}
	h := protocol.Header{MessageType: protocol.TypeLeagueQuery.Answer(), LeagueID: m.cfg.LeagueID}
	switch msg.QueryType {
	case protocol.QueryStandings:
		return answerQuery(h, msg.QueryType, m.standingsData())
	case protocol.QuerySchedule:
		return m.scheduleAnswer(h, params.RoundID)
	case protocol.QueryPlayers:
		return answerQuery(h, msg.QueryType, m.playersData(from))
	case protocol.QueryStatus:
		return answerQuery(h, msg.QueryType, m.status())
	case protocol.QueryNextMatch:
		data, err := m.nextMatch(params.PlayerID, from)
		if err != nil {
			return nil, err
		}
		return answerQuery(h, msg.QueryType, data)
	}
	return nil, protocol.Refuse(protocol.CodeInvalidQueryType, in.Type, fmt.Sprintf("There is no query %s.", msg.QueryType))
}

// answerQuery is protocol.NewQueryResponse with the result that handlers have.
func answerQuery[T protocol.QueryData](h protocol.Header, queryType string, data T) (protocol.Message, error) {
	answer, err := protocol.NewQueryResponse(h, queryType, data)
	if err != nil {
		return nil, err
	}
	return answer, nil
}

func (m *Manager) standingsData() protocol.StandingsData {
	m.mu.Lock()
	defer m.mu.Unlock()
	return protocol.StandingsData{CurrentRound: protocol.Some(m.state.round()), Standings: onWire(m.state.standings())}
}

func (m *Manager) playersData(from caller) protocol.PlayersData {
	m.mu.Lock()
	defer m.mu.Unlock()
	players := make([]protocol.PlayerInfo, 0, len(m.state.players))
	for _, a := range m.state.seating() {
		info := protocol.PlayerInfo{
			PlayerID: a.id, DisplayName: a.reg.Name, Version: a.reg.Version, GameTypes: a.reg.Games,
			State: string(cmp.Or(a.status, m.contacts[a.id].life)),
		}
		if from.role == protocol.RoleReferee || from.role == protocol.RoleLauncher {
			info.ContactEndpoint = a.reg.Endpoint
		}
		players = append(players, info)
	}
	return protocol.PlayersData{Players: players}
}

// status returns how far the league is.
func (m *Manager) status() protocol.StatusData {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.state
	d := protocol.StatusData{
		LeagueID: m.cfg.LeagueID, CurrentRound: protocol.Some(s.round()), TotalRounds: protocol.Some(s.rounds()),
		MatchesCompleted: protocol.Some(s.reports), TotalMatches: protocol.Some(len(s.matches)),
	}
	if !s.over() {
		d.Paused, d.PaceMS = protocol.Some(s.paused), protocol.Some(int(m.pace().Milliseconds()))
	}
	switch {
	case s.over():
		d.Status, d.State = protocol.LeagueFinished, "LEAGUE_COMPLETED"
	case s.running():
		d.Status, d.State = protocol.LeagueRunning, "RUNNING_LEAGUE"
	case m.scheduling:
		d.Status, d.State = protocol.LeagueScheduling, "CREATING_SCHEDULE"
	default:
		d.Status, d.State = protocol.LeagueWaiting, "WAITING_FOR_REGISTRATIONS"
	}
	return d
}

// nextMatch returns the first match of a player that is not over.
func (m *Manager) nextMatch(id string, from caller) (protocol.NextMatchData, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id == "" && from.role == protocol.RolePlayer {
		id = from.agent.id
	}
	if id == "" {
		e := protocol.Refuse(protocol.CodeMissingField, protocol.TypeLeagueQuery, "Say whose next match is meant in query_params.player_id.")
		e.Violations = []protocol.Violation{{Path: "/query_params/player_id", Rule: "required"}}
		return protocol.NextMatchData{}, e
	}
	if a := m.state.agents[id]; a == nil || a.role != protocol.RolePlayer {
		return protocol.NextMatchData{}, m.unknownPlayer(protocol.TypeLeagueQuery, id)
	}
	seat, playing := m.state.seatOf[id]
	for round := m.state.round(); playing && round <= m.state.rounds(); round++ {
		for _, p := range m.state.schedule.Round(round) {
			if (p.A == seat || p.B == seat) && !m.state.matches[p.Index].outcome.over() {
				return protocol.NextMatchData{NextMatch: m.describe(p, seat)}, nil
			}
		}
	}
	return protocol.NextMatchData{}, nil
}

// whoPlays says which players there are.
func (s *state) whoPlays() string {
	players := s.seating()
	switch n := len(players); n {
	case 0:
		return "nobody has registered yet."
	case 1:
		return "the only player is " + players[0].id + "."
	default:
		return fmt.Sprintf("there are %d players, %s to %s; GET_PLAYERS lists them.", n, players[0].id, players[n-1].id)
	}
}

// describe returns a match to come for the player on a seat.
func (m *Manager) describe(p game.Match, seat int) *protocol.NextMatch {
	next := &protocol.NextMatch{
		MatchID: p.ID, RoundID: protocol.RoundNumber(p.Round), GameType: protocol.GameEvenOdd,
		RoleInMatch: protocol.PlayerA, OpponentID: m.state.seats[p.B].id,
	}
	if seat == p.B {
		next.RoleInMatch, next.OpponentID = protocol.PlayerB, m.state.seats[p.A].id
	}
	if referee := m.refereeOf(p); referee != nil {
		next.RefereeID, next.RefereeEndpoint = referee.id, referee.reg.Endpoint
	}
	return next
}

// cachedSchedule is the answer to GET_SCHEDULE as it was written last. Every
// player of a large league asks for the same megabytes as soon as it starts.
type cachedSchedule struct {
	changes uint64
	answer  func(protocol.Header) protocol.Message
}

// maxWhole is the number of matches up to which one answer has the whole schedule;
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
		data, err := json.Marshal(m.rounds(1, m.state.rounds()))
		if err != nil {
			return nil, err
		}
		m.schedule = cachedSchedule{m.changes, protocol.Broadcast(&protocol.LeagueQueryResponse{
			Header:    protocol.Header{MessageType: protocol.TypeLeagueQuery.Answer()},
			QueryType: protocol.QuerySchedule, Success: protocol.Some(true), Data: data,
		})}
	}
	return m.schedule.answer, nil
}

// scheduleData returns a round of the schedule.
func (m *Manager) scheduleData(round int) protocol.ScheduleData {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rounds(round, round)
}

// rounds returns the rounds from first to last, as far as they exist. It is
// called with m.mu held.
func (m *Manager) rounds(first, last int) protocol.ScheduleData {
	total := m.state.rounds()
	d := protocol.ScheduleData{TotalRounds: protocol.Some(total), Rounds: []protocol.ScheduledRound{}}
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
