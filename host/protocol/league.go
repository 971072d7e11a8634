package protocol

import "github.com/go-json-experiment/json/jsontext"

// The values of status in LEAGUE_STATUS and of the GET_STATUS query.
const (
	LeagueWaiting    = "waiting"
	LeagueScheduling = "scheduling"
	LeagueRunning    = "running"
	LeagueFinished   = "completed"
)

// StartLeague tells the manager to make the schedule and begin.
type StartLeague struct {
	Header
}

// LeagueStatus answers START_LEAGUE: how far the league is.
type LeagueStatus struct {
	Header
	Status           string   `json:"status,omitzero"`
	CurrentRound     Opt[int] `json:"current_round,omitzero"`
	TotalRounds      Opt[int] `json:"total_rounds,omitzero"`
	MatchesCompleted Opt[int] `json:"matches_completed,omitzero"`
}

// LeagueCompleted tells everybody that the league is over.
type LeagueCompleted struct {
	Header
	TotalRounds    Opt[int]   `json:"total_rounds,omitzero"`
	TotalMatches   Opt[int]   `json:"total_matches,omitzero"`
	Champion       *Champion  `json:"champion,omitzero"`
	FinalStandings []Standing `json:"final_standings"`
}

// Champion is the winner of a league.
type Champion struct {
	PlayerID    string         `json:"player_id"`
	DisplayName string         `json:"display_name,omitzero"`
	Points      Opt[int]       `json:"points,omitzero"`
	Extra       jsontext.Value `json:",embed"`
}

var startLeagueShape = message([]Role{RoleLauncher},
	ident("league_id", "The league to start.").strict(),
)

var leagueStatusShape = message([]Role{RoleManager},
	ident("league_id", "The league.").strict(),
	text("status", "How far the league is.").strict().
		values(LeagueWaiting, LeagueScheduling, LeagueRunning, LeagueFinished),
	count("current_round", "The round under way; 0 before the first.").strict(),
	count("total_rounds", "The number of rounds; 0 before there is a schedule.").strict(),
	count("matches_completed", "The number of matches reported.").strict(),
)

var leagueCompletedShape = message([]Role{RoleManager},
	ident("league_id", "The league.").strict(),
	count("total_rounds", "The number of rounds played.").strict(),
	count("total_matches", "The number of matches played.").strict(),
	object("champion", "The winner of the league.", fields(
		ident("player_id", "The champion.").always(),
		text("display_name", "The champion's name.").strict(),
		number("points", "The champion's points.").strict(),
	)).strict(),
	list("final_standings", "The final table, first rank first.",
		object("", "", standingShape(false))).always(),
)
