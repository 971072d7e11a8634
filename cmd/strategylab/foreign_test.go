package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// asked is a request as a foreign manager reads it.
type asked struct {
	path, method string
	id           any
	params       map[string]any
}

func (a asked) result(v any) any { return map[string]any{"jsonrpc": "2.0", "id": a.id, "result": v} }

func (a asked) refusal(code int, text string) any {
	return map[string]any{"jsonrpc": "2.0", "id": a.id, "error": map[string]any{"code": code, "message": text}}
}

func (a asked) text(name string) string {
	s, _ := a.params[name].(string)
	return s
}

// arguments are those of a tool.
func (a asked) arguments() map[string]any {
	args, _ := a.params["arguments"].(map[string]any)
	return args
}

type reply = map[string]any

// speaking is a server of another program, which ends with the test. seen gets each request.
func speaking(t *testing.T, answer func(asked) (int, any), seen func(request string)) (url string) {
	server := httptest.NewServer(answering(answer, seen))
	t.Cleanup(server.Close)
	return server.URL + "/mcp"
}

// answering answers requests with a document, or with a text that is no JSON.
func answering(answer func(asked) (int, any), seen func(request string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var doc struct {
			ID     any
			Method string
			Params map[string]any
		}
		text, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(text, &doc) // what cannot be read is empty
		seen(r.URL.Path + string(text))
		status, said := answer(asked{r.URL.Path, doc.Method, doc.ID, doc.Params})
		page, is := said.(string)
		w.Header().Set("Content-Type", map[bool]string{true: "text/html", false: "application/json"}[is])
		w.WriteHeader(status)
		if is {
			_, _ = io.WriteString(w, page)
			return
		}
		_ = json.NewEncoder(w).Encode(said)
	}
}

// startable are the ways in which managers of real leagues are started: each
// returns an HTTP status and a document.
var startable = map[string]struct {
	answer func(asked) (int, any)
	says   string
	fails  bool
	most   int // requests
}{
	"round by round": {func(a asked) (int, any) {
		if a.method == "announce_round" && a.params["round_id"] == 2.0 {
			return 200, a.result(reply{"status": "ok"})
		}
		return 200, a.refusal(-32601, "Method not found")
	}, "announce_round", false, 1},
	"by a path, with refusals in results": {func(a asked) (int, any) {
		switch a.path {
		case "/start_league":
			return 200, reply{"status": "started"}
		case "/mcp":
			return 200, a.result(reply{"message_type": "ERROR", "error_code": "UNKNOWN_MESSAGE_TYPE"})
		}
		return 404, reply{"detail": "Not Found"}
	}, "the manager accepted POST /start_league", false, 50},
	"under its league id, by a sender that it knows": {func(a asked) (int, any) {
		switch {
		case a.method == "league_query":
			return 200, a.result(reply{"message_type": "LEAGUE_QUERY_RESPONSE", "league_id": "spring_cup", "success": true, "data": reply{}})
		case a.method != "start_league":
			return 200, a.refusal(-32601, "Method not found")
		case a.text("league_id") != "spring_cup":
			return 200, a.result(reply{"status": "error", "message": "League not found"})
		case a.text("sender") != "league_manager":
			return 200, a.refusal(-32602, "Sender not registered")
		}
		return 200, a.result(reply{"status": "success"})
	}, `as league_manager for league "spring_cup"`, false, 12},
	"under the league id that its refusal names": {func(a asked) (int, any) {
		if a.text("league_id") != "even_odd_7" {
			return 400, reply{"detail": "Unknown league_id. Available leagues: 'even_odd_7'"}
		}
		return 200, a.result("started")
	}, `for league "even_odd_7"`, false, 12},
	"by a function without parameters": {func(a asked) (int, any) {
		switch {
		case a.method != "start_league":
			return 200, a.refusal(-32601, "Method not found")
		case len(a.params) > 0:
			return 500, reply{"detail": "start_league() got an unexpected keyword argument 'protocol'"}
		}
		return 200, a.result("started")
	}, "contracts+numeric-ids without parameters: ", false, 4},
	"by a tool of its own": {func(a asked) (int, any) {
		switch {
		case a.method == "tools/list":
			return 200, a.result(reply{"tools": []any{reply{"name": "begin_league_now", "inputSchema": reply{
				"type": "object", "properties": reply{"league_id": reply{"type": "string"}}, "required": []string{"league_id"},
			}}}})
		case a.method != "tools/call":
			return 200, a.refusal(-32601, "Method not found: "+a.method)
		case a.text("name") != "begin_league_now" || strings.Contains(fmt.Sprint(a.params["arguments"]), "sender"):
			return 200, a.result(reply{"isError": true, "content": []any{reply{"type": "text", "text": "Unknown tool"}}})
		}
		return 200, a.result(reply{"content": []any{reply{"type": "text", "text": `{"ok":true}`}}})
	}, "begin_league_now as launcher", false, 12},
	"by a function with one parameter, behind error pages": {func(a asked) (int, any) {
		switch {
		case a.method != "tools/call" || a.text("name") != "start_league":
			return 500, "<html>Internal Server Error</html>"
		case len(a.arguments()) == 0:
			return 500, reply{"detail": "start_league() missing 1 required positional argument: 'league'"}
		}
		for name := range a.arguments() {
			if name != "league" {
				return 500, reply{"detail": fmt.Sprintf("start_league() got an unexpected keyword argument '%s'", name)}
			}
		}
		return 200, a.result(reply{"content": []any{reply{"type": "text", "text": `{"status":"running"}`}}})
	}, "tool+numeric-ids with league only: ", false, 12},
	"by a path, in plain words": {func(a asked) (int, any) {
		if a.path == "/start" {
			return 200, "League started with 4 players"
		}
		return 404, reply{"detail": "Not Found"}
	}, "the manager accepted POST /start", false, 12},
	"by a path, refusing a token for all else": {func(a asked) (int, any) {
		if a.path == "/league/start" && len(a.params) == 0 {
			return 200, reply{"started": true}
		}
		return 401, a.refusal(-32001, "AUTH_TOKEN_INVALID")
	}, "the manager accepted POST /league/start", false, 24},
	"by an acknowledgement": {func(a asked) (int, any) {
		return 200, a.result(reply{"status": "received"})
	}, "it does not say that the league has started", false, 1},
	"by nobody, since it waits": {func(a asked) (int, any) {
		return 200, a.result(reply{"started": false, "message": "Need at least 4 players"})
	}, `the league waits for more agents and was not started; the manager says: "Need at least 4 players"`, true, 1},
	"by nobody, since it runs": {func(a asked) (int, any) {
		return 400, reply{"detail": "League is already running"}
	}, `the league has started already; the manager says: "League is already running"`, true, 1},
	"by nobody, in words of its own": {func(a asked) (int, any) {
		return 200, a.result(reply{"status": "ignored", "message": "no handler for this"})
	}, `"no handler for this"`, true, 120},
	"by nobody": {func(asked) (int, any) {
		return 200, reply{"status": "error", "message": "Closed for the summer holidays"}
	}, "Closed for the summer holidays", true, 120},
	"by nobody, whoever asks": {func(a asked) (int, any) {
		return 200, a.refusal(-32602, "Sender not registered")
	}, `"Sender not registered": POST /mcp`, true, 240},
}

// TestStartForeignLeagues: start finds the way in which a manager is started, or
// says what it tried and how each was answered. No manager gets the same twice.
func TestStartForeignLeagues(t *testing.T) {
	t.Parallel()
	for name, c := range startable {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			seen := map[string]int{}
			url := speaking(t, c.answer, func(request string) {
				mu.Lock()
				defer mu.Unlock()
				seen[request]++
			})
			args := []string{"start", "--manager", url, "--timeout", "1m"}
			if name == "round by round" {
				args = append(args, "--announce-round", "2")
			}
			code, stdout, stderr := inside(t.Context(), in(t.TempDir()), args...)
			if (code != exitOK) != c.fails || !strings.Contains(stdout+stderr, c.says) {
				t.Errorf("exit code %d, and it says %q, want %q", code, stdout+stderr, c.says)
			}
			total := 0
			for request, n := range seen {
				if total += n; n > 1 {
					t.Errorf("%d times: %s", n, request)
				}
			}
			if total > c.most {
				t.Errorf("%d requests, want at most %d", total, c.most)
			}
		})
	}
}

// elsewhere are servers that no agent of league.v2 can speak to: what each answers
// to a request, and what our commands say of it.
var elsewhere = map[string]struct {
	answer func(a asked) (int, any)
	says   string
}{
	"a REST server that describes itself": {func(a asked) (int, any) {
		switch a.path {
		case "/openapi.json":
			return 200, reply{"openapi": "3.1.0", "paths": reply{"/games": reply{"post": reply{}}, "/games/moves": reply{"post": reply{}}, "/health": reply{"get": reply{}}}}
		case "/games":
			return 422, reply{"detail": []any{reply{"loc": []any{"body", "board"}, "msg": "Field required", "type": "missing"}}}
		}
		return 404, reply{"detail": "Not Found"}
	}, "it looks like a server with a protocol of its own: POST /games, POST /games/moves"},
	"a REST server that does not": {func(asked) (int, any) {
		return 404, reply{"error": "no such resource"}
	}, "takes no message of league.v2 at any usual path; check the URL"},
	"a web site": {func(asked) (int, any) {
		return 200, "<!doctype html><title>Welcome</title>"
	}, "it does not answer with JSON; it looks like another kind of server than a league manager"},
	"a server of tools for something else": {func(a asked) (int, any) {
		if a.method == "tools/list" {
			return 200, a.result(reply{"tools": []any{reply{"name": "get_weather"}, reply{"name": "play_chess"}}})
		}
		return 200, a.refusal(-32601, "Method not found")
	}, "it looks like an MCP server without a tool for that; its tools are get_weather, play_chess"},
	"a server of another game": {func(a asked) (int, any) {
		return 200, a.refusal(-32602, "unsupported protocol: this is ttt.v1, for tic-tac-toe")
	}, "it looks like a server of another game or protocol version"},
}

// TestServersThatAreNoManager: what cannot be spoken to is named as what it is, by
// every command, after a bounded number of requests.
func TestServersThatAreNoManager(t *testing.T) {
	t.Parallel()
	for name, c := range elsewhere {
		for _, line := range [][]string{
			{"player", "--strategy", "random", "--isolate=false", "--listen", "127.0.0.1:0"}, {"referee", "--listen", "127.0.0.1:0"}, {"start"}, {"query", "standings"},
		} {
			t.Run(strings.ReplaceAll(name+" for "+line[0], " ", "-"), func(t *testing.T) {
				t.Parallel()
				var requests atomic.Int64
				url := speaking(t, c.answer, func(string) { requests.Add(1) })
				code, _, stderr := inside(t.Context(), in(t.TempDir()), append(line, "--manager", url, "--timeout", "1m")...)
				if code != exitFailure || !strings.Contains(stderr, c.says) {
					t.Errorf("exit code %d, and it says %q, want %q", code, stderr, c.says)
				}
				if n := requests.Load(); n > 120 {
					t.Errorf("%d requests", n)
				}
			})
		}
	}
}

// foreignLeague is a manager and a referee of another program, by hand: it seats
// one player and then does what a test says.
type foreignLeague struct {
	t    *testing.T
	url  string
	read func(body map[string]any) map[string]any // where the referee reads answers

	mu       sync.Mutex
	endpoint string // of the player
}

// newForeignLeague starts one that gives an id for the one proposed, and shows others as taken.
func newForeignLeague(t *testing.T, give func(proposed string) string, taken ...string) *foreignLeague {
	f := &foreignLeague{t: t, read: func(body map[string]any) map[string]any {
		result, _ := body["result"].(map[string]any)
		return result
	}}
	f.url = speaking(t, func(a asked) (int, any) {
		switch a.text("message_type") {
		case "LEAGUE_REGISTER_REQUEST":
			meta, _ := a.params["player_meta"].(map[string]any)
			f.mu.Lock()
			f.endpoint, _ = meta["contact_endpoint"].(string)
			f.mu.Unlock()
			_, proposed, _ := strings.Cut(a.text("sender"), ":")
			return 200, a.result(reply{"message_type": "LEAGUE_REGISTER_RESPONSE", "status": "ACCEPTED", "player_id": give(proposed), "auth_token": "t", "league_id": "cup"})
		case "LEAGUE_QUERY":
			var players []any
			for _, id := range taken {
				players = append(players, reply{"player_id": id, "contact_endpoint": "http://elsewhere:9000/mcp"})
			}
			return 200, a.result(reply{"message_type": "LEAGUE_QUERY_RESPONSE", "success": true, "data": reply{"players": players}})
		}
		return 200, a.refusal(-32601, "Method not found")
	}, func(string) {})
	return f
}

// send posts a message to the player, and returns the answer as the program
// reads it.
func (f *foreignLeague) send(method, kind, sender string, fields map[string]any) map[string]any {
	f.t.Helper()
	message := map[string]any{
		"protocol": "league.v2", "message_type": kind, "sender": sender, "timestamp": "2026-01-01T12:00:00Z",
		"conversation_id": "c", "league_id": "cup",
	}
	for name, value := range fields {
		message[name] = value
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": message})
	if err != nil {
		f.t.Fatal(err)
	}
	f.mu.Lock()
	endpoint := f.endpoint
	f.mu.Unlock()
	_, text, err := fetch(f.t.Context(), http.MethodPost, endpoint, string(body), "Content-Type", "application/json")
	if err != nil {
		f.t.Fatal(err)
	}
	var answer map[string]any
	_ = json.Unmarshal([]byte(text), &answer) // what is no object is not read
	return f.read(answer)
}

// announce announces a match of the player.
func (f *foreignLeague) announce(round int, match, a, b string) {
	f.send("notify_round", "ROUND_ANNOUNCEMENT", "league_manager", map[string]any{
		"round_id": round, "matches": []any{map[string]any{"match_id": match, "game_type": "even_odd", "player_A_id": a, "player_B_id": b, "referee_endpoint": "http://127.0.0.1:1/mcp"}},
	})
}

// match invites the player, calls for its choice as player called, and reports
// the result; it returns what the player chose, empty if the answer was not read.
func (f *foreignLeague) match(round int, match, called, opponent string) string {
	about := func(fields map[string]any) map[string]any {
		fields["round_id"], fields["match_id"], fields["game_type"] = round, match, "even_odd"
		return fields
	}
	f.send("game_invitation", "GAME_INVITATION", "referee:REF01", about(map[string]any{"opponent_id": opponent, "role_in_match": "PLAYER_A"}))
	answer := f.send("choose_parity", "CHOOSE_PARITY_CALL", "referee:REF01", about(map[string]any{"player_id": called, "deadline": "2026-01-01T12:00:00Z"}))
	choice, _ := answer["parity_choice"].(string)
	result := map[string]any{"status": "WIN", "winner_player_id": called, "drawn_number": 2, "choices": map[string]any{called: choice, opponent: "odd"}}
	if choice == "" {
		result = map[string]any{"status": "TECHNICAL_LOSS", "winner_player_id": opponent, "technical_loss_player_ids": []string{called}, "choices": map[string]any{opponent: "odd"}}
	}
	f.send("game_over", "GAME_OVER", "referee:REF01", about(map[string]any{"game_result": result}))
	return choice
}

func (f *foreignLeague) complete() {
	f.send("notify_league_completed", "LEAGUE_COMPLETED", "league_manager", map[string]any{"final_standings": []any{}})
}

// TestPlayerProposesAFreeID: an id that the manager shows as taken is not
// proposed, and the player says whether it can be called where the course expects
// the one that it is given.
func TestPlayerProposesAFreeID(t *testing.T) {
	t.Parallel()
	var taken []string
	for n := 1; n <= 90; n++ {
		taken = append(taken, fmt.Sprintf("P%02d", n))
	}
	f := newForeignLeague(t, func(proposed string) string { return proposed }, taken...)
	p := start(t, t.TempDir(), "player", "--strategy", "always-even", "--manager", f.url)
	if e := p.event("registered"); e["player"] != "P91" {
		t.Errorf("registered as %v", e["player"])
	}
	for _, e := range p.seen {
		switch e["event"] {
		case "listening_too", "port_taken":
			if e["url"] != "http://127.0.0.1:8191/mcp" {
				t.Errorf("%v", e)
			}
			return
		}
	}
	t.Errorf("nothing is said of port 8191: %v", p.seen)
}

// TestPlayerSaysWhyItLost: matches to which nobody invites the player, and answers
// that nobody reads, are reported when they are noticed and again at the end, and
// a league without a played match is no success.
func TestPlayerSaysWhyItLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		play func(f *foreignLeague)
		want []string
		code int
	}{
		"nobody invites it": {
			play: func(f *foreignLeague) { f.announce(1, "R1M1", "P07", "P02") },
			want: []string{"R1M1    nobody has invited P07 to this match; the league is over; ", "0 matches", "what went wrong:\n  R1M1    nobody has invited P07"},
			code: exitAllLost,
		},
		"nobody reads its answers": {
			play: func(f *foreignLeague) {
				f.read = func(map[string]any) map[string]any { return nil }
				f.announce(1, "R1M1", "P07", "P02")
				f.match(1, "R1M1", "P07", "P02")
			},
			want: []string{"counts a technical loss, although it was given a choice", "--dialect", "what went wrong:"},
			code: exitAllLost,
		},
		"it is called by another id": {
			play: func(f *foreignLeague) { f.announce(1, "R1M1", "P07", "P02"); f.match(1, "R1M1", "P04", "P02") },
			want: []string{`CHOOSE_PARITY_CALL came for "P04", but this player is P07; answered all the same; ask the manager for that id with --id P04`},
		},
		"it meets itself": {
			play: func(f *foreignLeague) { f.announce(1, "R1M1", "P07", "P07"); f.match(1, "R1M1", "P07", "P02") },
			want: []string{"two players are P07: the match is announced between P07 and P07; end this player, and start it again with another --id"},
		},
		"its standings show matches": {
			play: func(f *foreignLeague) {
				f.send("update_standings", "LEAGUE_STANDINGS_UPDATE", "league_manager", map[string]any{
					"round_id": 1, "standings": []any{map[string]any{"rank": 1, "player_id": "P07", "display_name": "x", "played": 2, "wins": 0, "draws": 0, "losses": 2, "points": 0}},
				})
			},
			want: []string{"the standings count 2 matches of P07, but nobody has invited it to any"},
			code: exitAllLost,
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			f := newForeignLeague(t, func(string) string { return "P07" })
			p := launch(t, t.TempDir(), "player", "--strategy", "always-even", "--manager", f.url, "--once")
			until(t, "its registration", func() bool {
				f.mu.Lock()
				defer f.mu.Unlock()
				return f.endpoint != ""
			})
			c.play(f)
			f.complete()
			if code := p.code(); code != c.code {
				t.Errorf("it ended with %d, want %d", code, c.code)
			}
			out := p.out.String() + p.err.String()
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		})
	}
}
