package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
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

// speaking is a server of another program that answers as a test says: with a document,
// or with a text that is no JSON. It ends with the test. seen gets each request.
func speaking(t *testing.T, answer func(asked) (int, any), seen func(request string)) (url string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var doc struct {
			ID     any
			Method string
			Params map[string]any
		}
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
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
	}))
	t.Cleanup(server.Close)
	return server.URL + "/mcp"
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
