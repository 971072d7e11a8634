package host_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
)

var errEnough = errors.New("enough rounds")

// flooded plays the first rounds of a league of 2 players and many more that only
// registered, and returns when each round is over, on the clock of a bubble. Their
// endpoints refuse connections or never answer.
func flooded(t *testing.T, dead, rounds int, hang bool) (over []time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		network := host.NewMemory()
		ctx, stop := context.WithCancelCause(t.Context())
		defer stop(nil)
		l := &host.League{
			Network:  network,
			Manager:  manager.Config{LeagueID: "cup", Players: dead + 2, Probe: manager.ProbeOff, AllowHosts: []string{"*"}},
			Referees: []referee.Config{{}},
		}
		for i, f := range named(t, "random", "random") {
			l.Seats = append(l.Seats, host.Seat{Config: player.Config{Config: agent.Config{Name: fmt.Sprintf("player %d", i)}, Factory: f, Watch: -1}})
		}
		var start time.Time
		l.Manager.Events = func(e manager.Event) {
			switch e.Kind {
			case manager.LeagueStarted:
				start = time.Now()
			case manager.RoundCompleted:
				if over = append(over, time.Since(start)); len(over) == rounds {
					stop(errEnough)
				}
			}
		}
		var listening sync.WaitGroup
		caller := &wire.Caller{Client: jsonrpc.NewClient(network.From("others"), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)}
		l.Started = func(url string, _ bool) {
			for i := range dead {
				name := fmt.Sprintf("dead-%d", i)
				if hang {
					srv, err := network.Listen(ctx, name, jsonrpc.Config{})
					if err != nil {
						t.Error(err)
						return
					}
					listening.Go(func() {
						_ = srv.Serve(ctx, jsonrpc.HandlerFunc(func(ctx context.Context, _ *jsonrpc.Request) jsonrpc.Response {
							<-ctx.Done()
							return jsonrpc.Response{}
						}))
					})
				}
				if _, err := caller.Call(ctx, wire.NewPeer(url, dialect.Contracts), &protocol.LeagueRegisterRequest{
					Header: protocol.NewHeader(protocol.TypeLeagueRegisterRequest, "player:"+name, protocol.Timestamp(time.Now()), name),
					Meta: protocol.PlayerMeta{
						DisplayName: name, Version: "1.0.0", GameTypes: []string{protocol.GameEvenOdd}, ContactEndpoint: "http://" + name + "/mcp",
					},
				}); err != nil {
					t.Error(err)
				}
			}
		}
		if _, err := l.Play(ctx); !errors.Is(err, errEnough) {
			t.Error(err)
		}
		stop(nil)
		listening.Wait()
		if err := network.Close(); err != nil {
			t.Error(err)
		}
	})
	return over
}

// Endpoints that nobody answers at hold up a league for as long as one of them would,
// whatever their number: three matches with all attempts in parallel. If they hang,
// the first attempts are made in groups of ten, each of which takes the time for
// joining, and each later round takes the second in which all of them are asked once.
func TestDeadEndpointsCostLittle(t *testing.T) {
	t.Parallel()
	const pauses, hang = 7 * time.Second, 27 * time.Second // of a match with one
	for _, dead := range []int{20, 80} {
		for _, hangs := range []bool{false, true} {
			var want []time.Duration
			for round := range time.Duration(5) {
				early, later := min(round+1, 3), max(round-2, 0)
				if hangs {
					groups := time.Duration((dead + 2) / 2 / 10)
					want = append(want, 10*time.Second+early*(hang+groups*5*time.Second)+later*time.Second)
				} else {
					want = append(want, early*pauses)
				}
			}
			got := flooded(t, dead, len(want), hangs)
			for i, at := range got {
				if at > want[i] {
					t.Errorf("%d dead endpoints, hanging %v: the rounds end after %v, want at most %v", dead, hangs, got, want)
					break
				}
			}
		}
	}
}
