package player_test

import (
	"time"

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
	return &protocol.ChooseParityCall{
		Header: r.fromReferee(protocol.TypeChooseParityCall, match), PlayerID: "P01",
		Context:  &protocol.ChoiceContext{OpponentID: "P02", RoundID: protocol.RoundNumber(1), YourStandings: ownStandings()},
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
	m, err := protocol.NewGameError(r.fromReferee(protocol.TypeGameError, match), protocol.Refuse(protocol.CodeTimeout, "", "too late"))
	if err != nil {
		r.t.Fatal(err)
	}
	m.PlayerID, m.AffectedPlayer, m.GameState, m.ActionRequired = "P01", "P01", "COLLECTING_CHOICES", "CHOOSE_PARITY_RESPONSE"
	m.Retryable, m.RetryCount, m.MaxRetries = protocol.Some(true), protocol.Some(1), protocol.Some(3)
	m.RetryInfo = &protocol.RetryInfo{RetryCount: protocol.Some(1), MaxRetries: protocol.Some(3), NextRetryAt: protocol.Deadline(time.Now())}
	m.Consequence = "none"
	return m
}

func (r *rig) choice(match string) protocol.Choice {
	r.t.Helper()
	return must[*protocol.ChooseParityResponse](r, r.call(match)).Chosen()
}

func ownStandings() *protocol.OwnStandings {
	none := protocol.Some(0)
	return &protocol.OwnStandings{Wins: none, Losses: none, Draws: none, Points: none}
}
