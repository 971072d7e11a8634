package manager

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// query answers a question; the functions that it calls, too, are called with m.mu held.
func (m *Manager) query(_ context.Context, in *wire.Exchange, msg *protocol.LeagueQuery) (protocol.Message, error) {
	if err := m.checkLeague(in.Type, msg.LeagueID); err != nil {
		return nil, err
	}
	params := cmp.Or(msg.QueryParams, new(protocol.QueryParams))
	h, from := m.answer(in), in.From.(caller)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch s := m.state; msg.QueryType {
	case protocol.QueryStandings:
		return protocol.NewQueryResponse(h, msg.QueryType, protocol.StandingsData{CurrentRound: protocol.Some(s.Round()), Standings: onWire(s.Standings())})
	case protocol.QuerySchedule:
		if params.RoundID.String() == "" {
			return m.wholeSchedule(h)
		}
		return protocol.NewQueryResponse(h, msg.QueryType, m.rounds(params.RoundID.Number(), params.RoundID.Number()))
	case protocol.QueryPlayers:
		return protocol.NewQueryResponse(h, msg.QueryType, m.playersData(from))
	case protocol.QueryStatus:
		return protocol.NewQueryResponse(h, msg.QueryType, m.status(s))
	case protocol.QueryNextMatch:
		next, err := m.nextMatch(params.PlayerID, from)
		if err != nil {
			return nil, err
		}
		return protocol.NewQueryResponse(h, msg.QueryType, protocol.NextMatchData{NextMatch: next})
	}
	return nil, protocol.Refuse(protocol.CodeInvalidQueryType, in.Type, fmt.Sprintf("There is no query %s.", msg.QueryType))
}

// needs refuses a query without a parameter.
func needs(param, detail string) error {
	return protocol.Refuse(protocol.CodeMissingField, protocol.TypeLeagueQuery, detail,
		protocol.Violation{Path: "/query_params/" + param, Rule: "required"})
}

// lifeOf is how far an agent's life has come.
func (m *Manager) lifeOf(a *league.Member) league.Life {
	return cmp.Or(a.Status, m.contacts[a.ID].life)
}

func (m *Manager) playersData(from caller) protocol.PlayersData {
	players := make([]protocol.PlayerInfo, 0, len(m.state.Players))
	for _, a := range m.state.Seating() {
		info := protocol.PlayerInfo{
			PlayerID: a.ID, DisplayName: a.Name, Version: a.Version, GameTypes: a.Games, State: string(m.lifeOf(a)),
		}
		if from.role == protocol.RoleReferee || from.role == protocol.RoleLauncher {
			info.ContactEndpoint = a.Endpoint
		}
		players = append(players, info)
	}
	return protocol.PlayersData{Players: players}
}

// status returns how far the league is.
func (m *Manager) status(s *league.State) protocol.StatusData {
	d := protocol.StatusData{
		LeagueID: m.cfg.LeagueID, CurrentRound: protocol.Some(s.Round()), TotalRounds: protocol.Some(s.Rounds()),
		MatchesCompleted: protocol.Some(s.Reports), TotalMatches: protocol.Some(s.Matches()),
	}
	if !s.Over() {
		d.Paused, d.PaceMS = protocol.Some(s.Paused), protocol.Some(int(s.Pace().Milliseconds()))
	}
	if d.Status, d.State = s.Status(); s.Schedule == nil && m.scheduling.Load() {
		d.Status, d.State = protocol.LeagueScheduling, "CREATING_SCHEDULE"
	}
	return d
}

// nextMatch returns the first match of a player that is not over.
func (m *Manager) nextMatch(id string, from caller) (*protocol.NextMatch, error) {
	if id == "" && from.role == protocol.RolePlayer {
		id = from.agent.ID
	}
	if id == "" {
		return nil, needs("player_id", "Say whose next match is meant in query_params.player_id.")
	}
	player := m.state.Members[id]
	if player == nil || player.Role != protocol.RolePlayer {
		return nil, m.state.UnknownPlayer(protocol.TypeLeagueQuery, id)
	}
	for round := max(m.state.Round(), 1); round <= m.state.Rounds(); round++ {
		for i, p := range m.state.Schedule.Round(round) {
			if !m.state.Plays(p, player) || m.state.Done(p) {
				continue
			}
			next := &protocol.NextMatch{
				MatchID: p.ID, RoundID: protocol.RoundNumber(p.Round), GameType: protocol.GameEvenOdd, RoleInMatch: protocol.PlayerA,
			}
			a, opponent := m.state.Pair(p)
			if opponent == player {
				next.RoleInMatch, opponent = protocol.PlayerB, a
			}
			next.OpponentID = opponent.ID
			if referee := m.plan(round)[i]; referee != nil {
				next.RefereeID, next.RefereeEndpoint = referee.ID, referee.Endpoint
			}
			return next, nil
		}
	}
	return nil, nil
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

// wholeSchedule answers GET_SCHEDULE with every round.
func (m *Manager) wholeSchedule(h protocol.Header) (protocol.Message, error) {
	if n := m.state.Matches(); n > maxWhole {
		return nil, needs("round_id", fmt.Sprintf("The schedule has %d matches, too many for one answer; ask for one round in query_params.round_id.", n))
	}
	if m.schedule.answer == nil || m.schedule.changes != m.changes {
		data, err := json.Marshal(m.rounds(1, m.state.Rounds()))
		if err != nil {
			return nil, err
		}
		m.schedule = cachedSchedule{m.changes, protocol.Broadcast(&protocol.LeagueQueryResponse{
			Header:    protocol.Header{MessageType: protocol.TypeLeagueQuery.Answer()},
			QueryType: protocol.QuerySchedule, Success: protocol.Some(true), Data: data,
		})}
	}
	return m.schedule.answer(h), nil
}

// rounds returns the rounds from first to last, as far as they exist.
func (m *Manager) rounds(first, last int) protocol.ScheduleData {
	total := m.state.Rounds()
	d := protocol.ScheduleData{TotalRounds: protocol.Some(total), Rounds: []protocol.ScheduledRound{}}
	for r := max(first, 1); r <= min(last, total); r++ {
		d.Rounds = append(d.Rounds, m.scheduledRound(r))
	}
	return d
}

func (m *Manager) scheduledRound(round int) protocol.ScheduledRound {
	pairings, referees := m.state.Schedule.Round(round), m.plan(round)
	d := protocol.ScheduledRound{
		RoundID: protocol.RoundNumber(round), Byes: m.state.Byes(round), Matches: make([]protocol.AnnouncedMatch, len(pairings)),
	}
	for i, p := range pairings {
		match := m.state.Match(p)
		e := protocol.AnnouncedMatch{
			MatchID: p.ID, GameType: protocol.GameEvenOdd, PlayerAID: match.Players[0], PlayerBID: match.Players[1],
			Status: protocol.MatchPending, Winner: protocol.Null[string](),
		}
		if referees[i] != nil {
			e.RefereeID, e.RefereeEndpoint = referees[i].ID, referees[i].Endpoint
		}
		switch {
		case match.Over():
			e.Status = protocol.MatchFinished
			if winner := match.Winner(); winner != "" {
				e.Winner = protocol.Some(winner)
			}
		case m.announced == round:
			e.Status = protocol.MatchRunning
		}
		d.Matches[i] = e
	}
	return d
}

// Snapshot is a league at one moment, as spectators may see it: it holds no token, no
// key and no endpoint.
type Snapshot struct {
	League string
	// Status is as in GET_STATUS, such as protocol.LeagueRunning.
	Status string
	// Round is the current round: 0 before the start, the last one at the end.
	Round, Rounds int
	Played, Total int // matches
	Wanted        int // players at which the league starts by itself; 0 if it does not
	// Paused says that the organiser lets no further round begin; Pace is the pause after
	// each round.
	Paused   bool
	Pace     time.Duration
	Players  []Member
	Referees []Member
	// MatchRound is the round of Matches and Byes: the one before Round until that has
	// referees, so that its results are seen in the pause between the two.
	MatchRound int
	Matches    []league.Match
	Byes       []string // ids of the players without a match
	Standings  []league.Standing
	Draws      league.Draws
}

// Member is a registered agent.
type Member struct {
	ID, Name string
	Life     league.Life
	Load     int // matches that a referee conducts and that are not over
}

// Snapshot returns the league as it is. The caller must not change the standings.
func (m *Manager) Snapshot() Snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.state
	shot := Snapshot{
		League: s.ID, Status: m.status(s).Status, Round: s.Round(), Rounds: s.Rounds(), Played: s.Reports, Total: s.Matches(),
		Wanted: m.cfg.Players, Paused: s.Paused, Pace: s.Pace(), Players: m.members(s.Seating()), Referees: m.members(s.Referees),
		Standings: s.Standings(), Draws: s.Draws,
	}
	if s.Schedule == nil {
		return shot
	}
	shot.MatchRound = s.Round()
	if !s.Begun() && s.Round() > 1 {
		shot.MatchRound--
	}
	shot.Byes = s.Byes(shot.MatchRound)
	for _, p := range s.Schedule.Round(shot.MatchRound) {
		shot.Matches = append(shot.Matches, s.Match(p))
	}
	return shot
}

// members describes agents.
func (m *Manager) members(list []*league.Member) []Member {
	all := make([]Member, len(list))
	for i, a := range list {
		all[i] = Member{ID: a.ID, Name: a.Name, Life: m.lifeOf(a), Load: a.Load}
	}
	return all
}
