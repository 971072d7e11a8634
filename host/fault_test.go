package host_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/managertest"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

// patience is what is waited for an answer where some never come. It is tried
// three times, so that a busy machine makes nobody miss it.
const patience = 200 * time.Millisecond

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
