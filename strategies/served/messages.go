package served

import (
	"context"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies"
)

// What the manager and the referee of a seat say to its agent.

// fromManager returns the header of a message of the manager.
func (s *seat) fromManager(a *agent, t protocol.Type, round int) protocol.Header {
	h := protocol.NewHeader(t, string(protocol.RoleManager), protocol.Timestamp(time.Now()), s.key())
	h.AuthToken, h.LeagueID, h.RoundID = a.verifier.ManagerToken(league), league, protocol.RoundNumber(round)
	return h
}

// fromReferee returns the header of a message of the referee about a match.
func (s *seat) fromReferee(t protocol.Type, match string, round int) protocol.Header {
	h := protocol.NewHeader(t, protocol.Sender(protocol.RoleReferee, refereeID), protocol.Timestamp(time.Now()), s.talk)
	h.AuthToken = s.with.verifier.MatchKeys(league, match, refereeID).Send
	h.LeagueID, h.MatchID, h.GameType, h.RoundID = league, match, protocol.GameEvenOdd, protocol.RoundNumber(round)
	return h
}

func (s *seat) announcement(a *agent, t *strategies.Turn, match string) protocol.Message {
	m := protocol.AnnouncedMatch{
		MatchID: match, GameType: protocol.GameEvenOdd, PlayerAID: a.name(), PlayerBID: s.opponent(t.Opponent),
		RefereeID: refereeID, RefereeEndpoint: a.server.URL(),
	}
	if t.Role == game.RoleB {
		m.PlayerAID, m.PlayerBID = m.PlayerBID, m.PlayerAID
	}
	return &protocol.RoundAnnouncement{Header: s.fromManager(a, protocol.TypeRoundAnnouncement, t.Round), Byes: []string{}, Matches: []protocol.AnnouncedMatch{m}}
}

func (s *seat) invitation(t *strategies.Turn, match string) protocol.Message {
	role := protocol.PlayerA
	if t.Role == game.RoleB {
		role = protocol.PlayerB
	}
	return &protocol.GameInvitation{
		Header: s.fromReferee(protocol.TypeGameInvitation, match, t.Round), RoleInMatch: role, OpponentID: s.opponent(t.Opponent),
	}
}

func (s *seat) call(a *agent, t *strategies.Turn, match string) protocol.Message {
	return &protocol.ChooseParityCall{
		Header: s.fromReferee(protocol.TypeChooseParityCall, match, t.Round), PlayerID: a.name(),
		Context: &protocol.ChoiceContext{
			OpponentID: s.opponent(t.Opponent), RoundID: protocol.RoundNumber(t.Round),
			YourStandings: &protocol.OwnStandings{
				Wins: protocol.Some(t.Wins), Losses: protocol.Some(t.Losses), Draws: protocol.Some(t.Draws), Points: protocol.Some(t.Points),
			},
		},
		Deadline: protocol.Deadline(time.Now().Add(s.batch.factory.config.Deadline)),
	}
}

func (s *seat) outcome(a *agent, o *strategies.Outcome) protocol.Message {
	own, other := a.name(), s.opponent(o.Opponent)
	r := &protocol.GameResult{
		Status: protocol.StatusWin, WinnerPlayerID: protocol.Null[string](), ResultDetails: protocol.ResultDetails{
			DrawnNumber: protocol.Null[int](), NumberParity: protocol.Null[string](), Choices: make(map[string]protocol.Choice),
			TechnicalLossPlayerIDs: []string{}, Reason: "the match was decided by the number",
		}}
	if o.Drew {
		r.DrawnNumber, r.NumberParity = protocol.Some(o.Number), protocol.Some(game.ParityOf(o.Number).String())
	} else {
		r.Status, r.Reason = protocol.StatusTechnicalLoss, "a player gave no usable answer"
		if o.Result == game.TechnicalLoss {
			r.TechnicalLossPlayerIDs = append(r.TechnicalLossPlayerIDs, own)
		}
		if o.OpponentChoice == game.NoParity {
			r.TechnicalLossPlayerIDs = append(r.TechnicalLossPlayerIDs, other)
		}
	}
	switch {
	case o.Result == game.Win:
		r.WinnerPlayerID = protocol.Some(own)
	case o.Result == game.Tie:
		r.Status = protocol.StatusDraw
	case o.Result == game.Loss || o.OpponentChoice != game.NoParity:
		r.WinnerPlayerID = protocol.Some(other)
	}
	if o.Choice != game.NoParity {
		r.Choices[own] = protocol.Choice(o.Choice.String())
	}
	if o.OpponentChoice != game.NoParity {
		r.Choices[other] = protocol.Choice(o.OpponentChoice.String())
	}
	return &protocol.GameOver{Header: s.fromReferee(protocol.TypeGameOver, s.match(o.MatchID), o.Round), GameResult: r}
}

// standings returns the standing of the agent after a league.
func (s *seat) standings(a *agent) protocol.Message {
	x := s.standing
	return &protocol.LeagueStandingsUpdate{
		Header: s.fromManager(a, protocol.TypeLeagueStandingsUpdate, x.Played),
		Standings: []protocol.Standing{{
			Rank: 1, PlayerID: a.name(), DisplayName: a.factory.spec.Name, Played: protocol.Some(x.Played),
			Wins: protocol.Some(x.Wins), Draws: protocol.Some(x.Draws), Losses: protocol.Some(x.Losses), Points: x.Points,
		}},
	}
}

// farewell is the time for an agent to hear that its league is over.
const farewell = 500 * time.Millisecond

// complete tells an agent that we started that its league is over, so that it can end in
// good order.
func (a *agent) complete() {
	if a.process == nil || a.process.dead() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	h := protocol.NewHeader(protocol.TypeLeagueCompleted, string(protocol.RoleManager), protocol.Timestamp(time.Now()), league+"-completed")
	h.AuthToken, h.LeagueID = a.verifier.ManagerToken(league), league
	a.notify(ctx, &protocol.LeagueCompleted{Header: h, FinalStandings: []protocol.Standing{{Rank: 1, PlayerID: a.name(), DisplayName: a.factory.spec.Name}}})
}
