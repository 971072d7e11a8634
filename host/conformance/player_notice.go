package conformance

import (
	"time"

	"github.com/strategylab/strategylab/host/protocol"
)

// noticeChecks are about messages that want nothing but an acknowledgement.
func noticeChecks() []Check {
	const overTaken = "player.over.ack"
	acked := func(id, rule string, needs []string, send func(p playerT) (*Answer, protocol.Type)) Check {
		return Check{
			ID: id, Level: Should, Needs: needs, Rule: rule,
			Advice: `Answer with the acknowledgement, such as {"protocol": "league.v2", "message_type": "GAME_OVER_ACK", ..., "status": "ACKNOWLEDGED"}; take by message_type whatever the method is called.`,
			run:    forPlayer(func(p playerT) { a, t := send(p); p.accepted(a, t) }),
		}
	}
	return []Check{
		acked("player.round.ack", "ROUND_ANNOUNCEMENT is answered by ROUND_ANNOUNCEMENT_ACK.", nil, func(p playerT) (*Answer, protocol.Type) {
			p.mu.Lock()
			p.rounds++
			b := bout{id: roundMatch(p.rounds), round: p.rounds, referee: ownReferee, opponent: opponentOf(p.id)}
			p.mu.Unlock()
			return p.send(p.announcement(b)), protocol.TypeRoundAnnouncementAck
		}),
		acked("player.standings.ack", "LEAGUE_STANDINGS_UPDATE is answered by STANDINGS_UPDATE_ACK.", nil, func(p playerT) (*Answer, protocol.Type) {
			return p.send(p.standings()), protocol.TypeStandingsUpdateAck
		}),
		acked("player.roundend.ack", "ROUND_COMPLETED is answered by ROUND_COMPLETED_ACK.", nil, func(p playerT) (*Answer, protocol.Type) {
			return p.send(p.roundCompleted()), protocol.TypeRoundCompletedAck
		}),
		acked(overTaken, "GAME_OVER is answered by GAME_OVER_ACK.", []string{joinAnswered, choiceAnswered}, func(p playerT) (*Answer, protocol.Type) {
			b, a := p.called()
			return p.send(p.over(b, choiceIn(a))), protocol.TypeGameOverAck
		}),
		acked("player.over.forms", "GAME_OVER is taken for every way a match may end: a draw, and a technical loss, in which drawn_number, number_parity and winner_player_id may be null and choices empty.",
			[]string{overTaken}, takesEveryResult),
		acked("player.over.again", "A GAME_OVER that is repeated, since its acknowledgement was lost, is acknowledged again.", []string{overTaken}, func(p playerT) (*Answer, protocol.Type) {
			b, a := p.called()
			m := p.over(b, choiceIn(a))
			p.accepted(p.send(m), protocol.TypeGameOverAck)
			return p.send(m), protocol.TypeGameOverAck
		}),
		acked("player.error.ack", "GAME_ERROR is answered by GAME_ERROR_ACK.", []string{joinAnswered}, func(p playerT) (*Answer, protocol.Type) {
			return p.send(p.gameError(p.joined())), protocol.TypeGameErrorAck
		}),
		{
			ID: "player.error.then", Level: Must, Needs: []string{choiceAnswered},
			Rule:   "A GAME_ERROR that announces a retry does not end the match: the call that follows is answered (league.v2, retries).",
			Advice: "Take GAME_ERROR for news; a match ends with GAME_OVER.",
			run: forPlayer(func(p playerT) {
				b := p.joined()
				p.send(p.gameError(b))
				p.chooses(p.send(p.call(b)))
			}),
		},
		{
			ID: "player.ack.fields", Level: Wild, Needs: []string{"player.standings.ack"},
			Rule:   "An acknowledgement bears status ACKNOWLEDGED and the player's player_id.",
			Advice: `Add "status": "ACKNOWLEDGED" and "player_id" to acknowledgements.`,
			run: forPlayer(func(p playerT) {
				a := p.send(p.standings())
				p.echoes(a, "status", protocol.StatusAcknowledged)
				p.echoes(a, "player_id", p.id)
			}),
		},
	}
}

func takesEveryResult(p playerT) (*Answer, protocol.Type) {
	b, a := p.called()
	own := choiceIn(a)
	draw := p.over(b, own)
	draw.GameResult.Status, draw.GameResult.WinnerPlayerID = protocol.StatusDraw, protocol.Null[string]()
	draw.GameResult.Choices = map[string]protocol.Choice{p.id: own, b.opponent: own}
	p.accepted(p.send(draw), protocol.TypeGameOverAck)

	b, _ = p.called()
	both := p.over(b, own)
	both.GameResult = &protocol.GameResult{
		Status: protocol.StatusTechnicalLoss, WinnerPlayerID: protocol.Null[string](), DrawnNumber: protocol.Null[int](), NumberParity: protocol.Null[string](),
		Choices: map[string]protocol.Choice{}, TechnicalLossPlayerIDs: []string{p.id, b.opponent}, Reason: "neither has chosen in time",
	}
	return p.send(both), protocol.TypeGameOverAck
}

// endChecks come last, since a player may leave when its league is complete.
func endChecks() []Check {
	return []Check{
		{
			ID: "player.auth.completed", Level: Should, Needs: []string{choiceAnswered, "player.hostile.then"},
			Rule:   "LEAGUE_COMPLETED is believed from the manager only: one that a referee signs is refused, and the player plays on (league.v2, authentication).",
			Advice: "Refuse league messages whose sender is not league_manager or whose auth_token is not the one that the manager has shown before (error 3001).",
			run:    forPlayer(doubtsTheEnd),
		},
		{
			ID: "player.end.ack", Level: Should,
			Rule:   "LEAGUE_COMPLETED is answered by LEAGUE_COMPLETED_ACK, before the player leaves.",
			Advice: "Send the answer first, and end the process afterwards.",
			run: forPlayer(func(p playerT) {
				p.accepted(p.send(p.leagueCompleted()), protocol.TypeLeagueCompletedAck)
			}),
		},
		{
			ID: "player.register.once", Level: Should,
			Rule:   "A player that was accepted does not register a second time in the same league (league.v2, registration).",
			Advice: "Read status ACCEPTED (or REGISTERED) and the player_id from the answer, wherever it sits, and stop registering.",
			run:    forPlayer(registersOnce),
		},
		{
			ID: "player.end.again", Level: Wild, Needs: []string{"player.end.ack"},
			Rule:   "After LEAGUE_COMPLETED a player leaves, or stays and acknowledges a repetition.",
			Advice: "Either end the process or go on answering.",
			run:    forPlayer(endsOrStays),
		},
	}
}

func doubtsTheEnd(p playerT) {
	p.needsKeys()
	b := p.joined()
	m := p.leagueCompleted()
	m.AuthToken = p.verifier.MatchKeys(p.league, b.id, b.referee).Send
	p.refused(p.edited(m, func(m map[string]any) { m["sender"] = protocol.Sender(protocol.RoleReferee, b.referee) }))
	p.chooses(p.send(p.call(b)))
}

func endsOrStays(p playerT) {
	p.endsOrStays(func() *Answer { return p.send(p.leagueCompleted()) }, func(a *Answer) { p.accepted(a, protocol.TypeLeagueCompletedAck) })
}

// endsOrStays ends the check unless an agent that was told of the end of its
// league answers when it is told again, or has left.
func (t *T) endsOrStays(tell func() *Answer, accepted func(*Answer)) {
	// One that is about to leave may drop a connection or two.
	for began := time.Now(); ; {
		a := tell()
		switch {
		case a.Err == nil:
			accepted(a)
			t.Note("it stays")
			return
		case t.counter.reach(t.ctx, t.counter.opts.URL) != nil:
			t.Note("it has left")
			return
		case time.Since(began) > t.counter.opts.Timeout:
			t.Fail("it neither answers nor leaves: %v", a.Err)
		}
	}
}
