package manager_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

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
		r.finish(time.Hour)
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
		r.begin()
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
		r.begin()
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
