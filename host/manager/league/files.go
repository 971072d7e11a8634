package league

import (
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// The functions of this file return what stands in the JSON files for people and tools.

// AgentsFile lists the agents of a league.
type AgentsFile struct {
	LeagueID string      `json:"league_id"`
	Updated  string      `json:"updated"`
	Referees []agentLine `json:"referees"`
	Players  []agentLine `json:"players"`
}

type agentLine struct {
	RefereeID  string   `json:"referee_id,omitempty"`
	PlayerID   string   `json:"player_id,omitempty"`
	Name       string   `json:"display_name"`
	Version    string   `json:"version,omitempty"`
	Games      []string `json:"game_types,omitempty"`
	Endpoint   string   `json:"contact_endpoint"`
	Capacity   int      `json:"max_concurrent_matches,omitzero"`
	Dialect    string   `json:"dialect"`
	Registered string   `json:"registered_at"`
}

// AgentsFile returns the agents, at the time of a timestamp.
func (s *State) AgentsFile(updated string) AgentsFile {
	f := AgentsFile{LeagueID: s.ID, Updated: updated, Referees: []agentLine{}, Players: []agentLine{}}
	for _, a := range slices.Concat(s.Referees, s.Seating()) {
		line := agentLine{
			Name: a.Name, Version: a.Version, Games: a.Games, Endpoint: a.Endpoint, Capacity: a.Capacity,
			Dialect: a.Dialect, Registered: protocol.Timestamp(a.At),
		}
		if a.Role == protocol.RoleReferee {
			line.RefereeID = a.ID
			f.Referees = append(f.Referees, line)
		} else {
			line.PlayerID = a.ID
			f.Players = append(f.Players, line)
		}
	}
	return f
}

// TableFile is how far a league is.
type TableFile struct {
	LeagueID         string     `json:"league_id"`
	Updated          string     `json:"updated"`
	Status           string     `json:"status"`
	RoundsCompleted  int        `json:"rounds_completed"`
	TotalRounds      int        `json:"total_rounds"`
	MatchesCompleted int        `json:"matches_completed"`
	Standings        []Standing `json:"standings"`
}

// TableFile returns the table, at the time of a timestamp.
func (s *State) TableFile(updated string) TableFile {
	status, _ := s.Status()
	return TableFile{s.ID, updated, status, s.Closed, s.Rounds(), s.Reports, s.Standings()}
}

// Status returns how far the league is, in the two words of GET_STATUS.
func (s *State) Status() (status, state string) {
	switch {
	case s.Over():
		return protocol.LeagueFinished, "LEAGUE_COMPLETED"
	case s.Running():
		return protocol.LeagueRunning, "RUNNING_LEAGUE"
	}
	return protocol.LeagueWaiting, "WAITING_FOR_REGISTRATIONS"
}

// MatchFile is a match that is over.
type MatchFile struct {
	LeagueID  string               `json:"league_id"`
	RoundID   int                  `json:"round_id"`
	MatchID   string               `json:"match_id"`
	GameType  string               `json:"game_type"`
	PlayerA   string               `json:"player_A_id"`
	PlayerB   string               `json:"player_B_id"`
	RefereeID string               `json:"referee_id"`
	Reported  string               `json:"reported_at"`
	Result    protocol.MatchResult `json:"result"`
}

// MatchFile returns a match that is over.
func (s *State) MatchFile(p game.Match) MatchFile {
	m, reported := s.Match(p), time.Unix(0, s.matches[p.Index].at)
	return MatchFile{s.ID, m.Round, m.ID, protocol.GameEvenOdd, m.Players[0], m.Players[1], m.RefereeID, protocol.Timestamp(reported), m.Result()}
}
