package player_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
)

// TestSilenceIsReported: a player that nobody calls after its registration says so
// once, and so does one that is not invited to an announced match.
func TestSilenceIsReported(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) {
		r.cfg.Mode, r.cfg.Overdue, r.cfg.League = protocol.Tolerant, time.Millisecond, nil
	})
	if e := r.until(player.Trouble); e.Cause != player.CauseUncalled || !strings.Contains(e.Error, "nobody has called P01") || e.Advice == "" {
		t.Errorf("%+v", e)
	}
	a := r.announcement(announced("R1M1", "P01", "P02", "REF01"), announced("R1M2", "P03", "P04", "REF01"))
	must[*protocol.Ack](r, a)
	if e := r.until(player.Trouble); e.Cause != player.CauseUninvited || e.Match != "R1M1" || e.Opponent != "P02" || e.Referee != "REF01" {
		t.Errorf("%+v", e)
	}
	must[*protocol.Ack](r, a) // again
	must[*protocol.Ack](r, r.roundCompleted())
	must[*protocol.Ack](r, r.leagueCompleted())
	r.until(player.Completed)
	if rest := drain(r.events); slices.ContainsFunc(rest, func(e player.Event) bool { return e.Kind == player.Trouble }) {
		t.Errorf("it is reported again: %+v", rest)
	}
}

// TestAnInvitationWithoutACallIsEvidence: a referee that never goes on after the join is
// reported once, with the match that it cost, and answered in another form.
func TestAnInvitationWithoutACallIsEvidence(t *testing.T) {
	t.Parallel()
	for what, overdue := range map[string]time.Duration{"invites to TR2M1 now": time.Hour, "has been silent about it": time.Millisecond} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := running(t, func(r *rig) {
				r.cfg.Mode, r.cfg.Overdue, r.cfg.Patience, r.cfg.League = protocol.Tolerant, overdue, time.Nanosecond, nil
			})
			next := func(match string, round int) {
				r.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"invite","params":{"message_type":"GAME_INVITATION","sender":"REF01","match_id":%q,"round_id":%d}}`, match, round))
			}
			next("TR1M1", 1)
			if overdue == time.Hour {
				next("TR2M1", 2)
			}
			e := r.until(player.Trouble)
			for e.Cause != player.CauseUnread {
				e = r.until(player.Trouble)
			}
			if e.Match != "TR1M1" || !strings.Contains(e.Error, what) || !strings.Contains(e.Advice, "from now on") {
				t.Errorf("%+v", e)
			}
			next("TR3M1", 3)
			must[*protocol.Ack](r, r.leagueCompleted())
			r.until(player.Completed)
			if rest := drain(r.events); slices.ContainsFunc(rest, func(e player.Event) bool { return e.Cause == player.CauseUnread }) {
				t.Errorf("it is reported again: %+v", rest)
			}
		})
	}
}

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
			Status: protocol.StatusWin, WinnerPlayerID: protocol.Some("P01"), ResultDetails: protocol.ResultDetails{
				DrawnNumber: protocol.Some(7), NumberParity: protocol.Some("odd"), Choices: map[string]protocol.Choice{"P01": own, "P02": protocol.Odd}, Reason: "x",
			}}
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
			Status: protocol.StatusWin, WinnerPlayerID: protocol.Some("P01"), ResultDetails: protocol.ResultDetails{
				DrawnNumber: protocol.Some(8), Choices: map[string]protocol.Choice{"P01": protocol.Even, "P02": protocol.Odd},
			}}}},
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
