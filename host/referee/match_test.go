package referee_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

// played has one match played by two scripts and returns the rig once it is
// reported. It runs in a bubble, with the timeouts of the protocol.
func played(t *testing.T, a, b script, check func(t *testing.T, r *rig, result obj)) {
	t.Helper()
	bubble(t, nil, world{"P01": a, "P02": b}, func(t *testing.T, r *rig) {
		r.must(round(match("R1M1", "P01", "P02")))
		report := r.reports(1)[0]
		synctest.Wait()
		check(t, r, report.body["result"].(obj))
	})
}

func TestAMatchMessageByMessage(t *testing.T) {
	t.Parallel()
	played(t, plays("even"), plays("odd"), func(t *testing.T, r *rig, result obj) {
		want := []string{
			"P01 CHOOSE_PARITY_CALL", "P01 GAME_INVITATION", "P01 GAME_OVER",
			"P02 CHOOSE_PARITY_CALL", "P02 GAME_INVITATION", "P02 GAME_OVER",
			"manager MATCH_RESULT_REPORT", "manager REFEREE_REGISTER_REQUEST",
		}
		if got := slices.Sorted(slices.Values(r.log())); !slices.Equal(got, want) {
			t.Errorf("heard %q, want %q", got, want)
		}
		conversation := r.all("P01", protocol.TypeGameInvitation)[0].ConversationID
		for _, who := range []string{"P01", "P02"} {
			order := []protocol.Type{protocol.TypeGameInvitation, protocol.TypeChooseParityCall, protocol.TypeGameOver}
			for i, kind := range order {
				h := r.all(who, kind)[0]
				if h.AuthToken != keysOf(who, "R1M1").Send || h.Sender != "referee:REF01" || h.ConversationID != conversation ||
					h.LeagueID != league || h.RoundID.Number() != 1 || h.MatchID != "R1M1" || h.GameType != "even_odd" {
					t.Errorf("%s is sent %s with the header %+v", who, kind, h.Header)
				}
				if i > 0 && h.at.Before(r.all(who, order[i-1])[0].at) {
					t.Errorf("%s gets %s before %s", who, kind, order[i-1])
				}
			}
		}
		invitation := r.all("P02", protocol.TypeGameInvitation)[0].body
		if invitation["role_in_match"] != "PLAYER_B" || invitation["opponent_id"] != "P01" {
			t.Errorf("P02 is invited by %v", invitation)
		}
		call := r.all("P02", protocol.TypeChooseParityCall)[0]
		zero := obj{"wins": 0.0, "losses": 0.0, "draws": 0.0, "points": 0.0}
		if diff := cmp.Diff(obj{"opponent_id": "P01", "round_id": 1.0, "your_standings": zero}, call.body["context"]); diff != "" {
			t.Errorf("the context of the call (-want +got):\n%s", diff)
		}
		if deadline, err := protocol.ParseTimestamp(call.body["deadline"].(string)); err != nil || !deadline.Equal(call.at.Add(30*time.Second).Truncate(time.Second)) {
			t.Errorf("the deadline is %v, want 30 s after %v (%v)", call.body["deadline"], call.at, err)
		}
		over := r.all("P01", protocol.TypeGameOver)[0].body["game_result"].(obj)
		choices := obj{"P01": "even", "P02": "odd"}
		if diff := cmp.Diff(obj{
			"status": "WIN", "winner_player_id": "P01", "drawn_number": 4.0, "number_parity": "even", "choices": choices,
			"reason": "P01 chose the parity of the drawn number",
		}, over); diff != "" {
			t.Errorf("GAME_OVER (-want +got):\n%s", diff)
		}
		report := r.reports(1)[0]
		if report.AuthToken != refereeToken || report.Sender != "referee:REF01" || report.LeagueID != league || report.MatchID != "R1M1" {
			t.Errorf("the report's header is %+v", report.Header)
		}
		if diff := cmp.Diff(obj{"P01": 3.0, "P02": 0.0}, result["score"]); diff != "" || result["winner"] != "P01" {
			t.Errorf("the report says %v", result)
		}
		details := result["details"].(obj)
		if diff := cmp.Diff(choices, details["choices"]); diff != "" || details["drawn_number"] != 4.0 || details["status"] != "WIN" {
			t.Errorf("the report's details are %v", details)
		}
		overAt, reportAt := -1, -1
		for i, line := range r.log() {
			if strings.HasSuffix(line, "GAME_OVER") {
				overAt = i
			}
			if strings.HasSuffix(line, "MATCH_RESULT_REPORT") {
				reportAt = i
			}
		}
		if overAt > reportAt {
			t.Errorf("the report goes out before GAME_OVER has: %q", r.log())
		}
	})
}

func TestBothAreAskedAtOnceAndHearNothingBeforeBothHaveChosen(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"P01", "P02"} {
		t.Run(first+" is quick", func(t *testing.T) {
			t.Parallel()
			var release chan struct{}
			second := map[string]string{"P01": "P02", "P02": "P01"}[first]
			bubble(t, nil, world{second: except(plays("odd"), protocol.TypeChooseParityCall, func(_ context.Context, h *heard) jsonrpc.Response {
				<-release
				return chooses(h, "even")
			})}, func(t *testing.T, r *rig) {
				release = make(chan struct{})
				r.must(round(match("R1M1", "P01", "P02")))
				synctest.Wait()
				for _, who := range []string{"P01", "P02"} {
					if n := len(r.all(who, protocol.TypeChooseParityCall)); n != 1 {
						t.Errorf("%s has been asked %d times", who, n)
					}
					for _, h := range r.heard {
						if h.who == who && h.MessageType != protocol.TypeGameInvitation && h.MessageType != protocol.TypeChooseParityCall {
							t.Errorf("%s hears %s while one choice is out", who, h.MessageType)
						}
					}
				}
				close(release)
				r.reports(1)
			})
		})
	}
}

func TestMatchesRunAtOnceUpToTheLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *referee.Config) { c.Concurrent = 3 })
		r.agent("manager", keeps)
		release := make(chan struct{})
		var matches []obj
		for i := range 5 {
			a, b := fmt.Sprintf("P%02d", 2*i+1), fmt.Sprintf("P%02d", 2*i+2)
			for _, who := range []string{a, b} {
				r.agent(who, except(plays("odd"), protocol.TypeGameInvitation, func(_ context.Context, h *heard) jsonrpc.Response {
					<-release
					return joins(h)
				}))
			}
			matches = append(matches, match(fmt.Sprintf("R1M%d", i+1), a, b))
		}
		r.run()
		r.must(round(matches...))
		synctest.Wait()
		invited := 0
		for _, line := range r.log() {
			if strings.HasSuffix(line, "GAME_INVITATION") {
				invited++
			}
		}
		if invited != 6 {
			t.Errorf("%d players are invited to 3 matches at once", invited)
		}
		close(release)
		r.reports(5)
		r.end()
	})
}

func TestStandingsAreThoseOfTheLastUpdate(t *testing.T) {
	t.Parallel()
	bubble(t, nil, world{"P01": plays("odd")}, func(t *testing.T, r *rig) {
		ack := r.must(fromManager(protocol.TypeLeagueStandingsUpdate, "standings", []obj{
			{"rank": 1, "player_id": "P02", "display_name": "b", "played": 4, "wins": 2, "draws": 1, "losses": 1, "points": 7},
		}))
		if ack["message_type"] != "STANDINGS_UPDATE_ACK" || ack["referee_id"] != "REF01" || ack["sender"] != "referee:REF01" {
			t.Errorf("the acknowledgement is %v", ack)
		}
		r.must(round(match("R1M1", "P01", "P02")))
		result := r.reports(1)[0].body["result"].(obj)
		if diff := cmp.Diff(obj{"P01": 1.0, "P02": 1.0}, result["score"]); diff != "" || result["winner"] != nil {
			t.Errorf("a draw is reported as %v", result)
		}
		told := r.all("P02", protocol.TypeChooseParityCall)[0].body["context"].(obj)["your_standings"]
		if diff := cmp.Diff(obj{"wins": 2.0, "losses": 1.0, "draws": 1.0, "points": 7.0}, told); diff != "" {
			t.Errorf("P02 is told (-want +got):\n%s", diff)
		}
	})
}

// A player has until the deadline that it is told, which is a whole second even
// where the time to choose is not.
func TestTheStatedDeadlineIsKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what  string
		off   time.Duration // from the deadline
		calls int
	}{
		{"just in time", -time.Millisecond, 1},
		{"just too late", time.Millisecond, 2},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			calls := 0
			late := except(plays("odd"), protocol.TypeChooseParityCall, func(_ context.Context, h *heard) jsonrpc.Response {
				if calls++; calls > 1 {
					return chooses(h, "odd")
				}
				deadline, err := protocol.ParseTimestamp(h.body["deadline"].(string))
				if err != nil {
					t.Error(err)
				}
				if left := time.Until(deadline); left <= 2500*time.Millisecond || left >= 3500*time.Millisecond {
					t.Errorf("%v are left until the deadline", left)
				}
				time.Sleep(time.Until(deadline) + c.off)
				return chooses(h, "even")
			})
			bubble(t, func(cfg *referee.Config) { cfg.ChoiceTimeout = 2500 * time.Millisecond }, world{"P01": late}, func(t *testing.T, r *rig) {
				time.Sleep(300 * time.Millisecond) // of a clock that begins at a full second
				r.must(round(match("R1M1", "P01", "P02")))
				result := r.reports(1)[0].body["result"].(obj)
				want := map[int]string{1: "even", 2: "odd"}[c.calls]
				if got := result["details"].(obj)["choices"].(obj)["P01"]; calls != c.calls || got != want {
					t.Errorf("called on %d times, and the choice is %v, want %d and %s", calls, got, c.calls, want)
				}
				synctest.Wait()
			})
		})
	}
}
