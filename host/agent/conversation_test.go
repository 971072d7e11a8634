package agent_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// foreign is a manager that shares no code with ours: it takes registrations in
// one manner, and refuses all others in another.
type foreign struct {
	path    string   // where it takes messages
	bare    bool     // without JSON-RPC
	method  string   // of JSON-RPC; "tools/call" for a tool
	tool    string   // its name
	flat    []string // the arguments that it requires; nil for player_meta
	wrapped string   // the member that holds the message
	ids     string   // number, text or either
	lists   bool     // it answers tools/list
	session bool     // it wants MCP's greeting first, and answers by events
	openAPI string   // its description
	refusal func(status *int, method, name string) string
	kind    string // the message_type that it takes; empty for any
	final   string // its answer to a registration that it has understood

	mu    sync.Mutex
	heard []string // path and body of each request
	at    []time.Time
	taken []map[string]any // what registered
}

func (f *foreign) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard, f.at = append(f.heard, r.URL.String()+" "+string(body)), append(f.at, time.Now())
	status, answer := f.answer(r, body)
	if f.session && status == http.StatusOK && r.URL.Path == f.path {
		w.Header().Set("Mcp-Session-Id", "s1")
		w.Header().Set("Content-Type", "text/event-stream")
		answer = "event: message\ndata: " + answer + "\n\n"
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
}

func (f *foreign) answer(r *http.Request, body []byte) (int, string) {
	if r.URL.Path == "/openapi.json" && f.openAPI != "" {
		return 200, f.openAPI
	}
	if r.URL.Path != f.path {
		return 404, `{"detail":"Not Found"}`
	}
	var doc map[string]any
	if r.Method != http.MethodPost || json.Unmarshal(body, &doc) != nil {
		return 405, `{"detail":"Method Not Allowed"}`
	}
	if f.session && !strings.Contains(r.Header.Get("Accept"), "event-stream") {
		return 406, `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Not Acceptable: Client must accept text/event-stream"}}`
	}
	id, _ := json.Marshal(doc["id"])
	result := func(v any) (int, string) {
		raw, _ := json.Marshal(v)
		return 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, raw)
	}
	method, _ := doc["method"].(string)
	_, number := doc["id"].(float64)
	switch {
	case f.session && method == "initialize":
		return result(map[string]any{"protocolVersion": "2025-03-26"})
	case f.session && r.Header.Get("Mcp-Session-Id") != "s1":
		return 400, `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request: Missing session ID"}}`
	case doc["id"] != nil && (f.ids == "number" && !number || f.ids == "text" && number):
		return 422, `{"detail":[{"type":"int_parsing","loc":["body","id"],"msg":"Input should be another kind"}]}`
	case f.lists && method == "tools/list":
		return result(map[string]any{"tools": []any{map[string]any{"name": "get_standings"}, map[string]any{"name": f.tool, "inputSchema": f.schema()}}})
	}
	message, name := f.open(doc, method)
	if message == nil || !f.complete(message) {
		status := 200
		text := f.refusal(&status, method, name)
		return status, strings.ReplaceAll(text, "ID", string(id))
	}
	f.taken = append(f.taken, message)
	if f.final != "" {
		return 400, f.final
	}
	welcome := map[string]any{"status": "ACCEPTED", "player_id": "Team 7", "league_id": "cup", "auth_token": "t"}
	switch {
	case f.bare:
		raw, _ := json.Marshal(welcome)
		return 200, string(raw)
	case f.tool != "":
		raw, _ := json.Marshal(welcome)
		return result(map[string]any{"content": []any{map[string]any{"type": "text", "text": string(raw)}}})
	}
	return result(welcome)
}

func (f *foreign) schema() map[string]any {
	properties := map[string]any{}
	for _, name := range f.flat {
		properties[name] = map[string]any{"type": "string"}
		if strings.HasPrefix(name, "game") {
			properties[name] = map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
		}
	}
	if f.flat == nil {
		properties["player_meta"] = map[string]any{"type": "object"}
	}
	return map[string]any{"type": "object", "properties": properties, "required": slices.Collect(maps.Keys(properties))}
}

// open returns the message in a request, nil where it is wrapped otherwise.
func (f *foreign) open(doc map[string]any, method string) (message map[string]any, name string) {
	params, _ := doc["params"].(map[string]any)
	name, _ = params["name"].(string)
	switch {
	case f.bare:
		if method != "" {
			return nil, name
		}
		return doc, name
	case method != f.method:
		return nil, name
	case f.tool != "":
		if name != f.tool {
			return nil, name
		}
		message, _ = params["arguments"].(map[string]any)
	case f.wrapped != "":
		message, _ = params[f.wrapped].(map[string]any)
	default:
		message = params
	}
	return message, name
}

// complete reports whether a message holds what the manager requires.
func (f *foreign) complete(message map[string]any) bool {
	if f.kind != "" && message["message_type"] != f.kind {
		return false
	}
	for _, name := range f.flat {
		if message[name] == nil || message[name] == "" {
			return false
		}
	}
	meta, _ := message["player_meta"].(map[string]any)
	return f.flat != nil || meta["display_name"] == "Ada"
}

// refusals are how managers say that they have not understood.
var refusals = map[string]func(status *int, method, name string) string{
	"unknown method": func(*int, string, string) string {
		return `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"Method not found"}}`
	},
	"another code": func(_ *int, method, name string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"Unknown tool: %s"}}`, cmp.Or(name, method))
	},
	"bare, 200": func(*int, string, string) string { return `{"error":"Unknown message type"}` },
	"500":       func(status *int, _, _ string) string { *status = 500; return `Internal Server Error` },
	"422": func(status *int, _, _ string) string {
		*status = 422
		return `{"detail":[{"type":"missing","loc":["body","player_meta"],"msg":"Field required"}]}`
	},
	"400": func(status *int, _, _ string) string { *status = 400; return "" },
	"202": func(status *int, _, _ string) string { *status = 202; return "{}" },
	"501": func(status *int, _, _ string) string { *status = 501; return "<html>Unsupported</html>" },
	"result ERROR": func(*int, string, string) string {
		return `{"jsonrpc":"2.0","id":ID,"result":{"message_type":"ERROR","error_code":"UNKNOWN_MESSAGE_TYPE"}}`
	},
	"result unknown": func(*int, string, string) string {
		return `{"jsonrpc":"2.0","id":ID,"result":{"status":"unknown_message_type"}}`
	},
	"a tool error": func(*int, string, string) string {
		return `{"jsonrpc":"2.0","id":ID,"result":{"isError":true,"content":[{"type":"text","text":"Unknown tool"}]}}`
	},
}

// registerAt registers with a manager over sockets, of which nothing is known.
func registerAt(manager http.Handler) (dialect.Acceptance, error) {
	srv := httptest.NewServer(manager)
	defer srv.Close()
	c := &wire.Caller{Client: jsonrpc.NewClient(jsonrpc.OverHTTP(), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)}
	defer c.Client.Close()
	return register(context.Background(), c, wire.GuessPeer(srv.URL+"/mcp", dialect.Contracts), nil)
}

// register registers with the manager, of which nothing is known, and checks that
// no request was sent twice and that their number is bounded.
func (f *foreign) register(t rapid.TB) (dialect.Acceptance, error) {
	answer, err := registerAt(f)
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.heard) > wire.MaxRequests {
		t.Errorf("%d requests", len(f.heard))
	}
	last := make(map[string]int)
	for i, said := range f.heard {
		if before, twice := last[said]; twice && f.at[i].Sub(f.at[before]) < 100*time.Millisecond {
			t.Errorf("sent twice within %v: %s", f.at[i].Sub(f.at[before]), said)
		}
		last[said] = i
	}
	if len(f.taken) > 1 {
		t.Errorf("registered %d times", len(f.taken))
	}
	return answer, err
}

// TestTheFormIsFound registers with managers of many manners.
func TestTheFormIsFound(t *testing.T) {
	t.Parallel()
	unknown := refusals["unknown method"]
	api := `{"openapi":"3.1.0","paths":{"/v1/teams/join":{"post":{"operationId":"join_league","requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Team"}}}}}},` +
		`"/v1/rpc":{"post":{"operationId":"rpc"}}},"components":{"schemas":{"Team":{"type":"object","required":["team_name","endpoint_url"],` +
		`"properties":{"team_name":{"type":"string"},"endpoint_url":{"type":"string"},"note":{"type":"string"}}}}}}`
	for name, tt := range map[string]struct {
		f    *foreign
		most int // requests
	}{
		"by the book":            {&foreign{path: "/mcp", method: "register_player", ids: "number", refusal: unknown}, 1},
		"texts only":             {&foreign{path: "/mcp", method: "register_player", ids: "text", refusal: unknown}, 2},
		"upper case":             {&foreign{path: "/MCP", method: "register_player", refusal: unknown}, 4},
		"at the root":            {&foreign{path: "/", method: "LEAGUE_REGISTER_REQUEST", refusal: unknown}, 10},
		"as OpenAPI says":        {&foreign{path: "/v1/teams/join", bare: true, flat: []string{"team_name", "endpoint_url"}, refusal: unknown, openAPI: api}, 3},
		"RPC as OpenAPI says":    {&foreign{path: "/v1/rpc", method: "register_player", refusal: unknown, openAPI: api}, 6},
		"bare":                   {&foreign{path: "/mcp", bare: true, refusal: refusals["bare, 200"]}, 15},
		"a sister of its type":   {&foreign{path: "/mcp", bare: true, kind: "PLAYER_REGISTER_REQUEST", flat: []string{"display_name", "contact_endpoint"}, refusal: refusals["bare, 200"]}, 40},
		"its method as the type": {&foreign{path: "/mcp", bare: true, kind: "REGISTER_PLAYER", refusal: refusals["bare, 200"]}, 40},
		"a method in data": {&foreign{path: "/mcp", method: "league/register", refusal: func(*int, string, string) string {
			return `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"Method not found","data":{"methods":["league/register","match/report"]}}}`
		}}, 4},
		"a type of its list": {&foreign{path: "/mcp", bare: true, kind: "PLAYER_JOIN", refusal: func(*int, string, string) string {
			return `{"error":"unknown type, expected PLAYER_JOIN or REFEREE_JOIN"}`
		}}, 25},
		"a flat tool":            {&foreign{path: "/mcp", method: "tools/call", tool: "register_player", lists: true, flat: []string{"display_name", "endpoint", "version", "game_types"}, refusal: unknown}, 3},
		"a tool of its own":      {&foreign{path: "/mcp", method: "tools/call", tool: "join_tournament", lists: true, flat: []string{"name", "url"}, refusal: refusals["another code"]}, 3},
		"arguments by words":     {&foreign{path: "/mcp", method: "tools/call", tool: "join_league", lists: true, flat: []string{"agent_name", "agent_url"}, refusal: refusals["202"]}, 4},
		"a session":              {&foreign{path: "/mcp", method: "tools/call", tool: "register_player", lists: true, session: true, refusal: unknown}, 6},
		"tools it does not list": {&foreign{path: "/mcp", method: "tools/call", tool: "league_register_request", refusal: refusals["another code"]}, 20},
		"one parameter":          {&foreign{path: "/mcp", method: "handle_message", wrapped: "message", refusal: refusals["result ERROR"]}, 8},
		"flat, by the book":      {&foreign{path: "/mcp", method: "register_player", flat: []string{"display_name", "endpoint"}, refusal: refusals["422"]}, 15},
		"method of its list": {&foreign{path: "/mcp", method: "league.join_player", refusal: func(*int, string, string) string {
			return `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"Unknown method. Available: league.join_player, league.join_referee"}}`
		}}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, err := tt.f.register(t)
			if err != nil {
				t.Fatalf("%v\n%s", err, strings.Join(tt.f.heard, "\n"))
			}
			if answer.ID != "Team 7" || answer.League != "cup" {
				t.Errorf("accepted as %+v", answer)
			}
			if len(tt.f.heard) > tt.most {
				t.Errorf("%d requests, want at most %d:\n%s", len(tt.f.heard), tt.most, strings.Join(tt.f.heard, "\n"))
			}
		})
	}
}

// TestAnyFormIsFound draws managers: the one form that works is found.
func TestAnyFormIsFound(t *testing.T) {
	t.Parallel()
	names := slices.Sorted(maps.Keys(refusals))
	rapid.Check(t, func(t *rapid.T) {
		f := &foreign{
			path:    rapid.SampledFrom([]string{"/mcp", "/MCP", "/", "/rpc", "/api/mcp", "/jsonrpc"}).Draw(t, "path"),
			ids:     rapid.SampledFrom([]string{"number", "text", "either"}).Draw(t, "ids"),
			refusal: refusals[rapid.SampledFrom(names).Draw(t, "refusal")],
		}
		switch rapid.SampledFrom([]string{"book", "type", "lower", "wrapped", "bare", "listed tool", "tool"}).Draw(t, "wrapping") {
		case "book":
			f.method = "register_player"
		case "type":
			f.method = "LEAGUE_REGISTER_REQUEST"
		case "lower":
			f.method = "league_register_request"
		case "wrapped":
			f.method, f.wrapped = "handle_message", "message"
		case "bare":
			f.bare = true
		case "listed tool":
			f.method, f.lists = "tools/call", true
			f.tool = rapid.SampledFrom([]string{"register_player", "registerPlayer", "join_league", "enroll_team"}).Draw(t, "tool")
			f.flat = rapid.SampledFrom([][]string{nil, {"name", "endpoint"}, {"display_name", "contact_endpoint", "games"}, {"player_name", "url", "version"}, {"bot_name", "bot_callback_url"}}).Draw(t, "arguments")
		case "tool":
			f.method, f.tool = "tools/call", "register_player"
		}
		if _, err := f.register(t); err != nil {
			t.Fatalf("%v\n%s", err, strings.Join(f.heard, "\n"))
		}
	})
}

// TestARefusalIsShownInItsOwnWords: a league that refuses is not asked in another way.
func TestARefusalIsShownInItsOwnWords(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"Registration is closed", "League is full (4/4)", "Display name already taken", "Protocol version league.v2 not supported"} {
		f := &foreign{path: "/mcp", method: "register_player", refusal: refusals["400"], final: fmt.Sprintf(`{"detail":%q}`, said)}
		_, err := f.register(t)
		if err == nil || !strings.Contains(err.Error(), said) || !strings.Contains(err.Error(), "POST /mcp") || len(f.heard) != 1 {
			t.Errorf("%s: %v after %d requests", said, err, len(f.heard))
		}
	}
}

// TestARejectionWithoutAReasonShowsTheAnswer: the agent says what it was answered,
// and in which way it had asked.
func TestARejectionWithoutAReasonShowsTheAnswer(t *testing.T) {
	t.Parallel()
	for _, said := range []string{`{"status":"REJECTED","hint":"come back on Monday"}`, `{"success":false,"hint":"come back on Monday"}`, `{"accepted":false,"hint":"come back on Monday"}`} {
		_, err := registerAt(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var doc struct {
				ID json.RawMessage `json:"id"`
			}
			if json.NewDecoder(r.Body).Decode(&doc) == nil {
				_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, cmp.Or(string(doc.ID), "null"), said)
			}
		}))
		if err == nil || !strings.Contains(err.Error(), "come back on Monday") || !strings.Contains(err.Error(), "POST /mcp") {
			t.Errorf("%s: %v", said, err)
		}
	}
}

// TestWhatCannotBeSpokenIsNamed: when no way works, the error says what the peer
// looks like and what it answered.
func TestWhatCannotBeSpokenIsNamed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		f    http.Handler
		want []string
	}{
		"a web server": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>Welcome</html>") }), []string{"does not answer with JSON", "<html>"}},
		"REST": {&foreign{path: "/none", refusal: refusals["400"], openAPI: `{"paths":{"/games":{"post":{}},"/moves":{"post":{}}}}`},
			[]string{"protocol of its own: POST /games, POST /moves", "HTTP 404"}},
		"tools for something else": {&foreign{path: "/mcp", method: "tools/call", tool: "roll_dice", lists: true, refusal: refusals["unknown method"]}, []string{"its tools are get_standings, roll_dice"}},
	} {
		_, err := registerAt(tt.f)
		unspoken, ok := errors.AsType[*wire.NotUnderstoodError](err)
		if !ok || unspoken.Requests > wire.MaxRequests {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, part := range tt.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: lacks %q: %v", name, part, err)
			}
		}
	}
}
