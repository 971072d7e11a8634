package protocol

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/rawjson"
)

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
	Status           string   `json:"status,omitzero"`
	CurrentRound     Opt[int] `json:"current_round,omitzero"`
	TotalRounds      Opt[int] `json:"total_rounds,omitzero"`
	MatchesCompleted Opt[int] `json:"matches_completed,omitzero"`
}

// PlayerStatus is SET_PLAYER_STATUS, by which the organiser of a league takes a
// player out or lets it back in, and its answer. The name is the answer's.
type PlayerStatus struct {
	Header
	PlayerID    string `json:"player_id,omitzero"`
	DisplayName string `json:"display_name,omitzero"`
	Status      string `json:"status,omitzero"`
}

// Pace is SET_PACE, by which the organiser of a league pauses it, lets it go on, or sets
// the pause after each round, and its answer. SET_PACE leaves as it is what it does not
// have.
type Pace struct {
	Header
	Paused Opt[bool] `json:"paused,omitzero"`
	PaceMS Opt[int]  `json:"pace_ms,omitzero"` // in milliseconds
}

// LeagueCompleted notifies all agents that the league is over.
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

func startLeagueShape() *shape {
	return message([]Role{RoleLauncher},
		ident("league_id", "The league to start.").strict(),
	)
}

func leagueStatusShape() *shape {
	return message([]Role{RoleManager},
		ident("league_id", "The league.").strict(),
		text("status", "How far the league is.").strict().
			values(LeagueWaiting, LeagueScheduling, LeagueRunning, LeagueFinished),
		count("current_round", "The current round; 0 before the first.").strict(),
		count("total_rounds", "The number of rounds; 0 before there is a schedule.").strict(),
		count("matches_completed", "The number of matches reported.").strict(),
	)
}

// organized are the values of a player's status that its league's organiser can set.
var organized = []string{"WITHDRAWN", "SUSPENDED", "ACTIVE"}

func setPlayerStatusShape() *shape {
	return message([]Role{RoleLauncher},
		ident("league_id", "The league.").strict(),
		ident("player_id", "The player.").always(),
		text("display_name", "The player's name; the manager does not need it."),
		text("status", "WITHDRAWN or SUSPENDED: the player loses its matches without being asked. ACTIVE: it plays, and its next registration "+
			"needs no token; a player that was WITHDRAWN stays so.").always().only(CodeInvalidFieldType, organized...),
	)
}

func playerStatusShape() *shape {
	return message([]Role{RoleManager},
		ident("league_id", "The league.").strict(),
		ident("player_id", "The player.").strict(),
		text("display_name", "The player's name.").strict(),
		text("status", "What the player's status is now.").strict().values(organized...),
	)
}

// longestPace is the longest pause after a round, a day in milliseconds.
const longestPace = 24 * 60 * 60 * 1000

func setPaceShape() *shape {
	return message([]Role{RoleLauncher},
		ident("league_id", "The league.").strict(),
		boolean("paused", "True: the current round is played to its end, and no further one begins. False: the league goes on."),
		number("pace_ms", "The pause after each round, in milliseconds.").within(0, longestPace),
	)
}

func leaguePaceShape() *shape {
	return message([]Role{RoleManager},
		ident("league_id", "The league.").strict(),
		boolean("paused", "Whether the league is paused.").strict(),
		number("pace_ms", "The pause after each round, in milliseconds.").strict().within(0, longestPace),
	)
}

func leagueCompletedShape() *shape {
	return message([]Role{RoleManager},
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
}

// A RoundAnnouncement announces the matches of a round to players and referees.
// The form for referees also has the players' endpoints and, for the referee of
// the match, the match keys; players get neither. ReportProgress asks a referee for
// [MatchProgress].
type RoundAnnouncement struct {
	Header
	Byes           []string         `json:"byes,omitzero"`
	Matches        []AnnouncedMatch `json:"matches"`
	ReportProgress Opt[bool]        `json:"report_progress,omitzero"`
}

// AnnouncedMatch is one match of a round.
type AnnouncedMatch struct {
	MatchID         string              `json:"match_id"`
	GameType        string              `json:"game_type,omitzero"`
	PlayerAID       string              `json:"player_A_id"`
	PlayerBID       string              `json:"player_B_id"`
	RefereeID       string              `json:"referee_id,omitzero"`
	RefereeEndpoint string              `json:"referee_endpoint,omitzero"`
	PlayerAEndpoint string              `json:"player_A_endpoint,omitzero"`
	PlayerBEndpoint string              `json:"player_B_endpoint,omitzero"`
	PlayerAKeys     *credential.KeyPair `json:"player_A_keys,omitzero"`
	PlayerBKeys     *credential.KeyPair `json:"player_B_keys,omitzero"`
	PlayerADialect  string              `json:"player_A_dialect,omitzero"` // where it is not that of the book
	PlayerBDialect  string              `json:"player_B_dialect,omitzero"`
	// Forfeits and Absent name players of the match, to referees only: those that
	// lose without being asked, and those that did not answer lately, who are asked
	// to join once.
	Forfeits []string `json:"forfeits,omitzero"`
	Absent   []string `json:"absent,omitzero"`
	// MatchKeys is false where the referee does not sign with match keys.
	MatchKeys Opt[bool]      `json:"match_keys,omitzero"`
	Extra     jsontext.Value `json:",embed"`
}

// A LeagueStandingsUpdate has the standings after a round.
type LeagueStandingsUpdate struct {
	Header
	Standings []Standing `json:"standings"`
}

// A Standing is one player's line of the standings. Some managers leave counts
// out of the final standings, which is not the same as zero.
type Standing struct {
	Rank        int            `json:"rank"`
	PlayerID    string         `json:"player_id"`
	DisplayName string         `json:"display_name,omitzero"`
	Played      Opt[int]       `json:"played,omitzero"`
	Wins        Opt[int]       `json:"wins,omitzero"`
	Draws       Opt[int]       `json:"draws,omitzero"`
	Losses      Opt[int]       `json:"losses,omitzero"`
	Points      int            `json:"points"`
	Status      string         `json:"status,omitzero"` // WITHDRAWN or SUSPENDED, by the organiser
	Extra       jsontext.Value `json:",embed"`
}

// A RoundCompleted notifies all agents that every match of a round is reported.
// MatchesCompleted and MatchesPlayed are two names of one figure; both are
// written, either is read.
type RoundCompleted struct {
	Header
	MatchesCompleted Opt[int]      `json:"matches_completed,omitzero"`
	MatchesPlayed    Opt[int]      `json:"matches_played,omitzero"`
	NextRoundID      Round         `json:"next_round_id,omitzero"` // null after the last round
	Summary          *RoundSummary `json:"summary,omitzero"`
}

// A RoundSummary counts the matches of a round by result. Wins, draws and
// technical losses add up to the total.
type RoundSummary struct {
	TotalMatches    Opt[int]       `json:"total_matches,omitzero"`
	Wins            Opt[int]       `json:"wins,omitzero"`
	Draws           Opt[int]       `json:"draws,omitzero"`
	TechnicalLosses Opt[int]       `json:"technical_losses,omitzero"`
	Extra           jsontext.Value `json:",embed"`
}

func keyPairShape() *shape {
	return fields(
		text("send", "The match key the referee signs with.").always(),
		text("expect", "The match key the player signs with.").always(),
		boolean("optional", "True in a tolerant league: the player may sign otherwise, or not at all."),
	)
}

// matchShape holds the fields that an announced and a scheduled match share.
func matchShape(more ...field) *shape {
	return fields(append([]field{
		ident("match_id", "The match.").always(),
		text("game_type", "The game that is played.").strict(),
		ident("player_A_id", "The player in the role PLAYER_A.").always(),
		ident("player_B_id", "The player in the role PLAYER_B.").always(),
		ident("referee_id", "The referee who conducts it."),
		text("referee_endpoint", "The referee's URL.").strict(),
	}, more...)...)
}

func roundAnnouncementShape() *shape {
	return message([]Role{RoleManager},
		ident("league_id", "The league.").strict(),
		round("round_id", "The round that begins.").always(),
		list("byes", "The players who rest this round.", ident("", "")),
		list("matches", "The matches of the round.", object("", "", matchShape(
			text("player_A_endpoint", "The URL of PLAYER_A; to referees only."),
			text("player_B_endpoint", "The URL of PLAYER_B; to referees only."),
			object("player_A_keys", "The match keys shared with PLAYER_A; to the match's referee only.", keyPairShape()),
			object("player_B_keys", "The match keys shared with PLAYER_B; to the match's referee only.", keyPairShape()),
			text("player_A_dialect", "How PLAYER_A is addressed where that is not by the book; to referees only."),
			text("player_B_dialect", "How PLAYER_B is addressed where that is not by the book; to referees only."),
			list("forfeits", "The players who lose without being asked; to referees only.", ident("", "")),
			list("absent", "The players who did not answer lately and are asked to join once; to referees only.", ident("", "")),
			boolean("match_keys", "False where the referee signs without a match key."),
		))).always(),
		boolean("report_progress", "Whether the manager takes MATCH_PROGRESS of the referee; to referees only."),
	)
}

// standingShape is a line of the table; the final one lacks the number of
// matches played in the sources.
func standingShape(running bool) *shape {
	played := count("played", "Matches played.")
	if running {
		played = played.strict()
	}
	return fields(
		number("rank", "The rank, from 1; never shared.").always().within(1, rawjson.MaxInteger),
		ident("player_id", "The player.").always(),
		text("display_name", "The player's name.").strict(),
		played,
		count("wins", "Matches won.").strict(),
		count("draws", "Matches drawn.").strict(),
		count("losses", "Matches lost, technical losses included.").strict(),
		number("points", "Points won.").always(),
		text("status", "WITHDRAWN or SUSPENDED for a player that the organiser has taken out."),
	)
}

func leagueStandingsUpdateShape() *shape {
	return message([]Role{RoleManager},
		ident("league_id", "The league.").strict(),
		round("round_id", "The round after which the table stands so.").strict(),
		list("standings", "The table, first rank first.", object("", "", standingShape(true))).always(),
	)
}

func roundCompletedShape() *shape {
	return message([]Role{RoleManager},
		ident("league_id", "The league.").strict(),
		round("round_id", "The round that is over.").always(),
		count("matches_completed", "The number of matches; the same as matches_played."),
		count("matches_played", "The number of matches in the round.").strict(),
		round("next_round_id", "The next round, null after the last.").strict().nullable(),
		object("summary", "How the matches ended.", fields(
			count("total_matches", "All matches of the round.").strict(),
			count("wins", "Matches with a winner by play.").strict(),
			count("draws", "Matches drawn.").strict(),
			count("technical_losses", "Matches decided by a fault.").strict(),
		)),
	)
}
