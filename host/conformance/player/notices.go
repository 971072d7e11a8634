package player

import (
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

func noticeChecks() []kit.Check {
	const acksOver = "player.over.ack"
	acked := func(id, rule string, needs []string, send func(t T) (*kit.Answer, protocol.Type)) kit.Check {
		return check(id, kit.Should, needs, rule, `Answer with the acknowledgement, such as {"protocol": "league.v2", "message_type": "GAME_OVER_ACK", ..., "status": "ACKNOWLEDGED"}; dispatch by message_type whatever the method is called.`,
			func(t T) { a, typ := send(t); t.Accepted(a, typ) })
	}
	return []kit.Check{
		acked("player.round.ack", "ROUND_ANNOUNCEMENT is answered by ROUND_ANNOUNCEMENT_ACK.", nil, func(t T) (*kit.Answer, protocol.Type) {
			return t.send(t.announcement(t.newMatch())), protocol.TypeRoundAnnouncement.Answer()
		}),
		acked(acksStandings, "LEAGUE_STANDINGS_UPDATE is answered by STANDINGS_UPDATE_ACK.", nil, func(t T) (*kit.Answer, protocol.Type) {
			return t.send(t.standings()), protocol.TypeLeagueStandingsUpdate.Answer()
		}),
		acked("player.roundend.ack", "ROUND_COMPLETED is answered by ROUND_COMPLETED_ACK.", nil, func(t T) (*kit.Answer, protocol.Type) {
			return t.send(t.RoundCompleted()), protocol.TypeRoundCompleted.Answer()
		}),
		acked(acksOver, "GAME_OVER is answered by GAME_OVER_ACK.", []string{joinAnswered, choiceAnswered}, func(t T) (*kit.Answer, protocol.Type) {
			m, a := t.called()
			return t.send(t.over(m, choiceIn(a))), protocol.TypeGameOver.Answer()
		}),
		acked("player.over.forms", "GAME_OVER is accepted for every way a match can end: a tie (DRAW), and a technical loss, in which drawn_number, number_parity and winner_player_id may be null and choices empty.",
			[]string{acksOver}, sendEveryResult),
		acked("player.over.again", "A GAME_OVER that is repeated because its acknowledgement was lost is acknowledged again.", []string{acksOver}, func(t T) (*kit.Answer, protocol.Type) {
			m, a := t.called()
			over := t.over(m, choiceIn(a))
			t.Accepted(t.send(over), protocol.TypeGameOver.Answer())
			return t.send(over), protocol.TypeGameOver.Answer()
		}),
		acked("player.error.ack", "GAME_ERROR is answered by GAME_ERROR_ACK.", []string{joinAnswered}, func(t T) (*kit.Answer, protocol.Type) {
			return t.send(t.gameError(t.joined())), protocol.TypeGameError.Answer()
		}),
		check("player.error.then", kit.Must, []string{choiceAnswered}, "A GAME_ERROR that announces a retry does not end the match: the call that follows is answered (league.v2, retries).",
			"Treat GAME_ERROR as information; a match ends with GAME_OVER.", func(t T) {
				m := t.joined()
				t.send(t.gameError(m))
				t.chooses(t.send(t.call(m)))
			}),
		check("player.ack.fields", kit.Wild, []string{acksStandings}, "An acknowledgement has status ACKNOWLEDGED and the player's player_id.",
			`Add "status": "ACKNOWLEDGED" and "player_id" to acknowledgements.`, func(t T) {
				a := t.send(t.standings())
				t.Equal(a, "status", protocol.StatusAcknowledged)
				t.Equal(a, "player_id", t.ID)
			}),
	}
}

func sendEveryResult(t T) (*kit.Answer, protocol.Type) {
	m, a := t.called()
	own := choiceIn(a)
	tie := t.over(m, own)
	tie.GameResult.Status, tie.GameResult.WinnerPlayerID = protocol.StatusDraw, protocol.Null[string]()
	tie.GameResult.Choices = map[string]protocol.Choice{t.ID: own, m.opponent: own}
	t.Accepted(t.send(tie), protocol.TypeGameOver.Answer())

	m, _ = t.called()
	both := t.over(m, own)
	both.GameResult = &protocol.GameResult{
		Status: protocol.StatusTechnicalLoss, WinnerPlayerID: protocol.Null[string](), DrawnNumber: protocol.Null[int](), NumberParity: protocol.Null[string](),
		Choices: map[string]protocol.Choice{}, TechnicalLossPlayerIDs: []string{t.ID, m.opponent}, Reason: "neither player chose in time",
	}
	return t.send(both), protocol.TypeGameOver.Answer()
}
