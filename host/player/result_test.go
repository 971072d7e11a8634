package player_test

import (
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
)

// TestResultsAreCompared: a result that counts another choice than the agent gave, or
// names another winner than its choices and its number give, is reported once in a league.
func TestResultsAreCompared(t *testing.T) {
	t.Parallel()
	r := running(t, nil)
	for i, want := range []string{"the result counts odd: the referee has not read the answer", "by its choices and its number it is a win of P02"} {
		match := []string{"R1M1", "R2M1"}[i]
		own := r.plays(match)
		over := r.over(match)
		over.GameResult = &protocol.GameResult{
			Status: protocol.StatusWin, WinnerPlayerID: protocol.Some("P01"), DrawnNumber: protocol.Some(7), NumberParity: protocol.Some("odd"), Reason: "x",
			Choices: map[string]protocol.Choice{"P01": own, "P02": protocol.Odd},
		}
		if i == 0 {
			over.GameResult.Choices = map[string]protocol.Choice{"P01": protocol.Odd, "P02": protocol.Even}
		}
		must[*protocol.Ack](r, over)
		if e := r.until(player.Trouble); e.Cause != player.CauseResult || e.Match != match || !strings.Contains(e.Error, want) {
			t.Errorf("%s: %+v, want %q", match, e, want)
		}
	}
}

// TestPlaysWithinItsRegistration: some managers play the league before they answer the
// registration. The agent, which does not know its id yet, reads its results all the same.
func TestPlaysWithinItsRegistration(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, opponent, result string
		over                   protocol.GameOver
	}{
		{"in the form for the player", "", "technical_loss", protocol.GameOver{Result: protocol.StatusTechnicalLoss, PointsEarned: protocol.Some(0)}},
		{"by ids", "P02", "win", protocol.GameOver{GameResult: &protocol.GameResult{
			Status: protocol.StatusWin, WinnerPlayerID: protocol.Some("P01"), DrawnNumber: protocol.Some(8),
			Choices: map[string]protocol.Choice{"P01": protocol.Even, "P02": protocol.Odd},
		}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(r *rig) { r.cfg.Mode = protocol.Tolerant })
			invitation, call := r.invitation("R1M1"), r.call("R1M1")
			invitation.OpponentID, call.PlayerID, call.Context = c.opponent, "", nil
			c.over.Header = r.fromReferee(protocol.TypeGameOver, "R1M1")
			r.manager.answer = func(int, *protocol.LeagueRegisterRequest) (protocol.Message, error) {
				for _, m := range []protocol.Message{invitation, call, &c.over} {
					if _, err := r.send(m); err != nil {
						t.Error(err)
					}
				}
				return r.manager.accept(), nil
			}
			r.start()
			if e := r.until(player.Ended); e.Result != c.result {
				t.Errorf("the match has ended with %+v, want %s", e, c.result)
			}
		})
	}
}
