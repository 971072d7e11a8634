package manager

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// lonely is a manager whose only player never answers.
func lonely(t *testing.T) (*Manager, *contact) {
	t.Helper()
	net := new(jsonrpc.Loopback)
	srv, err := net.Listen("P01", jsonrpc.Config{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(Config{Caller: callerOn(net)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // callers wait for a server that is never served
		m.Close()
		srv.Close()
	})
	if err := m.record(context.Background(), signedUp(protocol.RolePlayer, "P01")); err != nil {
		t.Fatal(err)
	}
	return m, m.contacts["P01"]
}

// signedUp is the registration of an agent.
func signedUp(role protocol.Role, id string) *league.Joined {
	return &league.Joined{Registration: league.Registration{
		Role: role, ID: id, Verifier: credential.NewVerifier(id).String(), Dialect: dialect.Contracts.Name,
		Name: strings.ToLower(id), Endpoint: "http://" + id + "/mcp",
	}}
}

func callerOn(net *jsonrpc.Loopback) *wire.Caller {
	return &wire.Caller{Client: jsonrpc.NewClient(net.From("manager"), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	c, err := Config{Caller: callerOn(new(jsonrpc.Loopback)), Players: 6}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if c.LeagueID != DefaultLeagueID || c.MaxPlayers != 6 || c.MaxReferees != 64 || c.Legs != 1 || c.Draw.String() != game.FairDraw().String() ||
		c.Timeout != 10*time.Second || c.Backoff != game.LeagueBackoff() || c.Mode != protocol.Strict || c.Probe != ProbeWarn {
		t.Errorf("the defaults are %+v", c)
	}
	// Four attempts of 5 s and of 30 s, with 7 s of delays in either, and 20 s to spare.
	if c.MatchDeadline != 174*time.Second {
		t.Errorf("a match takes at most %v", c.MatchDeadline)
	}
	if c, err := (Config{Caller: callerOn(new(jsonrpc.Loopback))}).withDefaults(); err != nil || c.MaxPlayers != game.MaxPlayers {
		t.Errorf("without a number of players there are at most %d, %v", c.MaxPlayers, err)
	}
}

func TestConfigurationsThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change func(*Config)
		says   string
	}{
		{func(c *Config) { c.Caller = nil }, "Caller"},
		{func(c *Config) { c.LeagueID = "../etc" }, "cannot name a league"},
		{func(c *Config) { c.Players = 1 }, "cannot start with 1"},
		{func(c *Config) { c.Players, c.MaxPlayers = 5, 4 }, "cannot start with 5"},
		{func(c *Config) { c.Players = game.MaxPlayers + 1 }, "2 to 1000 players"},
		{func(c *Config) { c.MaxPlayers = 1 }, "2 to 1000 players"},
		{func(c *Config) { c.MaxReferees = -1 }, "at least 1 referee"},
		{func(c *Config) { c.Legs = -1 }, "legs"},
		{func(c *Config) { c.Players, c.Legs = 1000, 10 }, "fewer legs"},
		{func(c *Config) { c.AllowHosts = []string{"[a"} }, "allowed host"},
	} {
		cfg := Config{Caller: callerOn(new(jsonrpc.Loopback))}
		c.change(&cfg)
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("the error is %v, want one that says %q", err, c.says)
		}
	}
}

func TestTheScheduleOfALargeLeagueIsSentByRounds(t *testing.T) {
	t.Parallel()
	m, _ := lonely(t)
	if err := m.record(context.Background(), signedUp(protocol.RoleReferee, "REF01")); err != nil {
		t.Fatal(err)
	}
	start := &league.Started{Legs: 1, Seats: []string{"P01"}}
	for seat := 1; seat < 402; seat++ { // 80,601 matches
		if err := m.record(context.Background(), signedUp(protocol.RolePlayer, game.PlayerID(seat))); err != nil {
			t.Fatal(err)
		}
		start.Seats = append(start.Seats, game.PlayerID(seat))
	}
	m.scheduling.Store(true)
	if s := read(m, m.status); s.State != "CREATING_SCHEDULE" || s.Status != "scheduling" {
		t.Errorf("while the schedule is made the state is %s, %s", s.State, s.Status)
	}
	if err := m.record(context.Background(), start); err != nil {
		t.Fatal(err)
	}
	if _, err := m.wholeSchedule(protocol.Header{}); dialect.CodeOf(err) != protocol.CodeMissingField {
		t.Errorf("the error is %v", err)
	}
	if d := m.rounds(401, 401); len(d.Rounds) != 1 {
		t.Errorf("round 401 is %+v", d)
	}
}
