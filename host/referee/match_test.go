package referee_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

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
