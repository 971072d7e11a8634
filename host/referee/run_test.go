package referee_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

const idleExit = 20 * time.Second

// leaves waits for the end of Run, at most for so long, and returns when that
// was and what Run returned.
func (r *rig) leaves(within time.Duration) (time.Duration, error, bool) {
	select {
	case err := <-r.result:
		r.halt()
		r.stop()
		r.serving.Wait()
		return time.Since(r.start), err, true
	case <-time.After(within):
		return within, nil, false
	}
}

func (r *rig) told(kind referee.EventKind) []referee.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.events), func(e referee.Event) bool { return e.Kind != kind })
}

// A referee leaves a league that has fallen silent, but not before it has
// conducted a match, and not while one is in progress.
func TestLeavingASilentLeague(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *referee.Config) { c.IdleExit = idleExit })
		thinking := except(plays("even"), protocol.TypeChooseParityCall, func(_ context.Context, h *heard) jsonrpc.Response {
			time.Sleep(29 * time.Second) // nearly all there is
			return chooses(h, "even")
		})
		r.meets(world{"P01": thinking})
		r.run()
		if at, err, left := r.leaves(10 * idleExit); left {
			t.Fatalf("it left after %v without having done anything: %v", at, err)
		}
		r.must(round(match("R1M1", "P01", "P02")))
		announced := time.Since(r.start)
		r.reports(1)
		at, err, left := r.leaves(10 * idleExit)
		if silence := at - announced - 29*time.Second; !left || err != nil || silence < idleExit || silence > 2*idleExit {
			t.Errorf("left: %v, %v after the match: %v", left, silence, err)
		}
		if e := r.told(referee.Deserted); len(e) != 1 || e[0].Matches != 1 {
			t.Errorf("told of %+v", e)
		}
	})
}

// One that still owes a report says so when it leaves.
func TestLeavingWithAReportOwed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *referee.Config) { c.IdleExit = idleExit })
		busy := jsonrpc.Response{Status: 503, Error: &jsonrpc.Error{Code: jsonrpc.CodeBusy, Message: "busy"}}
		r.meets(world{"manager": except(keeps, protocol.TypeMatchResultReport, answering(busy))})
		r.run()
		r.must(round(match("R1M1", "P01", "P02")))
		at, err, left := r.leaves(10 * idleExit)
		if !left || err == nil || !strings.Contains(err.Error(), "http://manager/mcp has been silent for 20s and has not acknowledged 1 of 1 reports") {
			t.Errorf("left: %v after %v: %v", left, at, err)
		}
	})
}
