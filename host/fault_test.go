package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/managertest"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
)

// patience is what is waited for an answer where some never come. It is tried
// three times, so that a busy machine makes nobody miss it.
const patience = 900 * time.Millisecond

var quick = game.Backoff{Retries: 2, First: time.Millisecond, Most: 4 * time.Millisecond}

// punctual tells a time that patience takes to a full second: a deadline is
// stated in full seconds, and players are given all the time that is stated.
func punctual() time.Time { return time.Now().Truncate(time.Second).Add(time.Second - patience) }

// leagueOf is a live league over sockets with quick times.
func leagueOf(t *testing.T, players, own int) *host.League {
	t.Helper()
	l := &host.League{
		Network: host.NewSockets(),
		Manager: manager.Config{LeagueID: "cup", Players: players, DataDir: t.TempDir(), NoSync: true, Probe: manager.ProbeOff, Timeout: patience, Backoff: quick},
		Referees: []referee.Config{
			{Config: agent.Config{Timeout: patience, Backoff: quick, Now: punctual}, Concurrent: players, JoinTimeout: patience, ChoiceTimeout: patience},
		},
	}
	t.Cleanup(func() { l.Network.Close() })
	for i, f := range named(t, "random", "markov-1", "role", "frequency", "hedge", "copy-last")[:own] {
		l.Seats = append(l.Seats, player.Config{Config: agent.Config{Name: fmt.Sprintf("healthy %d", i), Backoff: quick}, Factory: f, Watch: -1})
	}
	return l
}

// audit holds the results of a league to its rules, to its table and to its
// journal: everybody played everybody, healthy players took no technical loss
// and got their points from every match.
func audit(t *testing.T, cfg manager.Config, played *host.Played, healthy func(id string) bool) {
	t.Helper()
	n := len(played.Standings)
	if want := n * (n - 1) / 2 * max(1, cfg.Legs); len(played.Matches) != want {
		t.Fatalf("%d results, want %d", len(played.Matches), want)
	}
	points, count := make(map[string]int), make(map[string]int)
	for _, m := range played.Matches {
		for k, id := range m.Players {
			other := m.Players[1-k]
			points[id] += m.Points[k]
			count[id]++
			switch {
			case healthy(id) && m.Results[k] == game.TechnicalLoss:
				t.Errorf("%s: %s is healthy and lost to %s by technical loss", m.ID, id, other)
			case healthy(id) && m.Results[1-k] == game.TechnicalLoss && m.Points[k] != game.WinPoints:
				t.Errorf("%s: %s got %d points from %s, which was at fault", m.ID, id, m.Points[k], other)
			}
		}
	}
	for _, s := range played.Standings {
		if s.Points != points[s.PlayerID] || s.Played != count[s.PlayerID] || s.Played != (n-1)*max(1, cfg.Legs) {
			t.Errorf("the table says %+v, the results %d points in %d matches", s, points[s.PlayerID], count[s.PlayerID])
		}
	}
	if cfg.DataDir == "" {
		return
	}
	if table := managertest.Table(t, cfg.DataDir, cfg.LeagueID); !slices.Equal(table, played.Standings) {
		t.Errorf("the journal gives\n%+v, the table is\n%+v", table, played.Standings)
	}
}

// misbehaving is a player that is somebody else's program: it registers, joins, and plays even,
// but for what it does instead at the call for a choice, or at everything.
type misbehaving struct {
	always bool
	does   func(w http.ResponseWriter, r *http.Request, answer string)
}

func (p misbehaving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Params struct {
			Kind  string `json:"message_type"`
			Match string `json:"match_id"`
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"status":"ok","accept":true,"parity_choice":"even","match_id":%q}}`, m.ID, m.Params.Match)
	if p.always || m.Params.Kind == string(protocol.TypeChooseParityCall) {
		p.does(w, r, answer)
		return
	}
	fmt.Fprint(w, answer)
}

func hangs(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }

// misbehaviours are what can be done over sockets; the tests of host/referee have more in memory.
var misbehaviours = map[string]misbehaving{
	"hangs at the choice": {does: hangs},
	"hangs at everything": {always: true, does: hangs},
	"closes in mid-body": {does: func(w http.ResponseWriter, _ *http.Request, answer string) {
		if conn, rw, err := w.(http.Hijacker).Hijack(); err == nil {
			fmt.Fprintf(rw, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n%s", answer)
			rw.Flush()
			conn.Close()
		}
	}},
	"answers twice": {does: func(w http.ResponseWriter, _ *http.Request, answer string) { fmt.Fprint(w, answer, answer) }},
	"streams for ever": {does: func(w http.ResponseWriter, r *http.Request, _ string) {
		for r.Context().Err() == nil {
			if _, err := fmt.Fprintf(w, "%01000d", 0); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}},
	"crashed":      {}, // after it had registered
	"does nothing": {does: func(w http.ResponseWriter, _ *http.Request, answer string) { fmt.Fprint(w, answer) }},
}

// TestMisbehavingPlayers plays a league of healthy players and of every kind of broken one,
// over sockets, to its end.
func TestMisbehavingPlayers(t *testing.T) {
	t.Parallel()
	l := leagueOf(t, 3+len(misbehaviours), 3)
	l.Manager.Mode, l.Referees[0].Mode = protocol.Tolerant, protocol.Tolerant
	names := make(map[string]string) // by id
	l.Started = func(manager string, _ bool) {
		for name, p := range misbehaviours {
			url := "http://" + jsonrpctest.Address(t)
			if p.does != nil {
				srv := httptest.NewServer(p)
				t.Cleanup(srv.Close)
				url = srv.URL
			}
			registration := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"register_player","params":{"message_type":"LEAGUE_REGISTER_REQUEST",
				"player_meta":{"display_name":%q,"contact_endpoint":"%s/mcp"}}}`, name, url)
			res, err := http.Post(manager, "application/json", strings.NewReader(registration))
			if err != nil {
				t.Error(err)
				return
			}
			var answer struct {
				Result struct {
					ID string `json:"player_id"`
				}
			}
			err = json.NewDecoder(res.Body).Decode(&answer)
			if res.Body.Close(); err != nil {
				t.Error(err)
			}
			if name != "does nothing" {
				names[answer.Result.ID] = name
			}
		}
	}
	played, err := l.Play(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	healthy := func(id string) bool { return names[id] == "" }
	audit(t, l.Manager, played, healthy)
	for _, m := range played.Matches {
		for k, id := range m.Players {
			if !healthy(id) && healthy(m.Players[1-k]) && m.Results[k] != game.TechnicalLoss {
				t.Errorf("%s: %q got away with %v (%v)", m.ID, names[id], m.Results[k], m.Choices)
			}
		}
	}
}

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
	network := new(host.Memory)
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
