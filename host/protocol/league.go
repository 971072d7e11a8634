package protocol

import "github.com/strategylab/strategylab/host/credential"

// The values of status in LEAGUE_STATUS and of the GET_STATUS query.
const (
	LeagueWaiting    = "waiting"
	LeagueScheduling = "scheduling"
	LeagueRunning    = "running"
	LeagueFinished   = "completed"
)

// StartLeague asks the manager to schedule the league and start it.
type StartLeague struct {
	Header
}

// LeagueStatus answers START_LEAGUE with the progress of the league.
type LeagueStatus struct {
	Header
	Status           string   `json:"status,omitzero" rule:"strict one=waiting,scheduling,running,completed" doc:"How far the league is."`
	CurrentRound     Opt[int] `json:"current_round,omitzero" rule:"count strict" doc:"The current round; 0 before the first."`
	TotalRounds      Opt[int] `json:"total_rounds,omitzero" rule:"count strict" doc:"The number of rounds; 0 before there is a schedule."`
	MatchesCompleted Opt[int] `json:"matches_completed,omitzero" rule:"count strict" doc:"The number of matches reported."`
}

// PlayerStatus is SET_PLAYER_STATUS, by which the organiser of a league takes a
// player out or lets it back in, and its answer. The name is the answer's.
type PlayerStatus struct {
	Header
	PlayerID    string `json:"player_id,omitzero" rule:"id" doc:"The player."`
	DisplayName string `json:"display_name,omitzero" doc:"The player's name; the manager does not need it."`
	Status      string `json:"status,omitzero" rule:"one=WITHDRAWN,SUSPENDED,ACTIVE" doc:"WITHDRAWN or SUSPENDED: the player loses its matches without being asked. ACTIVE: it plays, and its next registration needs no token; a player that was WITHDRAWN stays so."`
}

// Pace is SET_PACE, by which the organiser of a league pauses it, lets it go on, or sets the pause
// after each round, and its answer. SET_PACE leaves as it is what it does not have.
type Pace struct {
	Header
	Paused Opt[bool] `json:"paused,omitzero" doc:"True: the current round is played to its end, and no further one begins. False: the league goes on."`
	PaceMS Opt[int]  `json:"pace_ms,omitzero" rule:"min=0 max=86400000" doc:"The pause after each round, in milliseconds."` // in milliseconds
}

// LeagueCompleted notifies all agents that the league is over.
type LeagueCompleted struct {
	Header
	TotalRounds    Opt[int]   `json:"total_rounds,omitzero" rule:"count strict" doc:"The number of rounds played."`
	TotalMatches   Opt[int]   `json:"total_matches,omitzero" rule:"count strict" doc:"The number of matches played."`
	Champion       *Champion  `json:"champion,omitzero" rule:"strict" doc:"The winner of the league."`
	FinalStandings []Standing `json:"final_standings" rule:"always" doc:"The final table, first rank first."`
}

// Champion is the winner of a league.
type Champion struct {
	PlayerID    string   `json:"player_id" rule:"id always" doc:"The champion."`
	DisplayName string   `json:"display_name,omitzero" rule:"strict" doc:"The champion's name."`
	Points      Opt[int] `json:"points,omitzero" rule:"strict" doc:"The champion's points."`
}

// A RoundAnnouncement announces the matches of a round to players and referees, to these with more
// of each match. ReportProgress asks a referee for [MatchProgress].
type RoundAnnouncement struct {
	Header
	Byes           []string         `json:"byes,omitzero" rule:"each=id" doc:"The players who rest this round."`
	Matches        []AnnouncedMatch `json:"matches" rule:"always" doc:"The matches of the round."`
	ReportProgress Opt[bool]        `json:"report_progress,omitzero" doc:"Whether the manager takes MATCH_PROGRESS of the referee; to referees only."`
}

// AnnouncedMatch is one match of a round, as an announcement or the schedule has it.
type AnnouncedMatch struct {
	MatchID         string              `json:"match_id" rule:"id always" doc:"The match."`
	GameType        string              `json:"game_type,omitzero" rule:"strict" doc:"The game that is played."`
	PlayerAID       string              `json:"player_A_id" rule:"id always" doc:"The player in the role PLAYER_A."`
	PlayerBID       string              `json:"player_B_id" rule:"id always" doc:"The player in the role PLAYER_B."`
	RefereeID       string              `json:"referee_id,omitzero" rule:"id" doc:"The referee who conducts it."`
	RefereeEndpoint string              `json:"referee_endpoint,omitzero" rule:"strict" doc:"The referee's URL."`
	Status          string              `json:"status,omitzero" not:"ROUND_ANNOUNCEMENT" rule:"strict one=PENDING,RUNNING,FINISHED" doc:"How far the match is."`
	Winner          Opt[string]         `json:"winner,omitzero" not:"ROUND_ANNOUNCEMENT" rule:"id null" doc:"The winner; null without one, or not yet."`
	PlayerAEndpoint string              `json:"player_A_endpoint,omitzero" in:"ROUND_ANNOUNCEMENT" doc:"The URL of PLAYER_A; to referees only."`
	PlayerBEndpoint string              `json:"player_B_endpoint,omitzero" in:"ROUND_ANNOUNCEMENT" doc:"The URL of PLAYER_B; to referees only."`
	PlayerAKeys     *credential.KeyPair `json:"player_A_keys,omitzero" in:"ROUND_ANNOUNCEMENT" doc:"The match keys shared with PLAYER_A; to the match's referee only."`
	PlayerBKeys     *credential.KeyPair `json:"player_B_keys,omitzero" in:"ROUND_ANNOUNCEMENT" doc:"The match keys shared with PLAYER_B; to the match's referee only."`
	PlayerADialect  string              `json:"player_A_dialect,omitzero" in:"ROUND_ANNOUNCEMENT" doc:"How PLAYER_A is addressed where that is not by the book; to referees only."`
	PlayerBDialect  string              `json:"player_B_dialect,omitzero" in:"ROUND_ANNOUNCEMENT" doc:"How PLAYER_B is addressed where that is not by the book; to referees only."`
	Forfeits        []string            `json:"forfeits,omitzero" in:"ROUND_ANNOUNCEMENT" rule:"each=id" doc:"The players who lose without being asked; to referees only."`
	Absent          []string            `json:"absent,omitzero" in:"ROUND_ANNOUNCEMENT" rule:"each=id" doc:"The players who did not answer lately and are asked to join once; to referees only."`
	MatchKeys       Opt[bool]           `json:"match_keys,omitzero" in:"ROUND_ANNOUNCEMENT" doc:"False where the referee signs without a match key."`
}

// A LeagueStandingsUpdate has the standings after a round.
type LeagueStandingsUpdate struct {
	Header
	Standings []Standing `json:"standings" rule:"always" doc:"The table, first rank first."`
}

// A Standing is one player's line of the standings. Some managers leave counts
// out of the final standings, which is not the same as zero.
type Standing struct {
	Rank        int      `json:"rank" rule:"always min=1" doc:"The rank, from 1; never shared."`
	PlayerID    string   `json:"player_id" rule:"id always" doc:"The player."`
	DisplayName string   `json:"display_name,omitzero" rule:"strict" doc:"The player's name."`
	Played      Opt[int] `json:"played,omitzero" rule:"count strict" optional:"LEAGUE_COMPLETED" doc:"Matches played."`
	Wins        Opt[int] `json:"wins,omitzero" rule:"count strict" doc:"Matches won."`
	Draws       Opt[int] `json:"draws,omitzero" rule:"count strict" doc:"Matches drawn."`
	Losses      Opt[int] `json:"losses,omitzero" rule:"count strict" doc:"Matches lost, technical losses included."`
	Points      int      `json:"points" rule:"always" doc:"Points won."`
	Status      string   `json:"status,omitzero" doc:"WITHDRAWN or SUSPENDED for a player that the organiser has taken out."` // WITHDRAWN or SUSPENDED, by the organiser
}

// A RoundCompleted notifies all agents that every match of a round is reported. MatchesCompleted
// and MatchesPlayed are two names of one figure; both are written, either is read.
type RoundCompleted struct {
	Header
	MatchesCompleted Opt[int]      `json:"matches_completed,omitzero" rule:"count" doc:"The number of matches; the same as matches_played."`
	MatchesPlayed    Opt[int]      `json:"matches_played,omitzero" rule:"count strict" doc:"The number of matches in the round."`
	NextRoundID      Round         `json:"next_round_id,omitzero" rule:"strict null" doc:"The next round, null after the last."` // null after the last round
	Summary          *RoundSummary `json:"summary,omitzero" doc:"How the matches ended."`
}

// A RoundSummary counts the matches of a round by result. Wins, draws and
// technical losses add up to the total.
type RoundSummary struct {
	TotalMatches    Opt[int] `json:"total_matches,omitzero" rule:"count strict" doc:"All matches of the round."`
	Wins            Opt[int] `json:"wins,omitzero" rule:"count strict" doc:"Matches with a winner by play."`
	Draws           Opt[int] `json:"draws,omitzero" rule:"count strict" doc:"Matches drawn."`
	TechnicalLosses Opt[int] `json:"technical_losses,omitzero" rule:"count strict" doc:"Matches decided by a fault."`
}
