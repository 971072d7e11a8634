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
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
)

// ghosts is a league in memory on the clock of a bubble, where nothing takes time but to
// wait, with players that only register: their endpoints refuse connections or never answer.
type ghosts struct {
	*host.League
	t       *testing.T
	ctx     context.Context
	stop    context.CancelCauseFunc
	caller  *wire.Caller
	serving sync.WaitGroup
}

// haunted returns a league of so many players of ours and others, which are called dead-0
// and so on.
func haunted(t *testing.T, own, dead, referees, legs int, hang bool) *ghosts {
	g := &ghosts{t: t}
	g.ctx, g.stop = context.WithCancelCause(t.Context())
	network := host.NewMemory()
	g.caller = &wire.Caller{Client: jsonrpc.NewClient(network.From("others"), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)}
	g.League = &host.League{
		Network:  network,
		Manager:  manager.Config{LeagueID: "cup", Players: own + dead, Legs: legs, Probe: manager.ProbeOff, AllowHosts: []string{"*"}, AdminToken: "secret"},
		Referees: make([]referee.Config, referees),
	}
	for i := range own {
		g.Seats = append(g.Seats, player.Config{Config: agent.Config{Name: fmt.Sprintf("player %d", i)}, Factory: named(t, "random")[0], Watch: -1})
	}
	g.Started = func(url string, _ bool) {
		for i := range dead {
			name := fmt.Sprintf("dead-%d", i)
			if hang {
				srv, err := network.Listen(g.ctx, name, jsonrpc.Config{})
				if err != nil {
					t.Error(err)
					return
				}
				g.serving.Go(func() {
					_ = srv.Serve(g.ctx, jsonrpc.HandlerFunc(func(ctx context.Context, _ *jsonrpc.Request) jsonrpc.Response {
						<-ctx.Done()
						return jsonrpc.Response{}
					}))
				})
			}
			g.tell(url, &protocol.LeagueRegisterRequest{Meta: protocol.PlayerMeta{
				DisplayName: name, Version: "1.0.0", GameTypes: []string{protocol.GameEvenOdd}, ContactEndpoint: "http://" + name + "/mcp",
			}}, protocol.Header{MessageType: protocol.TypeLeagueRegisterRequest, Sender: "player:" + name})
		}
	}
	return g
}

func (g *ghosts) tell(url string, m protocol.Message, header protocol.Header) {
	header.Protocol, header.Timestamp, header.ConversationID = protocol.Version, protocol.Timestamp(time.Now()), header.Sender
	*m.Head() = header
	if _, err := g.caller.Call(g.ctx, wire.NewPeer(url, dialect.Contracts), m); err != nil {
		g.t.Error(err)
	}
}

// end waits for what a league has left.
func (g *ghosts) end() {
	g.stop(nil)
	g.serving.Wait()
	if err := g.Network.Close(); err != nil {
		g.t.Error(err)
	}
}

// Two players that are gone from the first round on cost a league of 8 players less
// than 30 s of waiting: three matches with all attempts, under any referees, and then
// no wait at all where the connection is refused.
func TestKilledPlayersCostLessThanHalfAMinute(t *testing.T) {
	t.Parallel()
	const pauses = 7 * time.Second // between the four attempts at one message
	legs := sampleOrAll(2, game.DefaultLegs)
	later := time.Duration(7*legs - 3)
	for _, tt := range []struct {
		name             string
		hangs, withdrawn bool
		referees         int
		most             time.Duration
	}{
		{"killed", false, false, 1, 3 * pauses},
		{"killed, three referees", false, false, 3, 3 * pauses},
		// A second for each later round, after 10 s for the manager's own attempt and
		// three matches with four invitations of 5 s.
		{"hanging", true, false, 1, 10*time.Second + 3*(4*5*time.Second+pauses) + later*time.Second},
		{"hanging and withdrawn", true, true, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := haunted(t, 6, 2, tt.referees, legs, tt.hangs)
				start, over := time.Now(), time.Now()
				g.Manager.Events = func(e manager.Event) {
					switch {
					case e.Kind == manager.LeagueCompleted:
						over = time.Now()
					case e.Kind == manager.LeagueStarted && tt.withdrawn:
						for _, id := range []string{"P07", "P08"} {
							go g.tell("http://manager/mcp", &protocol.PlayerStatus{PlayerID: id, Status: "WITHDRAWN"},
								protocol.Header{MessageType: protocol.TypeSetPlayerStatus, Sender: "launcher", AuthToken: "secret", LeagueID: "cup"})
						}
					}
				}
				played, err := g.Play(g.ctx)
				if err != nil {
					t.Fatal(err)
				}
				if took := over.Sub(start); took != tt.most {
					t.Errorf("the league waits %v, want %v", took, tt.most)
				}
				if end := time.Since(over); tt.withdrawn && end > 0 {
					t.Errorf("it takes %v to say that it is over", end)
				}
				for _, s := range played.Standings {
					lostAll := s.PlayerID == "P07" || s.PlayerID == "P08"
					if want := 7 * legs; s.Played != want || lostAll != (s.TechnicalLosses == want) {
						t.Errorf("the table says %+v", s)
					}
				}
				g.end()
			})
		})
	}
}

// Endpoints that nobody answers at hold up a league for as long as one of them would,
// whatever their number: three matches with all attempts in parallel. If they hang,
// the first attempts are made in groups of ten, each of which takes the time for
// joining, and each later round takes the second in which all of them are asked once.
func TestDeadEndpointsCostLittle(t *testing.T) {
	t.Parallel()
	const pauses, hang, rounds = 7 * time.Second, 27 * time.Second, 5 // of a match with one
	enough := errors.New("enough rounds")
	for _, dead := range []int{20, 80}[:sampleOrAll(1, 2)] {
		for _, hangs := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				g := haunted(t, 2, dead, 1, 1, hangs)
				var start time.Time
				round := 0
				g.Manager.Events = func(e manager.Event) {
					switch e.Kind {
					case manager.LeagueStarted:
						start = time.Now()
					case manager.RoundCompleted:
						early, later := time.Duration(min(round+1, 3)), time.Duration(max(round-2, 0))
						want := early * pauses
						if hangs {
							groups := time.Duration((dead + 2) / 2 / 10)
							want = 10*time.Second + early*(hang+groups*5*time.Second) + later*time.Second
						}
						if at := time.Since(start); at > want {
							t.Errorf("%d dead endpoints, hanging %v: round %d ends after %v, want at most %v", dead, hangs, round+1, at, want)
						}
						if round++; round == rounds {
							g.stop(enough)
						}
					}
				}
				if _, err := g.Play(g.ctx); !errors.Is(err, enough) {
					t.Error(err)
				}
				g.end()
			})
		}
	}
}
