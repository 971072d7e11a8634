package referee_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

// A player that only acknowledges its invitation, in whatever form, is called for
// its choice by a tolerant referee once the time for posting a join has passed, and
// without that time from its first choice on. A strict one says that a tolerant one
// would have done so.
func TestAcknowledgedInvitation(t *testing.T) {
	t.Parallel()
	for name, receipt := range map[string]jsonrpc.Response{
		"status": say(obj{"status": "ok"}), "nothing in it": say(obj{}), "echo": say(obj{"message_type": "GAME_INVITATION", "status": "acknowledged"}),
		"another type": say(obj{"message_type": "ACK"}), "text": {Result: []byte(`"ok"`)}, "list": {Result: []byte(`[]`)}, "null": {Result: []byte("null")},
		"bare": {Status: 200, Body: []byte(`{"received":true}`)}, "no body": {Status: 204, Body: []byte{}},
	} {
		for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
			t.Run(name+", "+mode.String(), func(t *testing.T) {
				t.Parallel()
				bubble(t, func(c *referee.Config) { c.Mode = mode }, world{"P02": except(plays("even"), protocol.TypeGameInvitation, answering(receipt))}, func(t *testing.T, r *rig) {
					r.must(round(match("R1M1", "P01", "P02")))
					played := r.reports(1)[0].body["result"].(obj)["winner"] == nil
					if mode == protocol.Strict {
						synctest.Wait()
						lost := slices.IndexFunc(r.events, func(e referee.Event) bool { return e.Kind == referee.Forfeited })
						if played || lost < 0 || !r.events[lost].Tolerant {
							t.Errorf("played: %v, %+v", played, r.events)
						}
						return
					}
					if took := time.Since(r.start); !played || took <= 0 || took > 5*time.Second {
						t.Errorf("played: %v, after %v", played, took)
					}
					again := time.Now()
					r.must(round(match("R2M1", "P02", "P01")))
					if r.reports(2); time.Since(again) > 0 {
						t.Errorf("the second match waits for %v", time.Since(again))
					}
					if n := len(r.all("P02", protocol.TypeGameInvitation)); n != 2 {
						t.Errorf("%d invitations", n)
					}
				})
			})
		}
	}
}
