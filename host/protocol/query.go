package protocol

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
)

// The values of query_type.
const (
	QueryStandings = "GET_STANDINGS"
	QuerySchedule  = "GET_SCHEDULE"
	QueryPlayers   = "GET_PLAYERS"
	QueryStatus    = "GET_STATUS"
	QueryNextMatch = "GET_NEXT_MATCH"
)

// A LeagueQuery asks the manager about the league.
type LeagueQuery struct {
	Header
	QueryType   string       `json:"query_type,omitzero" rule:"always one=GET_STANDINGS,GET_SCHEDULE,GET_PLAYERS,GET_STATUS,GET_NEXT_MATCH only=E042" doc:"What is asked."`
	QueryParams *QueryParams `json:"query_params,omitzero" doc:"What narrows the question."`
}

// QueryParams narrows a query: GET_NEXT_MATCH asks about PlayerID (by default
// the sender), GET_SCHEDULE about RoundID (by default every round).
type QueryParams struct {
	PlayerID string `json:"player_id,omitzero" rule:"id" doc:"The player asked about; by default the sender."`
	RoundID  Round  `json:"round_id,omitzero" doc:"The round asked about; by default every round."`
}

// LeagueQueryResponse answers a query. Data is a JSON object of the type that belongs to QueryType:
// [StandingsData], [ScheduleData], [PlayersData], [StatusData] or [NextMatchData]; the answer to
// GET_STANDINGS has the same at the top level. Success false is read and never written: a query
// that fails is refused with an error.
type LeagueQueryResponse struct {
	Header
	QueryType    string         `json:"query_type,omitzero" rule:"strict" doc:"What was asked."`
	Success      Opt[bool]      `json:"success,omitzero" doc:"Whether there is an answer."`
	Data         jsontext.Value `json:"data,omitzero" rule:"by=query_type" doc:"The answer."`
	CurrentRound Opt[int]       `json:"current_round,omitzero" rule:"count when=query_type:GET_STANDINGS" doc:"The current round; to GET_STANDINGS."`
	Standings    []Standing     `json:"standings,omitzero" rule:"when=query_type:GET_STANDINGS" doc:"The table; to GET_STANDINGS."`
}

// QueryData is the data of one query type.
type QueryData interface {
	StandingsData | ScheduleData | PlayersData | StatusData | NextMatchData
}

// StandingsData is the data of GET_STANDINGS.
type StandingsData struct {
	CurrentRound Opt[int]   `json:"current_round,omitzero" rule:"count strict" doc:"The current round; 0 before the first."`
	Standings    []Standing `json:"standings" rule:"always" doc:"The table, first rank first."`
}

// ScheduleData is the data of GET_SCHEDULE.
type ScheduleData struct {
	TotalRounds Opt[int]         `json:"total_rounds,omitzero" rule:"count strict" doc:"The number of rounds."`
	Rounds      []ScheduledRound `json:"rounds" rule:"always" doc:"The rounds in order."`
}

// ScheduledRound is one round of the schedule.
type ScheduledRound struct {
	RoundID Round            `json:"round_id,omitzero" rule:"always" doc:"The round."`
	Byes    []string         `json:"byes,omitzero" rule:"each=id" doc:"The players who rest."`
	Matches []AnnouncedMatch `json:"matches" rule:"always" doc:"The matches of the round."`
}

// The values of a scheduled match's status.
const (
	MatchPending  = "PENDING"
	MatchRunning  = "RUNNING"
	MatchFinished = "FINISHED"
)

// PlayersData is the data of GET_PLAYERS.
type PlayersData struct {
	Players []PlayerInfo `json:"players" rule:"always" doc:"The registered players."`
}

// PlayerInfo describes a player. Only referees and the admin get the endpoint.
type PlayerInfo struct {
	PlayerID        string   `json:"player_id" rule:"id always" doc:"The player."`
	DisplayName     string   `json:"display_name,omitzero" rule:"strict" doc:"The player's name."`
	Version         string   `json:"version,omitzero" doc:"The player's own version."`
	GameTypes       []string `json:"game_types,omitzero" doc:"The games it can play."`
	State           string   `json:"state,omitzero" doc:"INIT, REGISTERED, ACTIVE, SUSPENDED or SHUTDOWN."`
	ContactEndpoint string   `json:"contact_endpoint,omitzero" doc:"The player's URL; to referees and the admin only."`
}

// StatusData is the data of GET_STATUS. Status is one of the words of [LeagueStatus]; State is the
// manager's own, such as RUNNING_LEAGUE. Paused and PaceMS are as in [Pace].
type StatusData struct {
	LeagueID         string    `json:"league_id,omitzero" rule:"id strict" doc:"The league."`
	Status           string    `json:"status,omitzero" rule:"strict one=waiting,scheduling,running,completed" doc:"How far the league is."`
	State            string    `json:"state,omitzero" doc:"The manager's own state, such as RUNNING_LEAGUE."`
	CurrentRound     Opt[int]  `json:"current_round,omitzero" rule:"count strict" doc:"The current round."`
	TotalRounds      Opt[int]  `json:"total_rounds,omitzero" rule:"count strict" doc:"The number of rounds."`
	MatchesCompleted Opt[int]  `json:"matches_completed,omitzero" rule:"count strict" doc:"The number of matches reported."`
	TotalMatches     Opt[int]  `json:"total_matches,omitzero" rule:"count" doc:"The number of matches of the league."`
	Paused           Opt[bool] `json:"paused,omitzero" doc:"Whether no further round begins until the organiser lets the league go on."`
	PaceMS           Opt[int]  `json:"pace_ms,omitzero" rule:"count" doc:"The pause after each round, in milliseconds."`
}

// NextMatchData is the data of GET_NEXT_MATCH; NextMatch is nil, and null on
// the wire, when the player has no match left.
type NextMatchData struct {
	NextMatch *NextMatch `json:"next_match" rule:"always null" doc:"The next match; null when there is none."`
}

// NextMatch is the match a player plays next.
type NextMatch struct {
	MatchID         string `json:"match_id" rule:"id always" doc:"The match."`
	RoundID         Round  `json:"round_id,omitzero" rule:"strict" doc:"The round."`
	OpponentID      string `json:"opponent_id,omitzero" rule:"id strict" doc:"The other player."`
	RefereeID       string `json:"referee_id,omitzero" rule:"id" doc:"The referee."`
	RefereeEndpoint string `json:"referee_endpoint,omitzero" rule:"strict" doc:"The referee's URL."`
	GameType        string `json:"game_type,omitzero" doc:"The game that is played."`
	RoleInMatch     string `json:"role_in_match,omitzero" rule:"one=PLAYER_A,PLAYER_B" doc:"The player's role."`
}

// ReadData returns the data of an answer to a query, also of standings that are at the top level
// only. The error says that there is no data, or names the member that does not fit T.
func ReadData[T QueryData](m *LeagueQueryResponse) (T, error) {
	var data T
	if len(m.Data) == 0 || m.Data.Kind() == 'n' {
		if top, ok := any(&data).(*StandingsData); ok && m.Standings != nil {
			*top = StandingsData{CurrentRound: m.CurrentRound, Standings: m.Standings}
			return data, nil
		}
		return data, errors.New("protocol: the answer to the query has no data")
	}
	c := checker{mode: Tolerant}
	c.object(nil, m.Data, shapeOf(reflect.TypeFor[T](), ""), unsafe.Pointer(&data))
	for _, f := range c.findings {
		if c.lacks && f.Rule != "required" {
			return data, fmt.Errorf("protocol: read the data of %s: %s", m.QueryType, sentence(f, 1))
		}
	}
	return data, nil
}

// NewQueryResponse returns a successful answer to a query with its data.
// Standings are repeated at the top level, where some readers look for them. The
// error is that of encoding data: a text in it is not UTF-8.
func NewQueryResponse[T QueryData](h Header, queryType string, data T) (*LeagueQueryResponse, error) {
	var w memberWriter
	w.members(shapeOf(reflect.TypeFor[T](), "").fields, unsafe.Pointer(&data))
	raw, err := w.closed(0)
	if err != nil {
		return nil, fmt.Errorf("protocol: write the data of %s: %w", queryType, err)
	}
	m := &LeagueQueryResponse{Header: h, QueryType: queryType, Success: Some(true), Data: raw}
	if top, ok := any(data).(StandingsData); ok {
		m.CurrentRound, m.Standings = top.CurrentRound, top.Standings
	}
	return m, nil
}
