package player_test

import (
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/protocol"
)

// TestSpokenToBeforeTheAnswer has a message of the league overtake the answer
// to the registration: it waits until the player knows who it is.
func TestSpokenToBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	answered := make(chan error, 1)
	var r *rig
	r = newRig(t, func(r2 *rig) {
		r2.manager.answer = func(int, *protocol.LeagueRegisterRequest) (protocol.Message, error) {
			h := protocol.NewHeader(protocol.TypeRoundAnnouncement, "league_manager", protocol.Timestamp(time.Now()), "c")
			h.LeagueID, h.RoundID = "cup", protocol.RoundNumber(1)
			h.AuthToken = credential.NewVerifier(r2.manager.token).ManagerToken("cup")
			go func() {
				_, err := r.send(&protocol.RoundAnnouncement{Header: h, Matches: []protocol.AnnouncedMatch{announced("R1M1", "P01", "P02", "REF01")}})
				answered <- err
			}()
			return r2.manager.accept(), nil
		}
	})
	r.run()
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

func TestRegistration(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"P07", "P42", "player_3fa9c2d1"} { // the one it asks for, and others
		r := running(t, func(r *rig) { r.cfg.ID, r.manager.id = "P07", id })
		m := r.manager.registrations()[0]
		if m.Sender != "player:P07" || m.Meta.DisplayName != "Ada" || m.Meta.ContactEndpoint != r.url || m.AuthToken != "" ||
			len(m.Meta.GameTypes) != 1 || m.Meta.GameTypes[0] != protocol.GameEvenOdd {
			t.Errorf("registered with %+v", m)
		}
		join := must[*protocol.GameJoinAck](r, r.invitation("R1M1"))
		if r.p.ID() != id || join.PlayerID != id || join.Sender != "player:"+id {
			t.Errorf("%s joins as %q, %q", r.p.ID(), join.PlayerID, join.Sender)
		}
	}
}

func TestUnusableID(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(r *rig) { r.manager.id = "../../etc/passwd" })
	r.start()
	if err := r.finished(); err == nil || !strings.Contains(err.Error(), r.cfg.Manager.URL) || len(r.manager.registrations()) != 1 {
		t.Errorf("%v after %d registrations", err, len(r.manager.registrations()))
	}
}
