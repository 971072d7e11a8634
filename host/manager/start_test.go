package manager_test

import (
	"context"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// launch is START_LEAGUE.
func launch(token string) *protocol.StartLeague {
	h := protocol.NewHeader(protocol.TypeStartLeague, "launcher", protocol.Timestamp(time.Now()), "launch")
	h.LeagueID, h.AuthToken = "cup", token
	return &protocol.StartLeague{Header: h}
}

func TestStartLeague(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	start := func() (*protocol.LeagueStatus, error) { return send[*protocol.LeagueStatus](r, launch("")) }
	refuses(t, 7, protocol.CodeInvalidState)(start())
	gate := make(chan struct{})
	referee := r.conductor("north", func(m protocol.AnnouncedMatch) protocol.MatchResult { <-gate; return fair(m) })
	r.player("ada")
	refuses(t, 7, protocol.CodeInvalidState)(start())
	r.player("ben")
	wrong := launch("")
	wrong.LeagueID = "another"
	refuses(t, 43, protocol.CodeLeagueNotFound)(send[*protocol.LeagueStatus](r, wrong))

	for _, what := range []string{"at first", "and again"} {
		answer, err := start()
		if err != nil {
			t.Fatal(err)
		}
		if answer.Status != "running" || answer.CurrentRound.Value() != 1 || answer.TotalRounds.Value() != 1 ||
			answer.MatchesCompleted.Value() != 0 || answer.LeagueID != "cup" {
			t.Errorf("%s: the status is %+v", what, answer)
		}
	}
	r.run()
	referee.announcements(1)
	close(gate)
	r.finish()
	refuses(t, 31, protocol.CodeLeagueAlreadyComplete)(start())
	if n := len(r.m.Results()); n != 1 {
		t.Errorf("%d results of one match", n)
	}
}

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
