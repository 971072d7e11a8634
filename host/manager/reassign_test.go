package manager_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// ids are the ids of matches.
func ids(matches []protocol.AnnouncedMatch) []string {
	var all []string
	for _, m := range matches {
		all = append(all, m.MatchID)
	}
	return all
}

func TestARefereeThatCannotBeReachedLosesItsMatches(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	south := r.referee("south")
	gone := r.referee("gone")
	gone.stop()
	players := r.field(4)
	r.begin()
	if n := len(south.own(south.announcements(1))); n != 1 {
		t.Fatalf("%d matches at first, want 1", n)
	}
	told := south.announcements(2)
	if own := south.own(told); len(own) != 2 || own[0].PlayerAKeys == nil || own[1].PlayerBKeys == nil {
		t.Errorf("then %+v, want 2 matches with keys", own)
	}
	moved := r.events.until(t, "a new assignment", func(e manager.Event) bool { return e.Kind == manager.MatchesReassigned })
	// The players of the match that moved know its new referee, the others were not told again.
	for _, p := range players {
		concerned := slices.ContainsFunc(told.Matches, func(m protocol.AnnouncedMatch) bool {
			return m.MatchID == moved.Matches[0] && (m.PlayerAID == p.id || m.PlayerBID == p.id)
		})
		if !concerned {
			continue
		}
		for _, m := range p.announcements(2).Matches {
			if m.RefereeID != south.id || m.RefereeEndpoint != south.url {
				t.Errorf("%s is told that %s conducts %s", p.id, m.RefereeID, m.MatchID)
			}
		}
	}
	south.conducts(fair)
	for _, m := range south.own(told) {
		south.report(m, 1, fair(m))
	}
	r.finish()
	r.wantTable(4, 1)
}

func TestARefereeThatIsSilentLosesItsMatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *manager.Config) { c.MatchDeadline = 3 * time.Minute })
		silent := r.referee("silent")
		south := r.referee("south")
		south.inbox.patience = time.Hour
		r.field(6)
		r.run()
		begin := time.Now()
		r.start()
		mine := silent.own(silent.announcements(1))
		for _, m := range south.own(south.announcements(1)) {
			south.report(m, 1, fair(m))
		}
		if len(mine) != 2 {
			t.Fatalf("%d matches, want 2", len(mine))
		}
		time.Sleep(2 * time.Minute)
		silent.report(mine[0], 1, fair(mine[0])) // a sign of life prolongs its time
		south.conducts(fair)
		told := south.announcements(2)
		if took := time.Since(begin); took != 5*time.Minute {
			t.Errorf("the match moved after %v, want 5 m", took)
		}
		if diff := cmp.Diff([]string{mine[1].MatchID}, ids(told.Matches)); diff != "" {
			t.Errorf("the other referee is informed of (-want +got):\n%s", diff)
		}
		// A late report of the match does not count any more.
		answer, err := silent.call(silent.reportOf(mine[1], 1, fair(mine[1])))
		if refusal := refused(t, answer, err); refusal.RPC != 5002 {
			t.Errorf("the late report is refused with %d", refusal.RPC)
		}
		silent.conducts(fair)
		r.finish(time.Hour)
		r.wantTable(6, 1)
		if own := silent.own(silent.announcements(2)); len(own) == 0 {
			t.Error("a referee that has spoken again gets no matches in the next round")
		}
	})
}

// TestSilenceAboutAcknowledgedMatchesIsSaid: one referee reports after 10 s, the other
// acknowledges and begins nothing.
func TestSilenceAboutAcknowledgedMatchesIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []manager.Event
		r := newRig(t, func(c *manager.Config) {
			c.MatchDeadline = 100 * time.Second
			c.Events = func(e manager.Event) {
				if e.Kind == manager.RefereeQuiet {
					events = append(events, e)
				}
			}
		})
		silent, south := r.referee("silent"), r.referee("south")
		south.inbox.patience = time.Hour
		r.field(4)
		r.begin()
		mine := silent.own(silent.announcements(1))
		time.Sleep(10 * time.Second)
		for _, m := range south.own(south.announcements(1)) {
			south.report(m, 1, fair(m))
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if len(events) != 1 || events[0].Agent != silent.id || !slices.Equal(events[0].Matches, ids(mine)) {
			t.Fatalf("after 30 s it is said that %+v", events)
		}
		south.conducts(fair)
		if moved := ids(south.announcements(2).Matches); !slices.Equal(moved, ids(mine)) {
			t.Errorf("after the rest of its time the other referee has %q, want %q", moved, ids(mine))
		}
		r.finish(time.Hour)
		if len(events) != 1 {
			t.Errorf("it is said %d times: %+v", len(events), events)
		}
	})
}

func TestTheOnlyRefereeGetsTheMatchAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *manager.Config) { c.Backoff = game.LeagueBackoff() })
		only := r.referee("only")
		only.inbox.patience = time.Hour
		r.field(4)
		r.begin()
		begin := time.Now()
		both := only.announcements(1).Matches
		only.report(both[0], 1, fair(both[0]))
		only.conducts(fair)
		told := only.announcements(2)
		// By default four attempts of 5 s and of 30 s, with 7 s of delays in either, and 20 s to spare.
		if took := time.Since(begin); took != 174*time.Second {
			t.Errorf("it was told again after %v, want 174 s", took)
		}
		if diff := cmp.Diff([]string{both[1].MatchID}, ids(told.Matches)); diff != "" {
			t.Errorf("of (-want +got):\n%s", diff)
		}
		r.finish(time.Hour)
	})
}

func TestALateRefereeTakesOverFromADeadOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *manager.Config) { c.MatchDeadline = time.Hour })
		dead := r.referee("dead")
		dead.stop()
		r.field(4)
		r.begin()
		synctest.Wait()
		time.Sleep(5 * time.Minute) // it is tried again and again
		if n := len(r.m.Results()); n != 0 {
			t.Fatalf("%d results without a referee", n)
		}
		r.conductor("late", fair)
		r.finish(time.Minute)
		r.wantTable(4, 1)
	})
}

func TestRestartedRefereeGetsItsMatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *manager.Config) { c.MatchDeadline = time.Hour })
		referee := r.referee("north")
		referee.stop()
		r.field(4)
		r.begin()
		time.Sleep(10 * time.Minute)
		referee.conducts(fair)
		referee.listen("elsewhere") // and shows its token
		application := referee.application()
		application.Head().AuthToken = referee.token
		if _, err := referee.call(application); err != nil {
			t.Fatal(err)
		}
		r.finish(time.Second)
		r.events.until(t, "its return", func(e manager.Event) bool {
			return e.Kind == manager.AgentRegistered && e.Agent == referee.id && e.Again
		})
	})
}

func TestAPlayerWhoseAnswerWasLostAtTheStartGetsNewKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Players = 2 })
	referee := r.referee("north")
	ada := r.player("ada")
	r.run()
	ben := r.agent(protocol.RolePlayer, "ben")
	application := ben.application()
	lost, err := r.raw("ben", "id-7", application)
	if err != nil {
		t.Fatal(err)
	}
	referee.announcements(1)
	found, err := r.raw("ben", "id-7", application)
	if err != nil {
		t.Fatal(err)
	}
	ben.accepted(found)
	if ben.token == lost.Head().AuthToken {
		t.Fatal("the token is the old one")
	}
	told := referee.announcements(2).Matches[0]
	keys := map[string]*credential.KeyPair{told.PlayerAID: told.PlayerAKeys, told.PlayerBID: told.PlayerBKeys}
	for _, p := range []*scripted{ada, ben} {
		if want := credential.NewVerifier(p.token).MatchKeys("cup", told.MatchID, referee.id); keys[p.id].Expect != want.Expect || keys[p.id].Send != want.Send {
			t.Errorf("the referee has other keys than %s", p.name)
		}
	}
	referee.report(told, 1, result(told, game.Even, game.Even, 2))
	r.finish()
}

// A referee that refuses to be told cannot conduct anything.
func TestARefereeThatRefusesLosesItsMatches(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	south := r.conductor("south", fair)
	r.field(4)
	r.run()
	no := r.agent(protocol.RoleReferee, "no")
	no.on(protocol.TypeRoundAnnouncement, refuse(protocol.CodeInvalidState))
	no.register()
	r.start()
	r.finish()
	for _, m := range r.m.Results() {
		if m.RefereeID != south.id {
			t.Errorf("%s was conducted by %s", m.ID, m.RefereeID)
		}
	}
}

// refuse is what an agent does that says no.
func refuse(code protocol.Code) wire.Handler {
	return func(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
		return nil, protocol.Refuse(code, in.Type, "No.")
	}
}
