package host_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
)

// gone is how a player is lost: it is killed, or it hangs and takes every message.
type gone struct {
	hangs, withdrawn bool
	referees         int
}

// lasts plays a league of 8 players with the default times, two of whom are gone from
// the first round on, and returns how long the league lasts on the clock of a bubble,
// where nothing takes time but to wait.
func lasts(t *testing.T, lost gone) (took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		network := host.NewMemory()
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 2)
		l := &host.League{
			Network: network,
			Manager: manager.Config{LeagueID: "cup", Players: 8, Legs: game.DefaultLegs, Probe: manager.ProbeOff, AllowHosts: []string{"*"}, AdminToken: "secret"},
		}
		for range lost.referees {
			l.Referees = append(l.Referees, referee.Config{})
		}
		for i, f := range named(t, slices.Repeat([]string{"random"}, 6)...) {
			l.Seats = append(l.Seats, host.Seat{Config: player.Config{Config: agent.Config{Name: fmt.Sprintf("player %d", i)}, Factory: f, Watch: -1}})
		}
		caller := &wire.Caller{Client: jsonrpc.NewClient(network.From("others"), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)}
		tell := func(url string, m protocol.Message, header protocol.Header) {
			header.Protocol, header.Timestamp, header.ConversationID = protocol.Version, protocol.Timestamp(time.Now()), header.Sender
			*m.Head() = header
			if _, err := caller.Call(ctx, wire.NewPeer(url, dialect.Contracts), m); err != nil {
				t.Error(err)
			}
		}
		l.Manager.Events = func(e manager.Event) {
			if e.Kind == manager.LeagueStarted && lost.withdrawn {
				for _, id := range []string{"P07", "P08"} {
					go tell("http://manager/mcp", &protocol.PlayerStatus{PlayerID: id, Status: "WITHDRAWN"},
						protocol.Header{MessageType: protocol.TypeSetPlayerStatus, Sender: "launcher", AuthToken: "secret", LeagueID: "cup"})
				}
			}
		}
		l.Started = func(url string, _ bool) {
			for _, name := range []string{"ada", "ben"} {
				if lost.hangs {
					srv, err := network.Listen(ctx, name, jsonrpc.Config{})
					if err != nil {
						t.Error(err)
						return
					}
					go func() {
						served <- srv.Serve(ctx, jsonrpc.HandlerFunc(func(ctx context.Context, _ *jsonrpc.Request) jsonrpc.Response {
							<-ctx.Done()
							return jsonrpc.Response{}
						}))
					}()
				}
				tell(url, &protocol.LeagueRegisterRequest{Meta: protocol.PlayerMeta{
					DisplayName: name, Version: "1.0.0", GameTypes: []string{protocol.GameEvenOdd}, ContactEndpoint: "http://" + name + "/mcp",
				}}, protocol.Header{MessageType: protocol.TypeLeagueRegisterRequest, Sender: "player:" + name})
			}
		}
		start := time.Now()
		over := start
		events := l.Manager.Events
		l.Manager.Events = func(e manager.Event) {
			if e.Kind == manager.LeagueCompleted {
				over = time.Now()
			}
			events(e)
		}
		played, err := l.Play(ctx)
		if err != nil {
			t.Fatal(err)
		}
		took = over.Sub(start)
		if end := time.Since(over); lost.withdrawn && end > 0 {
			t.Errorf("it takes %v to say that it is over", end)
		}
		for _, s := range played.Standings {
			lostAll := s.PlayerID == "P07" || s.PlayerID == "P08"
			if want := 7 * game.DefaultLegs; s.Played != want || lostAll != (s.TechnicalLosses == want) {
				t.Errorf("the table says %+v", s)
			}
		}
		stop()
		if lost.hangs {
			<-served
			<-served
		}
		if err := network.Close(); err != nil {
			t.Error(err)
		}
	})
	return took
}

// Two players that are gone from the first round on cost a league of 8 players less
// than 30 s of waiting: three matches with all attempts, under any referees, and then
// no wait at all where the connection is refused.
func TestKilledPlayersCostLessThanHalfAMinute(t *testing.T) {
	t.Parallel()
	const pauses = 7 * time.Second // between the four attempts at one message
	for _, tt := range []struct {
		name string
		lost gone
		most time.Duration
	}{
		{"killed", gone{referees: 1}, 3 * pauses},
		{"killed, three referees", gone{referees: 3}, 3 * pauses},
		// A second for each of 67 rounds, after 10 s for the manager's own attempt and
		// three matches with four invitations of 5 s.
		{"hanging", gone{hangs: true, referees: 1}, 10*time.Second + 3*(4*5*time.Second+pauses) + 67*time.Second},
		{"hanging and withdrawn", gone{hangs: true, withdrawn: true, referees: 1}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if took := lasts(t, tt.lost); took != tt.most {
				t.Errorf("the league waits %v, want %v", took, tt.most)
			}
		})
	}
}
