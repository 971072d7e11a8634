package peertest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

// shortHandedLeague starts a tolerant league of two house players and some guests,
// whose manager gives a referee a second to invite, and returns its events.
func shortHandedLeague(ctx context.Context, t *testing.T, guests, referees int) (*hosted, func() []manager.Event) {
	t.Helper()
	var mu sync.Mutex
	var events []manager.Event
	backoff := game.Backoff{Retries: 2, First: 150 * time.Millisecond, Most: 200 * time.Millisecond}
	started := make(chan string, 1)
	l := &host.League{
		Network: host.NewSockets(), Server: jsonrpc.Config{Lenient: true}, Started: func(url string, _ bool) { started <- url },
		Manager: manager.Config{
			Players: 2 + guests, Mode: protocol.Tolerant, Timeout: time.Minute, Backoff: backoff, Probe: manager.ProbeOff, JoinTimeout: time.Second, MatchDeadline: 5 * time.Minute,
			Events: func(e manager.Event) {
				mu.Lock()
				defer mu.Unlock()
				events = append(events, e)
			},
		},
	}
	for range referees {
		l.Referees = append(l.Referees, referee.Config{Config: agent.Config{Mode: protocol.Tolerant, Timeout: time.Minute, Backoff: backoff}, JoinTimeout: time.Minute, ChoiceTimeout: time.Minute})
	}
	for i, name := range []string{"random", "alternate"} {
		l.Seats = append(l.Seats, host.Seat{Config: player.Config{
			Config: agent.Config{Name: "house-" + name, Mode: protocol.Tolerant, Backoff: backoff}, Factory: factory(t, name),
			Key: game.StrategyKey(1, 0, i), Coin: game.CoinKey(1, 0, i),
		}})
	}
	h := &hosted{played: make(chan *host.Played, 1), failed: make(chan error, 1)}
	go func() {
		played, err := l.Play(ctx)
		_ = l.Network.Close()
		h.played <- played
		h.failed <- err
	}()
	select {
	case h.url = <-started:
	case err := <-h.failed:
		t.Fatal(err)
	}
	return h, func() []manager.Event {
		mu.Lock()
		defer mu.Unlock()
		return events
	}
}

// TestRefereesThatWantAnotherForm: a foreign referee that acknowledges everything
// and plays on one kind of message, with fields of its own names, or refuses a
// sender that it does not know, conducts a league alone.
func TestRefereesThatWantAnotherForm(t *testing.T) {
	t.Parallel()
	for name, wants := range map[string]struct{ form, sender string }{
		"MATCH_ASSIGNMENT":              {form: "MATCH_ASSIGNMENT"},
		"START_MATCH of a known sender": {form: "START_MATCH", sender: "league_manager:LM01"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			h, _ := shortHandedLeague(ctx, t, 1, 0)
			o := officiate(t, &style{name: "wants"})
			o.program.handle = func(kind string, message object) object {
				if wants.sender != "" && text(message, "sender") != wants.sender && kind != "LEAGUE_COMPLETED" {
					return object{"_error": object{"code": -32602, "message": "Sender not registered"}}
				}
				if kind == wants.form {
					o.begin(object{
						"match_id": message["match_id"], "round_id": message["round"], "league_id": "league_of_ours",
						"player_A_id": message["player1_id"], "player_A_endpoint": message["player1_endpoint"],
						"player_B_id": message["player2_id"], "player_B_endpoint": message["player2_endpoint"],
					})
				}
				return object{"message_type": "ACK", "status": "ok"}
			}
			o.register(ctx, h.url)
			c := contest(t, &style{name: "guest"}, "guest", "even")
			if err := c.register(ctx, h.url); err != nil {
				t.Fatal(err)
			}
			clean(t, h.end(t), 3)
		})
	}
}

// TestRefereeThatConductsOneMatchAtATime: a referee that refuses a match while it
// conducts another gets it when it has reported.
func TestRefereeThatConductsOneMatchAtATime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	h, events := shortHandedLeague(ctx, t, 2, 0)
	o := officiate(t, &style{name: "busy"})
	var busy atomic.Int64
	o.program.handle = func(kind string, message object) object {
		switch kind {
		case "ROUND_ANNOUNCEMENT":
			return object{"_error": object{"code": -32601, "message": "Method not found"}}
		case "START_MATCH":
			if !busy.CompareAndSwap(0, 1) {
				return object{"_error": object{"code": -32000, "message": "already conducting a match"}}
			}
			o.playing.Go(func() {
				p := matchup{id: text(message, "match_id"), sides: [2]registered{
					{id: text(message, "player1_id"), endpoint: text(message, "player1_endpoint")}, {id: text(message, "player2_id"), endpoint: text(message, "player2_endpoint")},
				}}
				report := o.play(ctx, p, message["round_id"])
				busy.Store(0) // it is free as soon as it reports
				o.program.call(ctx, h.url, "MATCH_RESULT_REPORT", object{"match_id": p.id, "auth_token": o.token, "conversation_id": "c", "result": report["result"]})
			})
		}
		return object{"status": "ok"}
	}
	o.register(ctx, h.url)
	for _, name := range []string{"Ada", "Grace"} {
		if err := contest(t, &style{name: "guest"}, name, "odd").register(ctx, h.url); err != nil {
			t.Fatal(err)
		}
	}
	clean(t, h.end(t), 4)
	if slices.ContainsFunc(events(), func(e manager.Event) bool { return e.Kind == manager.RefereeUnable }) {
		t.Error("the referee is taken for one that conducts nothing")
	}
}

// dumb is a peer that answers everything alike, and notes what it is sent.
type dumb struct {
	url string
	mu  sync.Mutex
	got []request
}

type request struct {
	at   time.Time
	what string // the body without its id and times
}

func newDumb(t *testing.T, answer object) *dumb {
	d := new(dumb)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var body object
		_ = json.Unmarshal(raw, &body)
		reply := object{"jsonrpc": "2.0", "id": body["id"]}
		for name, value := range answer {
			reply[name] = value
		}
		body["id"] = fmt.Sprintf("%T", body["id"])
		if params, ok := body["params"].(object); ok {
			delete(params, "timestamp")
		}
		what, _ := json.Marshal(body)
		d.mu.Lock()
		d.got = append(d.got, request{time.Now(), string(what)})
		d.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(reply)
	}))
	t.Cleanup(server.Close)
	d.url = server.URL + "/mcp"
	return d
}

// register registers the peer, as a referee or a player.
func (d *dumb) register(ctx context.Context, t *testing.T, manager, kind, meta string) {
	t.Helper()
	p := &program{t: t, style: &style{}, sender: strings.ToLower(strings.TrimSuffix(meta, "_meta")) + ":dumb"}
	defer p.http.CloseIdleConnections()
	answer := p.call(ctx, manager, kind, object{"conversation_id": "c", meta: object{
		"display_name": "dumb", "version": "1.0.0", "game_types": []any{"even_odd"}, "contact_endpoint": d.url, "max_concurrent_matches": 20,
	}})
	if text(answer, "status") != "ACCEPTED" {
		t.Fatalf("the registration was answered by %v", answer)
	}
}

// bounded checks that the peer was sent few requests, and none twice at once.
func (d *dumb) bounded(t *testing.T, most int) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.got) == 0 || len(d.got) > most {
		t.Errorf("%d requests, want at most %d", len(d.got), most)
	}
	last := make(map[string]time.Time)
	for _, r := range d.got {
		if before, again := last[r.what]; again && r.at.Sub(before) < 100*time.Millisecond {
			t.Errorf("twice within %v: %s", r.at.Sub(before), r.what)
		}
		last[r.what] = r.at
	}
}

// dumbAnswers are what such a peer answers.
var dumbAnswers = map[string]object{
	"refuses":          {"error": object{"code": -32602, "message": "I refuse"}},
	"knows no method":  {"error": object{"code": -32601, "message": "Method not found"}},
	"knows no sender":  {"error": object{"code": -32602, "message": "Sender not registered"}},
	"fails":            {"error": object{"code": -32603, "message": "Internal error"}},
	"refuses a token":  {"error": object{"code": -32001, "message": "no", "data": object{"error_code": "E012"}}},
	"acknowledges all": {"result": object{"status": "ok"}},
}

// TestRefereesThatConductNothing: the matches of a referee that refuses or
// acknowledges everything, and conducts nothing, go to another; it is sent a
// bounded number of messages, and the manager says why.
func TestRefereesThatConductNothing(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup // they wait more than they compute
	defer all.Wait()
	for name, answer := range dumbAnswers {
		all.Go(func() {
			t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				h, events := shortHandedLeague(ctx, t, 2, 1)
				d := newDumb(t, answer)
				d.register(ctx, t, h.url, "REFEREE_REGISTER_REQUEST", "referee_meta")
				for _, name := range []string{"Ada", "Grace"} {
					if err := contest(t, &style{name: "guest"}, name, "odd").register(ctx, h.url); err != nil {
						t.Fatal(err)
					}
				}
				clean(t, h.end(t), 4)
				d.bounded(t, 200)
				unable := slices.IndexFunc(events(), func(e manager.Event) bool {
					return e.Kind == manager.RefereeUnable && e.Name == "dumb" && e.Error != "" && len(e.Matches) > 0
				})
				if unable < 0 {
					t.Error("nobody says that the referee conducts nothing")
				}
			})
		})
	}
}

// TestPlayersThatAnswerNothing: a player that refuses or acknowledges everything
// loses its matches, and is sent a bounded number of messages.
func TestPlayersThatAnswerNothing(t *testing.T) {
	t.Parallel()
	for name, answer := range dumbAnswers {
		if name == "acknowledges all" {
			continue // it may be about to join, so it is waited for
		}
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			h, _ := shortHandedLeague(ctx, t, 1, 1)
			d := newDumb(t, answer)
			d.register(ctx, t, h.url, "LEAGUE_REGISTER_REQUEST", "player_meta")
			if played := h.end(t); len(played.Matches) != 3 {
				t.Errorf("%d of 3 matches", len(played.Matches))
			}
			d.bounded(t, 400)
		})
	}
}
