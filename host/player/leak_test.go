package player_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies"
)

// TestLeavesNothingBehind ends the agent in the middle of what it does. A
// goroutine that outlived it would be stuck in the bubble, which fails.
func TestLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for name, during := range map[string]func(r *rig){
		"registering": func(r *rig) {
			r.manager.answer = func(_ int, m *protocol.LeagueRegisterRequest) (protocol.Message, error) {
				return nil, protocol.Refuse(protocol.CodeTimeout, m.MessageType, "not now")
			}
			r.start()
			time.Sleep(time.Minute) // of the bubble's time: it has tried often
		},
		"asking who plays": func(r *rig) {
			r.manager.queries[protocol.QueryPlayers] = func(*protocol.LeagueQuery) (any, error) {
				time.Sleep(time.Hour)
				return nil, errBoom
			}
			r.run()
			must[*protocol.Ack](r, r.announcement(announced("R1M1", "P01", "P02", "REF01")))
		},
		"choosing": func(r *rig) {
			r.s.choose = func(ctx context.Context, _ *strategies.Turn) (strategies.Choice, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			}
			r.run()
			must[*protocol.GameJoinAck](r, r.invitation("R1M1"))
			r.serving.Go(func() { _, _ = r.send(r.call("R1M1")) })
			synctest.Wait()
		},
		"waiting for the next league": func(r *rig) {
			r.run()
			must[*protocol.Ack](r, r.leagueCompleted())
			r.until(player.Completed)
			time.Sleep(10 * player.DefaultWatch)
			if n := len(r.manager.registrations()); n < 2 {
				r.t.Errorf("registered %d times", n)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, func(r *rig) { r.cfg.League, r.cfg.Watch = nil, player.DefaultWatch })
				during(r)
				begun := time.Now()
				r.stop()
				r.finish()
				if took := time.Since(begun); took > 0 {
					t.Errorf("took %v to end", took)
				}
			})
		})
	}
}
