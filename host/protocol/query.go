package protocol

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
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
	QueryType   string       `json:"query_type,omitzero"`
	QueryParams *QueryParams `json:"query_params,omitzero"`
}

// QueryParams narrows a query: GET_NEXT_MATCH asks about PlayerID (by default
// the sender), GET_SCHEDULE about RoundID (by default every round).
type QueryParams struct {
	PlayerID string         `json:"player_id,omitzero"`
	RoundID  Round          `json:"round_id,omitzero"`
	Extra    jsontext.Value `json:",embed"`
}

// LeagueQueryResponse answers a query. Data is a JSON object of the type that
// belongs to QueryType: [StandingsData], [ScheduleData], [PlayersData],
// [StatusData] or [NextMatchData]; the answer to GET_STANDINGS has the same
// at the top level. Success false is read and never written: a query that
// fails is refused with an error.
type LeagueQueryResponse struct {
	Header
	QueryType    string         `json:"query_type,omitzero"`
	Success      Opt[bool]      `json:"success,omitzero"`
	Data         jsontext.Value `json:"data,omitzero"`
	CurrentRound Opt[int]       `json:"current_round,omitzero"`
	Standings    []Standing     `json:"standings,omitzero"`
}

// QueryData is the data of one query type.
type QueryData interface {
	StandingsData | ScheduleData | PlayersData | StatusData | NextMatchData
}

// StandingsData is the data of GET_STANDINGS.
type StandingsData struct {
	CurrentRound Opt[int]       `json:"current_round,omitzero"`
	Standings    []Standing     `json:"standings"`
	Extra        jsontext.Value `json:",embed"`
}

// ScheduleData is the data of GET_SCHEDULE.
type ScheduleData struct {
	TotalRounds Opt[int]         `json:"total_rounds,omitzero"`
	Rounds      []ScheduledRound `json:"rounds"`
	Extra       jsontext.Value   `json:",embed"`
}

// ScheduledRound is one round of the schedule.
type ScheduledRound struct {
	RoundID Round            `json:"round_id,omitzero"`
	Byes    []string         `json:"byes,omitzero"`
	Matches []ScheduledMatch `json:"matches"`
	Extra   jsontext.Value   `json:",embed"`
}

// The values of a scheduled match's status.
const (
	MatchPending  = "PENDING"
	MatchRunning  = "RUNNING"
	MatchFinished = "FINISHED"
)

// ScheduledMatch is one match of the schedule.
type ScheduledMatch struct {
	MatchID         string         `json:"match_id"`
	GameType        string         `json:"game_type,omitzero"`
	PlayerAID       string         `json:"player_A_id"`
	PlayerBID       string         `json:"player_B_id"`
	RefereeID       string         `json:"referee_id,omitzero"`
	RefereeEndpoint string         `json:"referee_endpoint,omitzero"`
	Status          string         `json:"status,omitzero"`
	Winner          Opt[string]    `json:"winner,omitzero"` // null without a winner, or not yet
	Extra           jsontext.Value `json:",embed"`
}

// PlayersData is the data of GET_PLAYERS.
type PlayersData struct {
	Players []PlayerInfo   `json:"players"`
	Extra   jsontext.Value `json:",embed"`
}

// PlayerInfo describes a player. Only referees and the admin get the endpoint.
type PlayerInfo struct {
	PlayerID        string         `json:"player_id"`
	DisplayName     string         `json:"display_name,omitzero"`
	Version         string         `json:"version,omitzero"`
	GameTypes       []string       `json:"game_types,omitzero"`
	State           string         `json:"state,omitzero"`
	ContactEndpoint string         `json:"contact_endpoint,omitzero"`
	Extra           jsontext.Value `json:",embed"`
}

// StatusData is the data of GET_STATUS. Status is one of the words of
// [LeagueStatus]; State is the manager's own, such as RUNNING_LEAGUE. Paused and PaceMS
// are as in [Pace].
type StatusData struct {
	LeagueID         string         `json:"league_id,omitzero"`
	Status           string         `json:"status,omitzero"`
	State            string         `json:"state,omitzero"`
	CurrentRound     Opt[int]       `json:"current_round,omitzero"`
	TotalRounds      Opt[int]       `json:"total_rounds,omitzero"`
	MatchesCompleted Opt[int]       `json:"matches_completed,omitzero"`
	TotalMatches     Opt[int]       `json:"total_matches,omitzero"`
	Paused           Opt[bool]      `json:"paused,omitzero"`
	PaceMS           Opt[int]       `json:"pace_ms,omitzero"`
	Extra            jsontext.Value `json:",embed"`
}

// NextMatchData is the data of GET_NEXT_MATCH; NextMatch is nil, and null on
// the wire, when the player has no match left.
type NextMatchData struct {
	NextMatch *NextMatch     `json:"next_match"`
	Extra     jsontext.Value `json:",embed"`
}

// NextMatch is the match a player plays next.
type NextMatch struct {
	MatchID         string         `json:"match_id"`
	RoundID         Round          `json:"round_id,omitzero"`
	OpponentID      string         `json:"opponent_id,omitzero"`
	RefereeID       string         `json:"referee_id,omitzero"`
	RefereeEndpoint string         `json:"referee_endpoint,omitzero"`
	GameType        string         `json:"game_type,omitzero"`
	RoleInMatch     string         `json:"role_in_match,omitzero"`
	Extra           jsontext.Value `json:",embed"`
}

// ReadData returns the data of an answer to a query, also of standings that are
// at the top level only. The error says that there is no data, or names the
// member that does not fit T.
func ReadData[T QueryData](m *LeagueQueryResponse) (T, error) {
	var data T
	if len(m.Data) == 0 || m.Data.Kind() == 'n' {
		if top, ok := any(&data).(*StandingsData); ok && m.Standings != nil {
			*top = StandingsData{CurrentRound: m.CurrentRound, Standings: m.Standings}
			return data, nil
		}
		return data, errors.New("protocol: the answer to the query has no data")
	}
	if err := json.Unmarshal(m.Data, &data, generous); err != nil {
		return data, fmt.Errorf("protocol: read the data of %s: %w", m.QueryType, err)
	}
	return data, nil
}

// NewQueryResponse returns a successful answer to a query with its data.
// Standings are repeated at the top level, where some readers look for them. The
// error is that of encoding data: a text in it is not UTF-8.
func NewQueryResponse[T QueryData](h Header, queryType string, data T) (*LeagueQueryResponse, error) {
	raw, err := json.Marshal(&data, plain)
	if err != nil {
		return nil, fmt.Errorf("protocol: write the data of %s: %w", queryType, err)
	}
	m := &LeagueQueryResponse{Header: h, QueryType: queryType, Success: Some(true), Data: raw}
	if top, ok := any(data).(StandingsData); ok {
		m.CurrentRound, m.Standings = top.CurrentRound, top.Standings
	}
	return m, nil
}

func leagueQueryShape() *shape {
	return message([]Role{RolePlayer, RoleReferee, RoleLauncher},
		ident("league_id", "The league.").strict(),
		text("query_type", "What is asked.").always().
			only(CodeInvalidQueryType, QueryStandings, QuerySchedule, QueryPlayers, QueryStatus, QueryNextMatch),
		object("query_params", "What narrows the question.", fields(
			ident("player_id", "The player asked about; by default the sender."),
			round("round_id", "The round asked about; by default every round."),
		)),
	)
}

func leagueQueryResponseShape() *shape {
	return message([]Role{RoleManager},
		text("query_type", "What was asked.").strict(),
		boolean("success", "Whether there is an answer."),
		open("data", "The answer."),
		count("current_round", "The current round; to GET_STANDINGS.").whenIs(QueryStandings),
		list("standings", "The table; to GET_STANDINGS.", object("", "", standingShape(true))).whenIs(QueryStandings),
	).dividing("query_type", "data", queryShapes)
}

// queryShapes are the shapes of data by query_type.
var queryShapes = map[string]*shape{
	QueryStandings: fields(
		count("current_round", "The current round; 0 before the first.").strict(),
		list("standings", "The table, first rank first.", object("", "", standingShape(true))).always(),
	),
	QuerySchedule: fields(
		count("total_rounds", "The number of rounds.").strict(),
		list("rounds", "The rounds in order.", object("", "", fields(
			round("round_id", "The round.").always(),
			list("byes", "The players who rest.", ident("", "")),
			list("matches", "The matches of the round.", object("", "", matchShape(
				text("status", "How far the match is.").strict().values(MatchPending, MatchRunning, MatchFinished),
				ident("winner", "The winner; null without one, or not yet.").nullable(),
			))).always(),
		))).always(),
	),
	QueryPlayers: fields(
		list("players", "The registered players.", object("", "", fields(
			ident("player_id", "The player.").always(),
			text("display_name", "The player's name.").strict(),
			text("version", "The player's own version."),
			list("game_types", "The games it can play.", text("", "")),
			text("state", "INIT, REGISTERED, ACTIVE, SUSPENDED or SHUTDOWN."),
			text("contact_endpoint", "The player's URL; to referees and the admin only."),
		))).always(),
	),
	QueryStatus: fields(
		ident("league_id", "The league.").strict(),
		text("status", "How far the league is.").strict().
			values(LeagueWaiting, LeagueScheduling, LeagueRunning, LeagueFinished),
		text("state", "The manager's own state, such as RUNNING_LEAGUE."),
		count("current_round", "The current round.").strict(),
		count("total_rounds", "The number of rounds.").strict(),
		count("matches_completed", "The number of matches reported.").strict(),
		count("total_matches", "The number of matches of the league."),
		boolean("paused", "Whether no further round begins until the organiser lets the league go on."),
		count("pace_ms", "The pause after each round, in milliseconds."),
	),
	QueryNextMatch: fields(
		object("next_match", "The next match; null when there is none.", fields(
			ident("match_id", "The match.").always(),
			round("round_id", "The round.").strict(),
			ident("opponent_id", "The other player.").strict(),
			text("referee_endpoint", "The referee's URL.").strict(),
			ident("referee_id", "The referee."),
			text("game_type", "The game that is played."),
			text("role_in_match", "The player's role.").values(PlayerA, PlayerB),
		)).always().nullable(),
	),
}
