package manager_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// lives are the states that an agent went through.
func (r *rig) lives(id string) []league.Life {
	var lives []league.Life
	for _, e := range r.events.all() {
		if e.Agent == id {
			lives = append(lives, e.State)
		}
	}
	return lives
}

// The times of the protocol, on a clock that a test can afford.
func TestAPlayerThatHangsCostsOneTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *manager.Config) { c.Players, c.Backoff = 4, game.Backoff{} })
		r.run()
		begin := time.Now()
		r.conductor("north", fair)
		r.field(3)
		hang := r.agent(protocol.RolePlayer, "hangs")
		var attempts watched[protocol.Type]
		for _, kind := range []protocol.Type{
			protocol.TypeRoundAnnouncement, protocol.TypeLeagueStandingsUpdate, protocol.TypeRoundCompleted, protocol.TypeLeagueCompleted,
		} {
			hang.on(kind, func(ctx context.Context, _ *wire.Exchange) (protocol.Message, error) {
				attempts.add(kind)
				<-ctx.Done()
				return nil, ctx.Err()
			})
		}
		hang.register()
		<-r.m.Done()
		if took := time.Since(begin); took != 10*time.Second {
			t.Errorf("three rounds with a player that hangs took %v, want the 10 s of one attempt", took)
		}
		r.finish()
		// What is left at the end is the last one of each. When all attempts at one
		// have failed, the player is gone, and the end of the league is tried once.
		all := attempts.all()
		last := all[len(all)-5:]
		want := append(slices.Repeat([]protocol.Type{protocol.TypeRoundCompleted}, 4), protocol.TypeLeagueCompleted)
		if diff := cmp.Diff(want, last); diff != "" {
			t.Errorf("the last attempts (-want +got):\n%s", diff)
		}
	})
}

func TestAnAgentThatComesBackIsActiveAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		referee := r.referee("north")
		r.field(1)
		away := r.admit("away", nil)
		r.begin(0)
		m := referee.announcements(1).Matches[0]
		// It begins to listen while the announcement is being tried again.
		back := r.silent(protocol.RolePlayer, "away")
		back.id, back.token = away.PlayerID, away.AuthToken
		back.listen("away")
		back.announcements(1)
		synctest.Wait()
		want := []league.Life{league.Registered, league.Suspended, league.Active}
		if diff := cmp.Diff(want, r.lives(back.id)); diff != "" {
			t.Errorf("its life (-want +got):\n%s", diff)
		}
		referee.report(m, 1, fair(m))
		r.finish()
		if all := r.lives(back.id); all[len(all)-1] != league.Shutdown {
			t.Errorf("it ends as %s", all[len(all)-1])
		}
	})
}

func TestASuspendedAgentIsActiveWhenItAsks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.referee("north")
		r.field(1)
		away := r.admit("away", nil)
		r.begin(0)
		r.events.until(t, "a suspension", func(e manager.Event) bool { return e.Agent == away.PlayerID && e.State == league.Suspended })
		synctest.Wait() // until the next attempt to reach it, which suspends it again
		s := r.silent(protocol.RolePlayer, "away")
		s.id, s.token = away.PlayerID, away.AuthToken
		if p := ask[protocol.PlayersData](s, s.query(protocol.QueryPlayers)).Players[1]; p.PlayerID != s.id || p.State != "ACTIVE" {
			t.Errorf("%s is %s", p.PlayerID, p.State)
		}
	})
}

// What comes back from a player's endpoint is anything but an acknowledgement.
func TestPlayersThatAnswerNonsense(t *testing.T) {
	t.Parallel()
	answers := map[string]jsonrpc.Response{
		"garbage":           {Body: []byte("<html>"), Status: 200},
		"a mere object":     {Result: []byte(`{"status":"ok"}`)}, // counts: many agents answer so
		"another type":      {Result: []byte(`{"protocol":"league.v2","message_type":"GAME_JOIN_ACK","timestamp":"2026-03-14T09:00:00Z","match_id":"R1M1","player_id":"P01","accept":true,"arrival_timestamp":"2026-03-14T09:00:00Z"}`)},
		"an internal error": {Error: &jsonrpc.Error{Code: -32603, Message: "oops"}, Status: 500},
		"unknown method":    {Error: &jsonrpc.Error{Code: -32601, Message: "Method not found"}},
		"another's name":    {Result: []byte(`{"protocol":"league.v2","message_type":"ROUND_ANNOUNCEMENT_ACK","timestamp":"2026-03-14T09:00:00Z","status":"ACKNOWLEDGED","player_id":"P77","round_id":1}`)},
		"busy":              {Error: &jsonrpc.Error{Code: 48, Message: "busy"}, Status: 503},
		"a redirect":        {Body: []byte("{}"), Status: 307},
	}
	r := newRig(t, func(c *manager.Config) { c.Players = len(answers) })
	r.run()
	r.conductor("north", fair)
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	n := 0
	for _, answer := range answers {
		name := fmt.Sprintf("odd-%d", n)
		n++
		r.serve(ctx, name, jsonrpc.HandlerFunc(func(context.Context, *jsonrpc.Request) jsonrpc.Response { return answer }))
		r.admit(name, nil)
	}
	r.finish()
	r.wantTable(len(answers), 1)
	told := r.events.until(t, "an announcement", func(e manager.Event) bool { return e.Kind == manager.Notified })
	if told.Acked != 1 || len(told.Missing) != len(answers)-1 {
		t.Errorf("the announcement was acknowledged by %d and not by %v", told.Acked, told.Missing)
	}
}

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
	players := r.begin(4)
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
		r.finish()
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
		r.begin(4)
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
		r.finish()
		if len(events) != 1 {
			t.Errorf("it is said %d times: %+v", len(events), events)
		}
	})
}

func TestTheOnlyRefereeGetsTheMatchAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *manager.Config) { c.Backoff = game.LeagueBackoff() })
		only := r.referee("only")
		r.begin(4)
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
		r.finish()
	})
}

func TestALateRefereeTakesOverFromADeadOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *manager.Config) { c.MatchDeadline = time.Hour })
		dead := r.referee("dead")
		dead.stop()
		r.begin(4)
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
		r.begin(4)
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
