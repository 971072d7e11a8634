package manager_test

import (
	"context"
	"testing"

	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

func TestTheLeagueWaitsForARefereeToStartByItself(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Players = 2 })
	r.run()
	players := r.field(2)
	if status := ask[protocol.StatusData](players[0], players[0].query(protocol.QueryStatus)); status.Status != "waiting" {
		t.Errorf("without a referee the league is %+v", status)
	}
	r.conductor("north", fair)
	r.finish()
}

// A player cannot know the manager's token before it has read the answer to its
// registration; if an announcement overtakes that, it comes again.
func TestAnAnnouncementThatCameTooEarlyIsRepeated(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.referee("north")
	players := r.field(2)
	early := make(chan struct{}, 1)
	early <- struct{}{}
	players[1].on(protocol.TypeRoundAnnouncement, func(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
		select {
		case <-early:
			return nil, protocol.Refuse(protocol.CodeTokenInvalid, in.Type, "I do not know you yet.")
		default:
			return nil, nil
		}
	})
	r.begin()
	players[1].announcements(1)
}
