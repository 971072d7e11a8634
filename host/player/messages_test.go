package player_test

import (
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

func (r *rig) fromManager(t protocol.Type) protocol.Header {
	h := protocol.NewHeader(t, "league_manager", protocol.Timestamp(time.Now()), "conv-"+string(t))
	h.LeagueID, h.AuthToken, h.RoundID = r.manager.league, r.manager.sign(), protocol.RoundNumber(1)
	return h
}

func (r *rig) announcement(matches ...protocol.AnnouncedMatch) *protocol.RoundAnnouncement {
	return &protocol.RoundAnnouncement{Header: r.fromManager(protocol.TypeRoundAnnouncement), Matches: matches}
}

func announced(match, a, b, referee string) protocol.AnnouncedMatch {
	return protocol.AnnouncedMatch{
		MatchID: match, GameType: protocol.GameEvenOdd, PlayerAID: a, PlayerBID: b, RefereeID: referee, RefereeEndpoint: "http://127.0.0.1:8001/mcp",
	}
}

func (r *rig) standings() *protocol.LeagueStandingsUpdate {
	return &protocol.LeagueStandingsUpdate{Header: r.fromManager(protocol.TypeLeagueStandingsUpdate), Standings: []protocol.Standing{standing(1, "P01")}}
}

func standing(rank int, id string) protocol.Standing {
	return protocol.Standing{
		Rank: rank, PlayerID: id, DisplayName: id, Played: protocol.Some(1), Wins: protocol.Some(0), Draws: protocol.Some(1), Losses: protocol.Some(0), Points: 1,
	}
}

func (r *rig) roundCompleted() *protocol.RoundCompleted {
	return &protocol.RoundCompleted{
		Header: r.fromManager(protocol.TypeRoundCompleted), MatchesCompleted: protocol.Some(1), MatchesPlayed: protocol.Some(1),
		NextRoundID: protocol.RoundNumber(2), Summary: &protocol.RoundSummary{TotalMatches: protocol.Some(1), Wins: protocol.Some(0), Draws: protocol.Some(1), TechnicalLosses: protocol.Some(0)},
	}
}

func (r *rig) leagueCompleted() *protocol.LeagueCompleted {
	return &protocol.LeagueCompleted{
		Header: r.fromManager(protocol.TypeLeagueCompleted), TotalRounds: protocol.Some(1), TotalMatches: protocol.Some(1),
		Champion: &protocol.Champion{PlayerID: "P02", DisplayName: "P02", Points: protocol.Some(3)}, FinalStandings: []protocol.Standing{standing(1, "P02"), standing(2, "P01")},
	}
}

func (r *rig) fromReferee(t protocol.Type, match string) protocol.Header {
	h := protocol.NewHeader(t, "referee:REF01", protocol.Timestamp(time.Now()), "conv-"+match)
	h.LeagueID, h.MatchID, h.GameType, h.RoundID = r.manager.league, match, protocol.GameEvenOdd, protocol.RoundNumber(1)
	h.AuthToken = r.manager.keys(match, "REF01").Send
	return h
}

func (r *rig) invitation(match string) *protocol.GameInvitation {
	return &protocol.GameInvitation{Header: r.fromReferee(protocol.TypeGameInvitation, match), RoleInMatch: protocol.PlayerA, OpponentID: "P02"}
}

func (r *rig) call(match string) *protocol.ChooseParityCall {
	none := protocol.Some(0)
	return &protocol.ChooseParityCall{
		Header: r.fromReferee(protocol.TypeChooseParityCall, match), PlayerID: "P01",
		Context:  &protocol.ChoiceContext{OpponentID: "P02", RoundID: protocol.RoundNumber(1), YourStandings: &protocol.OwnStandings{Wins: none, Losses: none, Draws: none, Points: none}},
		Deadline: protocol.Deadline(time.Now().Add(30 * time.Second)),
	}
}

func (r *rig) over(match string) *protocol.GameOver {
	return &protocol.GameOver{
		Header: r.fromReferee(protocol.TypeGameOver, match),
		GameResult: &protocol.GameResult{
			Status: protocol.StatusWin, WinnerPlayerID: protocol.Some("P01"), DrawnNumber: protocol.Some(8), NumberParity: protocol.Some("even"),
			Choices: map[string]protocol.Choice{"P01": "even", "P02": "odd"}, Reason: "P01 chose the parity of the drawn number",
		},
	}
}

func (r *rig) gameError(match string) *protocol.GameError {
	told, err := protocol.Refuse(protocol.CodeTimeout, "", "too late").Message(r.fromReferee(protocol.TypeGameError, match))
	if err != nil {
		r.t.Fatal(err)
	}
	m := told.(*protocol.GameError)
	m.PlayerID, m.AffectedPlayer, m.GameState, m.ActionRequired = "P01", "P01", "COLLECTING_CHOICES", "CHOOSE_PARITY_RESPONSE"
	m.Retryable, m.RetryCount, m.MaxRetries = protocol.Some(true), protocol.Some(1), protocol.Some(3)
	m.RetryInfo = &protocol.RetryInfo{RetryCount: protocol.Some(1), MaxRetries: protocol.Some(3), NextRetryAt: protocol.Deadline(time.Now())}
	m.Consequence = "none"
	return m
}

// plays joins a match and chooses in it.
func (r *rig) plays(match string) protocol.Choice {
	r.t.Helper()
	must[*protocol.GameJoinAck](r, r.invitation(match))
	return r.choice(match)
}

func (r *rig) choice(match string) protocol.Choice {
	r.t.Helper()
	return must[*protocol.ChooseParityResponse](r, r.call(match)).Chosen()
}

// TestTolerant sends what foreign managers and referees send.
func TestTolerant(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) { r.cfg.Mode = protocol.Tolerant })
	tests := []struct{ name, body, want string }{
		{"no header fields", `{"jsonrpc":"2.0","id":1,"method":"handle_game_invitation","params":{"sender":"referee:R1","match_id":"A1","role_in_match":"player_b"}}`, `"accept":true`},
		{"no context", `{"jsonrpc":"2.0","id":2,"method":"choose_parity","params":{"sender":"referee:R1","match_id":"A1"}}`, `"parity_choice":"even"`},
		{"no invitation", `{"jsonrpc":"2.0","id":3,"method":"parity_choose","params":{"sender":"referee:R1","match_id":"A2","player_id":"P01","deadline":"2020-01-01T00:00:00Z"}}`, `"choice":"even"`},
		{"bare", `{"message_type":"GAME_INVITATION","sender":"referee:R1","match_id":"A3"}`, `"message_type":"GAME_JOIN_ACK"`},
		{"round with a name", `{"jsonrpc":"2.0","id":4,"method":"notify_round","params":{"message_type":"ROUND_ANNOUNCEMENT","sender":"league_manager:LM01","round_id":"ROUND_1","matches":[]}}`, `ROUND_ANNOUNCEMENT_ACK`},
		{"result of a match unknown", `{"jsonrpc":"2.0","id":5,"method":"notify_match_result","params":{"message_type":"GAME_OVER","sender":"referee:R1","match_id":"A9","game_result":{"status":"DRAW"}}}`, `GAME_OVER_ACK`},
		{"flat result", `{"jsonrpc":"2.0","id":6,"method":"notify_match_result","params":{"message_type":"GAME_OVER","sender":"referee:R1","match_id":"A1","result":"WIN","your_choice":"even","opponent_choice":"odd","drawn_number":4}}`, `GAME_OVER_ACK`},
		{"unknown", `{"jsonrpc":"2.0","id":7,"method":"notify_weather","params":{"message_type":"WEATHER_REPORT","sender":"league_manager","sunny":true}}`, `"status":"ACKNOWLEDGED"`},
	}
	for _, test := range tests {
		got := r.post(test.body)
		if !strings.Contains(got, test.want) || strings.Contains(got, `"error"`) {
			t.Errorf("%s: %s\n is answered by %s, want %s", test.name, test.body, got, test.want)
		}
	}
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":8,"method":"start_league","params":{"message_type":"START_LEAGUE","sender":"launcher","league_id":"x"}}`,
		`{"jsonrpc":"2.0","id":9,"method":"notify_weather","params":{"sender":"league_manager"}}`,
	} {
		if got := r.post(body); !strings.Contains(got, `-32601`) {
			t.Errorf("%s\n is answered by %s, want a refusal", body, got)
		}
	}
	r.wants("start", "choose A1", "choose A2", "observe A1")
	if o := r.s.outcomes[0]; o.Result != game.Win || o.Number != 4 || o.OpponentChoice != game.NoParity && o.OpponentChoice != game.Odd {
		t.Errorf("told %+v", o)
	}
}

// TestStrict refuses the same things where the host is ours; more are in the suite of conformance.
func TestStrict(t *testing.T) {
	t.Parallel()
	r := running(t, nil)
	r.refused(r.over("R9M9"), 4003, protocol.CodeMatchNotFound)
	must[*protocol.GameJoinAck](r, r.invitation("R1M1"))
	contradiction := r.over("R1M1")
	contradiction.GameResult.WinnerPlayerID = protocol.Some("P99")
	if _, err := r.send(contradiction); err == nil {
		t.Error("takes a winner who did not play")
	}
	start := &protocol.StartLeague{Header: r.fromManager(protocol.TypeStartLeague)}
	start.Sender = "launcher"
	if _, err := r.send(start); dialect.CodeOf(err) != protocol.CodeUnknownMessageType {
		t.Errorf("START_LEAGUE: %v", err)
	}
	r.wants("start")
}
