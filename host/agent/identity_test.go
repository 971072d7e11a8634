package agent_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

func TestWhoseTheManagersMessagesAre(t *testing.T) {
	t.Parallel()
	const token = "tok-P01-0123456789abcdef0123456789abcdef01234567"
	right := credential.NewVerifier(token).ManagerToken("cup")
	for _, tt := range []struct {
		name, sender, token string
		mode                protocol.Mode
		proved              bool
		want                protocol.Code
	}{
		{"right", "league_manager", right, protocol.Strict, false, ""},
		{"wrong", "league_manager", "x", protocol.Strict, false, "E012"},
		{"missing", "league_manager", "", protocol.Strict, false, "E011"},
		{"the agent's own", "league_manager", token, protocol.Strict, false, "E012"},
		{"missing, tolerated", "league_manager", "", protocol.Tolerant, false, ""},
		{"missing after it was shown", "league_manager", "", protocol.Tolerant, true, "E011"},
		{"wrong after it was shown", "league_manager", "x", protocol.Tolerant, true, "E012"},
		{"a referee of its own", "referee:REF01", "", protocol.Tolerant, false, ""},
		{"a referee after it was shown", "referee:REF01", right, protocol.Tolerant, true, "E012"},
		{"a player", "player:P02", right, protocol.Tolerant, false, "E012"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			me := agent.NewIdentity(protocol.RolePlayer, "me")
			if me.Sender() != "player:me" {
				t.Errorf("signs as %s", me.Sender())
			}
			me.Adopt("P01", token, "cup")
			in := func(sender, token string) *wire.Exchange {
				return &wire.Exchange{Request: &dialect.Request{Type: protocol.TypeRoundAnnouncement,
					Header: protocol.Header{Sender: sender, AuthToken: token, LeagueID: "cup"}}}
			}
			if tt.proved {
				if err := me.FromManager(in("league_manager", right), tt.mode); err != nil || !me.ManagerProved() {
					t.Fatal(err)
				}
			}
			if err := me.FromManager(in(tt.sender, tt.token), tt.mode); dialect.CodeOf(err) != tt.want {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// The keys of a match are those of the agent's token.
func TestKeysAreThoseOfTheMatch(t *testing.T) {
	t.Parallel()
	me := agent.NewIdentity(protocol.RolePlayer, "me")
	in := &wire.Exchange{Request: &dialect.Request{Header: protocol.Header{MatchID: "R1M1"}}}
	if _, ok := me.Keys(in, "REF01"); ok {
		t.Error("there are keys without a token")
	}
	me.Adopt("P01", "tok-P01-a", "cup")
	want := credential.NewVerifier("tok-P01-a").MatchKeys("cup", "R1M1", "REF01")
	if got, ok := me.Keys(in, "REF01"); !ok || got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A message waits for a registration that is running: of a tolerant agent for a
// second, once, since the manager may be waiting for the answer to the message.
func TestMessagesWaitForTheRegistration(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		me := agent.NewIdentity(protocol.RolePlayer, "me")
		over := me.BeginRegistration()
		for i, want := range []time.Duration{time.Second, 0} {
			begun := time.Now()
			if me.AwaitRegistration(t.Context(), protocol.Tolerant); time.Since(begun) != want {
				t.Errorf("message %d waits for %v, want %v", i, time.Since(begun), want)
			}
		}
		time.AfterFunc(time.Minute, over)
		begun := time.Now()
		if me.AwaitRegistration(t.Context(), protocol.Strict); time.Since(begun) != time.Minute {
			t.Errorf("a strict agent waits for %v", time.Since(begun))
		}
		me.BeginRegistration()()
		me.AwaitRegistration(t.Context(), protocol.Tolerant)
	})
}

// TestConvention: player P0N belongs to port 810N and referee REF0N to 800N.
func TestConvention(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		role protocol.Role
		id   string
		port int
	}{
		{protocol.RolePlayer, "P04", 8104}, {protocol.RolePlayer, "p4", 8104}, {protocol.RolePlayer, "P100", 8200},
		{protocol.RolePlayer, "P101", 0}, {protocol.RolePlayer, "P00", 0}, {protocol.RolePlayer, "P6F", 0},
		{protocol.RolePlayer, "P-4", 0}, {protocol.RolePlayer, "Team 7", 0}, {protocol.RolePlayer, "REF01", 0},
		{protocol.RoleReferee, "REF01", 8001}, {protocol.RoleReferee, "REF11", 0}, {protocol.RoleReferee, "P01", 0},
	} {
		if got := agent.PortOf(c.role, c.id); got != c.port {
			t.Errorf("%s %s is at port %d, want %d", c.role, c.id, got, c.port)
		}
	}
	for port, want := range map[int]string{8101: "P01", 8104: "P04", 8200: "P100", 8100: "", 8201: "", 9000: ""} {
		if got := agent.IDAt(protocol.RolePlayer, port); got != want {
			t.Errorf("at port %d is %q, want %q", port, got, want)
		}
	}
	for _, c := range []struct{ manager, id, want string }{
		{"http://localhost:9000/mcp", "P10", "http://localhost:8110/mcp"},
		{"https://league.example:8000/mcp", "P100", "https://league.example:8200/mcp"},
		{"http://[::1]:8000/mcp", "REF10", "http://[::1]:8010/mcp"},
		{"http://127.0.0.1:8000/mcp", "player_3fa9c2d1", ""},
		{"://", "P01", ""},
	} {
		role := protocol.RolePlayer
		if strings.HasPrefix(c.id, "REF") {
			role = protocol.RoleReferee
		}
		if got := agent.DefaultEndpoint(c.manager, role, c.id); got != c.want {
			t.Errorf("%s under %s is expected at %q, want %q", c.id, c.manager, got, c.want)
		}
	}
}
