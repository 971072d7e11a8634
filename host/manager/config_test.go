package manager_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

func TestConfigurationsThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change func(*manager.Config)
		says   string
	}{
		{func(c *manager.Config) { c.Caller = nil }, "Caller"},
		{func(c *manager.Config) { c.LeagueID = "../etc" }, "cannot name a league"},
		{func(c *manager.Config) { c.Players = 1 }, "cannot start with 1"},
		{func(c *manager.Config) { c.Players, c.MaxPlayers = 5, 4 }, "cannot start with 5"},
		{func(c *manager.Config) { c.Players = game.MaxPlayers + 1 }, "2 to 1000 players"},
		{func(c *manager.Config) { c.MaxPlayers = 1 }, "2 to 1000 players"},
		{func(c *manager.Config) { c.MaxReferees = -1 }, "at least 1 referee"},
		{func(c *manager.Config) { c.Legs = -1 }, "legs"},
		{func(c *manager.Config) { c.Players, c.Legs = 1000, 10 }, "fewer legs"},
		{func(c *manager.Config) { c.AllowHosts = []string{"[a"} }, "allowed host"},
	} {
		cfg := manager.Config{Caller: &wire.Caller{Client: jsonrpc.NewClient(new(jsonrpc.Loopback).From("manager"), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)}}
		c.change(&cfg)
		if _, err := manager.New(cfg); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("the error is %v, want one that says %q", err, c.says)
		}
	}
}

func TestTheScheduleOfALargeLeagueIsSentByRounds(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	referee := r.referee("north")
	for i := range 402 { // 80,601 matches
		r.admit(fmt.Sprint("p", i), nil)
	}
	r.start()
	refuses(t, -32602, protocol.CodeMissingField)(referee.call(referee.query(protocol.QuerySchedule)))
	q := about(referee.query(protocol.QuerySchedule), protocol.QueryParams{RoundID: protocol.RoundNumber(401)})
	if got := ask[protocol.ScheduleData](referee, q); len(got.Rounds) != 1 || got.Rounds[0].RoundID.Number() != 401 {
		t.Errorf("round 401 is %+v", got)
	}
}
