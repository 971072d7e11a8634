package referee_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

// A player that was absent three times in a row is asked once in each match, and for a
// fifth of the time, until it answers; then it has all its attempts again. One that
// joins and does not choose is absent, too.
func TestAnAbsentPlayerIsAskedOnce(t *testing.T) {
	t.Parallel()
	const pauses = 7 * time.Second // between four attempts
	for _, tt := range []struct {
		at           protocol.Type
		first, later time.Duration
	}{
		{protocol.TypeGameInvitation, 4*5*time.Second + pauses, time.Second},
		{protocol.TypeChooseParityCall, 4*30*time.Second + pauses, 6 * time.Second},
	} {
		t.Run(string(tt.at), func(t *testing.T) {
			t.Parallel()
			there := false
			bubble(t, nil, world{"P02": func(ctx context.Context, h *heard) jsonrpc.Response {
				if there || h.MessageType != tt.at && h.MessageType != protocol.TypeGameError {
					return plays("odd")(ctx, h)
				}
				return hangs(ctx, h)
			}}, func(t *testing.T, r *rig) {
				for i, want := range []int{4, 4, 4, 1, 1, 1, 4} {
					number, begun := i+1, time.Now()
					there = number == 6
					before := len(r.all("P02", tt.at))
					id := fmt.Sprintf("R%dM1", number)
					r.must(with(round(match(id, "P01", "P02")), "round_id", number))
					report := r.reports(number)[i]
					if got := len(r.all("P02", tt.at)) - before; got != want {
						t.Errorf("in round %d it was asked %d times, want %d", number, got, want)
					}
					if lost := report.body["result"].(obj)["details"].(obj)["status"] == "TECHNICAL_LOSS"; lost == there {
						t.Errorf("the result of round %d is %v", number, report.body["result"])
					}
					took := map[int]time.Duration{4: tt.first, 1: tt.later}[want]
					if there {
						took = 0
					}
					if got := report.at.Sub(begun); got != took {
						t.Errorf("round %d took %v, want %v", number, got, took)
					}
					synctest.Wait()
				}
				said := slices.DeleteFunc(slices.Clone(r.events), func(e referee.Event) bool { return e.Kind != referee.Absent })
				if len(said) != 1 || said[0].Player != "P02" || said[0].Matches != 3 || said[0].Match != "R3M1" {
					t.Errorf("that it is absent is said as %+v", said)
				}
			})
		})
	}
}

// A referee believes its manager that a player was absent in matches of others.
func TestThePlayerThatTheManagerMissesIsAskedOnce(t *testing.T) {
	t.Parallel()
	bubble(t, nil, world{"P02": hangs}, func(t *testing.T, r *rig) {
		r.must(round(with(match("R1M1", "P01", "P02"), "absent", []string{"P02"})))
		if took := r.reports(1)[0].at.Sub(r.start); took != time.Second || len(r.all("P02", protocol.TypeGameInvitation)) != 1 {
			t.Errorf("it was invited %d times, in %v", len(r.all("P02", protocol.TypeGameInvitation)), took)
		}
	})
}

// Nobody waits for a player that the organiser has taken out, not even one that was
// asked before.
func TestAPlayerThatForfeitsIsNotAsked(t *testing.T) {
	t.Parallel()
	for _, at := range []protocol.Type{"", protocol.TypeGameInvitation, protocol.TypeChooseParityCall, protocol.TypeGameOver} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			bubble(t, func(c *referee.Config) { c.Data = dir }, world{"P02": except(plays("odd"), at, hangs)}, func(t *testing.T, r *rig) {
				if at != "" {
					r.must(round(match("R1M1", "P01", "P02")))
					r.until("the question", func() bool { return len(r.allHeld("P02", at)) > 0 })
					time.Sleep(2 * time.Second) // on the clock of the bubble
				}
				withdrawn := time.Now()
				r.must(round(with(match("R1M1", "P01", "P02"), "forfeits", []string{"P02"})))
				report := r.reports(1)[0]
				details := report.body["result"].(obj)["details"].(obj)
				forfeit := report.body["result"].(obj)["winner"] == "P01" && details["reason"] == "P02: forfeit"
				if report.at != withdrawn || forfeit == (at == protocol.TypeGameOver) { // what was played before stands
					t.Errorf("after %v: %v", report.at.Sub(withdrawn), details)
				}
				if n := len(r.all("P02", protocol.TypeGameInvitation)); at == "" && n != 0 {
					t.Errorf("it was invited %d times", n)
				}
				synctest.Wait()
				for _, who := range []string{"P01", "P02"} {
					if n := len(r.all(who, protocol.TypeGameOver)); n != 1 {
						t.Errorf("%s gets GAME_OVER %d times", who, n)
					}
				}
			})
		})
	}
}
