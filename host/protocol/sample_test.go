package protocol

import (
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/credential"
)

// The league that the samples are taken from: four players, two referees.
const (
	cup     = "autumn_cup"
	heron   = "P01"
	otter   = "P02"
	lynx    = "P03"
	wren    = "P04"
	refOne  = "REF01"
	manager = "league_manager"
)

// sampleToken returns the token of an agent in the samples; its randomness is
// the agent's id over and over.
func sampleToken(agent string) string {
	token, err := credential.NewToken(strings.NewReader(strings.Repeat(agent, 20)), agent)
	if err != nil {
		panic(err) // the source above never runs dry
	}
	return token
}

// clock returns the time of day at which a sample was sent.
func clock(hhmmss string) string { return "2026-03-14T" + hhmmss + "Z" }

// header returns the header of a sample by the manager or to it.
func header(t Type, sender, hhmmss, conversation string) Header {
	h := NewHeader(t, sender, clock(hhmmss), conversation)
	h.LeagueID = cup
	return h
}

// fromManager is a header to the player P01.
func fromManager(t Type, hhmmss, conversation string) Header {
	h := header(t, manager, hhmmss, conversation)
	h.AuthToken = credential.NewVerifier(sampleToken(heron)).ManagerToken(cup)
	return h
}

// inMatch is a header of match R1M1 between P01 and P02, to or from P01.
func inMatch(t Type, sender, hhmmss string) Header {
	h := header(t, sender, hhmmss, "autumn_cup-R1M1")
	keys := credential.NewVerifier(sampleToken(heron)).MatchKeys(cup, "R1M1", refOne)
	if strings.HasPrefix(sender, "referee:") {
		h.AuthToken = keys.Send
	} else {
		h.AuthToken = keys.Expect
	}
	h.RoundID, h.MatchID, h.GameType = RoundNumber(1), "R1M1", GameEvenOdd
	return h
}

// sample is a message under the name that its example file bears.
type sample struct {
	name    string
	message Message
	sent    Type // for answers: what it answers
}

// samples returns one message of every type, and of some types the variants
// that look different.
func samples(t testing.TB) []sample {
	var all []sample
	all = append(all, signupSamples()...)
	all = append(all, leagueSamples()...)
	all = append(all, matchSamples()...)
	all = append(all, resultSamples()...)
	all = append(all, querySamples(t)...)
	all = append(all, faultSamples(t)...)
	return all
}

// isVariant reports whether a sample shows another look of a type that has an
// example already.
func (s sample) isVariant() bool { return s.name != lower(s.message.Head().MessageType) }

func request(name string, m Message) sample { return sample{name: name, message: m} }

func reply(name string, sent Type, m Message) sample { return sample{name, m, sent} }

func signupSamples() []sample {
	referee := NewHeader(TypeRefereeRegisterRequest, "referee:north-court", clock("09:00:00"), "signup-north-court")
	player := NewHeader(TypeLeagueRegisterRequest, "player:heron", clock("09:00:05"), "signup-heron")
	refereeYes := header(typeRefereeRegisterResponse, manager, "09:00:01", "signup-north-court")
	refereeYes.AuthToken = sampleToken(refOne)
	playerYes := header(typeLeagueRegisterResponse, manager, "09:00:06", "signup-heron")
	playerYes.AuthToken = sampleToken(heron)
	rejected := header(typeLeagueRegisterResponse, manager, "09:30:00", "signup-late")
	rejected.LeagueID = ""
	return []sample{
		request("referee_register_request", &RefereeRegisterRequest{referee, RefereeMeta{
			DisplayName: "North Court", Version: "2.3.0", GameTypes: []string{GameEvenOdd},
			ContactEndpoint: "http://127.0.0.1:8001/mcp", MaxConcurrentMatches: Some(4),
		}}),
		reply("referee_register_response", TypeRefereeRegisterRequest, &RefereeRegisterResponse{
			refereeYes, StatusAccepted, refOne, Null[string](),
		}),
		request("league_register_request", &LeagueRegisterRequest{player, PlayerMeta{
			DisplayName: "Heron", Version: "0.9.1", GameTypes: []string{GameEvenOdd},
			ContactEndpoint: "http://127.0.0.1:8101/mcp",
		}}),
		reply("league_register_response", TypeLeagueRegisterRequest, &LeagueRegisterResponse{
			playerYes, StatusAccepted, heron, Null[string](),
		}),
		reply("league_register_response_rejected", TypeLeagueRegisterRequest, &LeagueRegisterResponse{
			Header: rejected, Status: StatusRejected, Reason: Some("The league is already running."),
		}),
	}
}

func leagueSamples() []sample {
	announced := []AnnouncedMatch{
		{MatchID: "R1M1", GameType: GameEvenOdd, PlayerAID: heron, PlayerBID: otter, RefereeID: refOne, RefereeEndpoint: "http://127.0.0.1:8001/mcp"},
		{MatchID: "R1M2", GameType: GameEvenOdd, PlayerAID: lynx, PlayerBID: wren, RefereeID: "REF02", RefereeEndpoint: "http://127.0.0.1:8002/mcp"},
	}
	round := func(m Header, n int) Header { m.RoundID = RoundNumber(n); return m }
	note := func(t Type, hhmmss, conversation string) Header {
		return round(fromManager(t, hhmmss, conversation), 1)
	}
	ack := func(t Type, hhmmss, conversation string) *Ack {
		return &Ack{Header: round(header(t, "player:"+heron, hhmmss, conversation), 1), Status: StatusAcknowledged, PlayerID: heron}
	}
	start := header(TypeStartLeague, "launcher", "09:10:00", "start-autumn_cup")
	start.AuthToken = "admin-5f1d0c7be2a94b63"
	setting := header(TypeSetPlayerStatus, "launcher", "09:11:00", "status-P03")
	setting.AuthToken = start.AuthToken
	pacing := header(TypeSetPace, "launcher", "09:11:30", "pace-autumn_cup")
	pacing.AuthToken = start.AuthToken
	last := fromManager(TypeLeagueCompleted, "10:30:00", "autumn_cup-over")
	lastAck := ack(typeLeagueCompletedAck, "10:30:01", "autumn_cup-over")
	lastAck.RoundID = Round{}
	return []sample{
		request("start_league", &StartLeague{start}),
		reply("league_status", TypeStartLeague, &LeagueStatus{
			header(typeLeagueStatus, manager, "09:10:01", "start-autumn_cup"),
			LeagueRunning, Some(1), Some(3), Some(0),
		}),
		request("set_player_status", &PlayerStatus{Header: setting, PlayerID: lynx, Status: "WITHDRAWN"}),
		reply("player_status", TypeSetPlayerStatus, &PlayerStatus{
			header(typePlayerStatus, manager, "09:11:01", "status-P03"), lynx, "Lynx", "WITHDRAWN",
		}),
		request("set_pace", &Pace{Header: pacing, Paused: Some(true), PaceMS: Some(2000)}),
		reply("league_pace", TypeSetPace, &Pace{header(typeLeaguePace, manager, "09:11:31", "pace-autumn_cup"), Some(true), Some(2000)}),
		request("round_announcement", &RoundAnnouncement{Header: note(TypeRoundAnnouncement, "09:10:02", "autumn_cup-round-1"), Byes: []string{}, Matches: announced}),
		request("round_announcement_to_referee", refereeAnnouncement(announced)),
		reply("round_announcement_ack", TypeRoundAnnouncement, ack(typeRoundAnnouncementAck, "09:10:03", "autumn_cup-round-1")),
		request("league_standings_update", &LeagueStandingsUpdate{note(TypeLeagueStandingsUpdate, "09:12:00", "autumn_cup-table-1"), table()}),
		reply("standings_update_ack", TypeLeagueStandingsUpdate, ack(typeStandingsUpdateAck, "09:12:01", "autumn_cup-table-1")),
		request("round_completed", &RoundCompleted{note(TypeRoundCompleted, "09:12:02", "autumn_cup-round-1-over"),
			Some(2), Some(2), RoundNumber(2), &RoundSummary{TotalMatches: Some(2), Wins: Some(1), Draws: Some(1), TechnicalLosses: Some(0)}}),
		request("round_completed_last", &RoundCompleted{round(fromManager(TypeRoundCompleted, "10:29:58", "autumn_cup-round-3-over"), 3),
			Some(2), Some(2), NoRound(), &RoundSummary{TotalMatches: Some(2), Wins: Some(1), Draws: Some(0), TechnicalLosses: Some(1)}}),
		reply("round_completed_ack", TypeRoundCompleted, ack(typeRoundCompletedAck, "09:12:03", "autumn_cup-round-1-over")),
		request("league_completed", &LeagueCompleted{last, Some(3), Some(6),
			&Champion{PlayerID: heron, DisplayName: "Heron", Points: Some(7)}, finalTable()}),
		reply("league_completed_ack", TypeLeagueCompleted, lastAck),
	}
}

// refereeAnnouncement is the form of the announcement that bears endpoints
// and, for its own match, the keys.
func refereeAnnouncement(announced []AnnouncedMatch) *RoundAnnouncement {
	h := header(TypeRoundAnnouncement, manager, "09:10:04", "autumn_cup-round-1")
	h.AuthToken = credential.NewVerifier(sampleToken(refOne)).ManagerToken(cup)
	h.RoundID = RoundNumber(1)
	keys := func(player string) *credential.KeyPair {
		pair := credential.NewVerifier(sampleToken(player)).MatchKeys(cup, "R1M1", refOne)
		return &pair
	}
	matches := append([]AnnouncedMatch{}, announced...)
	matches[0].PlayerAEndpoint, matches[0].PlayerBEndpoint = "http://127.0.0.1:8101/mcp", "http://127.0.0.1:8102/mcp"
	matches[0].PlayerAKeys, matches[0].PlayerBKeys = keys(heron), keys(otter)
	return &RoundAnnouncement{Header: h, Byes: []string{"P05"}, Matches: matches, ReportProgress: Some(true)}
}

// table is the table after the first round: Heron beat Otter, the others drew.
func table() []Standing {
	row := func(rank int, id, name string, wins, draws, losses, points int) Standing {
		return Standing{Rank: rank, PlayerID: id, DisplayName: name, Played: Some(1),
			Wins: Some(wins), Draws: Some(draws), Losses: Some(losses), Points: points}
	}
	return []Standing{
		row(1, heron, "Heron", 1, 0, 0, 3), row(2, lynx, "Lynx", 0, 1, 0, 1),
		row(3, wren, "Wren", 0, 1, 0, 1), row(4, otter, "Otter", 0, 0, 1, 0),
	}
}

func finalTable() []Standing {
	row := func(rank int, id, name string, wins, draws, losses, points int) Standing {
		return Standing{Rank: rank, PlayerID: id, DisplayName: name,
			Wins: Some(wins), Draws: Some(draws), Losses: Some(losses), Points: points}
	}
	return []Standing{
		row(1, heron, "Heron", 2, 1, 0, 7), row(2, wren, "Wren", 1, 1, 1, 4),
		row(3, lynx, "Lynx", 0, 3, 0, 3), row(4, otter, "Otter", 0, 1, 2, 1),
	}
}

func matchSamples() []sample {
	referee, player := "referee:"+refOne, "player:"+heron
	receipt := func(t Type, hhmmss string) *Ack {
		h := inMatch(t, referee, hhmmss)
		return &Ack{Header: h, Status: StatusAcknowledged, PlayerID: heron}
	}
	over := func(status string, winner Opt[string], number Opt[int], parity Opt[string], choices map[string]Choice, reason string, offenders ...string) *GameOver {
		return &GameOver{Header: inMatch(TypeGameOver, referee, "09:10:20"), GameResult: &GameResult{
			Status: status, WinnerPlayerID: winner, DrawnNumber: number, NumberParity: parity,
			Choices: choices, TechnicalLossPlayerIDs: offenders, Reason: reason,
		}}
	}
	return []sample{
		request("game_invitation", &GameInvitation{inMatch(TypeGameInvitation, referee, "09:10:10"), PlayerA, otter}),
		reply("game_join_ack", TypeGameInvitation, &GameJoinAck{
			Header: inMatch(TypeGameJoinAck, player, "09:10:11"), PlayerID: heron, ArrivalTimestamp: clock("09:10:11"), Accept: Some(true),
		}),
		request("game_join_ack_posted", &GameJoinAck{
			Header: inMatch(TypeGameJoinAck, player, "09:10:11"), PlayerID: heron, ArrivalTimestamp: clock("09:10:11"), Accept: Some(true),
		}),
		reply("game_join_ack_ack", TypeGameJoinAck, receipt(typeGameJoinAckAck, "09:10:12")),
		request("choose_parity_call", &ChooseParityCall{inMatch(TypeChooseParityCall, referee, "09:10:13"), heron,
			&ChoiceContext{OpponentID: otter, RoundID: RoundNumber(1), YourStandings: &OwnStandings{
				Wins: Some(0), Losses: Some(0), Draws: Some(0), Points: Some(0)}},
			clock("09:10:43"), ""}),
		reply("choose_parity_response", TypeChooseParityCall, &ChooseParityResponse{
			Header: inMatch(TypeChooseParityResponse, player, "09:10:14"), PlayerID: heron, ParityChoice: Odd,
		}),
		reply("choose_parity_response_ack", TypeChooseParityResponse, receipt(typeChooseParityResponseAck, "09:10:15")),
		request("game_over", over(StatusWin, Some(heron), Some(7), Some("odd"),
			map[string]Choice{heron: Odd, otter: Even}, "7 was drawn, which is odd: P01 said so and P02 did not.")),
		request("game_over_draw", over(StatusDraw, Null[string](), Some(4), Some("even"),
			map[string]Choice{heron: Odd, otter: Odd}, "4 was drawn, which neither player had said.")),
		request("game_over_technical_loss", over(StatusTechnicalLoss, Some(heron), Null[int](), Null[string](),
			map[string]Choice{heron: Odd}, "P02 gave no choice in time.", otter)),
		reply("game_over_ack", TypeGameOver, &Ack{Header: inMatch(typeGameOverAck, player, "09:10:21"), Status: StatusAcknowledged, PlayerID: heron}),
		request("game_error", &GameError{
			Header: inMatch(TypeGameError, referee, "09:10:43"), PlayerID: heron, AffectedPlayer: heron,
			ErrorCode: string(CodeTimeout), ErrorName: CodeTimeout.Name(), ErrorDescription: CodeTimeout.Name(),
			Detail:    "No choice from P01 arrived within 30 s; the call is repeated.",
			GameState: "COLLECTING_CHOICES", ActionRequired: string(TypeChooseParityResponse),
			Retryable: Some(true), RetryCount: Some(1), MaxRetries: Some(3),
			RetryInfo:   &RetryInfo{RetryCount: Some(1), MaxRetries: Some(3), NextRetryAt: clock("09:10:44")},
			Consequence: "After 3 repeats without an answer the match is lost.",
		}),
		reply("game_error_ack", TypeGameError, &Ack{Header: inMatch(typeGameErrorAck, player, "09:10:44"), Status: StatusAcknowledged, PlayerID: heron}),
	}
}

func resultSamples() []sample {
	h := inMatch(TypeMatchResultReport, "referee:"+refOne, "09:10:22")
	h.AuthToken, h.ConversationID = sampleToken(refOne), "autumn_cup-R1M1-report"
	report := func(winner Opt[string], a, b int, d ResultDetails) *MatchResultReport {
		return &MatchResultReport{h, MatchResult{Winner: winner, Score: map[string]int{heron: a, otter: b}, Details: &d}}
	}
	ack := h.Answer(typeMatchResultAck, manager, clock("09:10:23"))
	under := header(TypeMatchProgress, "referee:"+refOne, "09:10:12", "autumn_cup-progress")
	under.AuthToken = h.AuthToken
	return []sample{
		request("match_progress", &MatchProgress{under, []MatchState{{
			MatchID: "R1M1", Asked: []string{heron, otter}, Chosen: []string{heron}, Retried: []string{otter}, TimeLeftMS: Some(24500),
		}}}),
		reply("match_progress_ack", TypeMatchProgress, &Ack{
			Header: header(typeMatchProgressAck, manager, "09:10:12", "autumn_cup-progress"), Status: StatusAcknowledged,
		}),
		request("match_result_report", report(Some(heron), 3, 0, ResultDetails{
			DrawnNumber: Some(7), NumberParity: Some("odd"), Choices: map[string]Choice{heron: Odd, otter: Even}, Status: StatusWin})),
		request("match_result_report_draw", report(Null[string](), 1, 1, ResultDetails{
			DrawnNumber: Some(4), NumberParity: Some("even"), Choices: map[string]Choice{heron: Odd, otter: Odd}, Status: StatusDraw})),
		request("match_result_report_technical_loss", report(Some(heron), 3, 0, ResultDetails{
			DrawnNumber: Null[int](), NumberParity: Null[string](), Choices: map[string]Choice{heron: Odd},
			Status: StatusTechnicalLoss, TechnicalLossPlayerIDs: []string{otter}})),
		request("match_result_report_both_at_fault", report(Null[string](), 0, 0, ResultDetails{
			DrawnNumber: Null[int](), NumberParity: Null[string](), Choices: map[string]Choice{},
			Status: StatusTechnicalLoss, TechnicalLossPlayerIDs: []string{heron, otter}})),
		reply("match_result_ack", TypeMatchResultReport, &MatchResultAck{ack, StatusAccepted, Some(true)}),
	}
}

func querySamples(t testing.TB) []sample {
	ask := func(kind string, p *QueryParams) *LeagueQuery {
		h := header(TypeLeagueQuery, "player:"+heron, "09:20:00", "ask-"+heron)
		h.AuthToken = sampleToken(heron)
		return &LeagueQuery{h, kind, p}
	}
	h := header(typeLeagueQueryResponse, manager, "09:20:01", "ask-"+heron)
	scheduled := func(id, a, b, referee, endpoint, status string, winner Opt[string]) ScheduledMatch {
		return ScheduledMatch{MatchID: id, GameType: GameEvenOdd, PlayerAID: a, PlayerBID: b,
			RefereeID: referee, RefereeEndpoint: endpoint, Status: status, Winner: winner}
	}
	const one, two = "http://127.0.0.1:8001/mcp", "http://127.0.0.1:8002/mcp"
	schedule := ScheduleData{TotalRounds: Some(3), Rounds: []ScheduledRound{
		{RoundID: RoundNumber(1), Byes: []string{}, Matches: []ScheduledMatch{
			scheduled("R1M1", heron, otter, refOne, one, MatchFinished, Some(heron)),
			scheduled("R1M2", lynx, wren, "REF02", two, MatchFinished, Null[string]()),
		}},
		{RoundID: RoundNumber(2), Byes: []string{}, Matches: []ScheduledMatch{
			scheduled("R2M1", heron, lynx, refOne, one, MatchRunning, Null[string]()),
			scheduled("R2M2", wren, otter, "REF02", two, MatchPending, Null[string]()),
		}},
	}}
	return []sample{
		request("league_query", ask(QueryNextMatch, &QueryParams{PlayerID: heron})),
		request("league_query_schedule", ask(QuerySchedule, &QueryParams{RoundID: RoundNumber(2)})),
		response(t, "league_query_response", h, QueryStandings, StandingsData{CurrentRound: Some(1), Standings: table()}),
		response(t, "league_query_response_schedule", h, QuerySchedule, schedule),
		response(t, "league_query_response_players", h, QueryPlayers, PlayersData{Players: []PlayerInfo{
			{PlayerID: heron, DisplayName: "Heron", Version: "0.9.1", GameTypes: []string{GameEvenOdd}, State: "ACTIVE"},
			{PlayerID: otter, DisplayName: "Otter", Version: "1.4.2", GameTypes: []string{GameEvenOdd}, State: "SUSPENDED"},
		}}),
		response(t, "league_query_response_status", h, QueryStatus, StatusData{LeagueID: cup, Status: LeagueRunning,
			State: "RUNNING_LEAGUE", CurrentRound: Some(2), TotalRounds: Some(3), MatchesCompleted: Some(2), TotalMatches: Some(6), Paused: Some(false), PaceMS: Some(0)}),
		response(t, "league_query_response_next_match", h, QueryNextMatch, NextMatchData{NextMatch: &NextMatch{
			MatchID: "R2M1", RoundID: RoundNumber(2), OpponentID: lynx, RefereeID: refOne,
			RefereeEndpoint: one, GameType: GameEvenOdd, RoleInMatch: PlayerA}}),
		response(t, "league_query_response_no_next_match", h, QueryNextMatch, NextMatchData{}),
	}
}

func response[T QueryData](t testing.TB, name string, h Header, kind string, data T) sample {
	m, err := NewQueryResponse(h, kind, data)
	if err != nil {
		t.Fatal(err)
	}
	return reply(name, TypeLeagueQuery, m)
}

func faultSamples(t testing.TB) []sample {
	report := inMatch(TypeMatchResultReport, "referee:"+refOne, "09:10:40")
	h := report.Answer(TypeLeagueError, manager, clock("09:10:41"))
	m, err := duplicateReport().Message(h)
	if err != nil {
		t.Fatal(err)
	}
	return []sample{reply("league_error", TypeMatchResultReport, m)}
}

// duplicateReport is the refusal that the LEAGUE_ERROR of the samples says.
func duplicateReport() *Error {
	return Refuse(CodeDuplicateReport, TypeMatchResultReport, "The result of R1M1 was taken down at 09:10:23; this report says the same.").
		With("match_id", "R1M1").With("previous_report_time", clock("09:10:23")).With("same_result", true)
}

// sampleTime is the time of the first sample.
var sampleTime = time.Date(2026, time.March, 14, 9, 0, 0, 0, time.UTC)
