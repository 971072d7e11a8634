package mcptools_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/mcptools"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire/eventlog"
)

// routes says who answers a body with a header.
var routes = []struct {
	body, header string // "Name: value"
	mcp          bool
}{
	{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, "", true},
	{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, "Mcp-Session-Id: x", true},
	{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"league_query","arguments":{}}}`, "", false},
	{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"league_query","arguments":{}}}`, "Accept: application/json", false},
	{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"league_query","arguments":{}}}`, "Accept: */*", false},
	{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"league_query","arguments":{"message_type":"LEAGUE_QUERY"}}}`, "Accept: application/json, text/event-stream", true},
	{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"league_query","arguments":{}}}`, "Accept: application/json,text/event-stream;q=0.5", true},
	{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{}}}`, "Mcp-Protocol-Version: 2025-06-18", true},
	{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "", true},
	{`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, "Accept: application/json", true},
	{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "", false},
	{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Mcp-Session-Id: x", true},
	{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Mcp-Session-Id: x", true},
	{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "", false},
	{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id: x", true},
	{`{"jsonrpc":"2.0","id":1,"result":{}}`, "Mcp-Session-Id: x", true},
	{`{"jsonrpc":"2.0","id":1,"method":"league_query","params":{}}`, "Mcp-Session-Id: x", false},
	{`{"jsonrpc":"2.0","id":1,"method":"choose_parity","params":{}}`, "Accept: text/event-stream", false},
	{`{"jsonrpc":"2.0","id":1,"method":"LEAGUE_QUERY","params":{}}`, "Accept: text/event-stream", false},
	{`{"jsonrpc":"2.0","id":1,"method":"whatever","params":{"message_type":"GAME_OVER"}}`, "Accept: text/event-stream", false},
	{`{"jsonrpc":"2.0","id":1,"method":"league.handle","params":{"envelope":{"message_type":"GAME_OVER"},"payload":{}}}`, "Accept: text/event-stream", false},
	{`{"jsonrpc":"2.0","id":1,"method":"handle_message","params":{"message":{"message_type":"GAME_OVER"}}}`, "Accept: text/event-stream", false},
	{`{"message_type":"GAME_OVER"}`, "Accept: text/event-stream", false},
	{`{"jsonrpc":"2.0","id":1,"method":"whatever","params":{}}`, "Accept: text/event-stream", true},
	{`nonsense`, "Accept: text/event-stream", true},
	{`nonsense`, "", false},
	{`[]`, "Mcp-Session-Id: x", true},
}

// TestWanted: an endpoint that a league shares with a server sees by the body and the
// header who answers.
func TestWanted(t *testing.T) {
	t.Parallel()
	for _, c := range routes {
		name, value, _ := strings.Cut(c.header, ": ")
		req := &jsonrpc.Request{Raw: []byte(c.body), Header: http.Header{name: {value}}}
		mcp, seen := false, false
		_, _ = jsonrpc.Serve(t.Context(), req, jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
			mcp, seen = mcptools.Wanted(req), true
			return jsonrpc.Response{Result: []byte("{}")}
		}), jsonrpc.Config{Lenient: true})
		if !seen { // it is not a request
			mcp = mcptools.Wanted(req)
		}
		if mcp != c.mcp {
			t.Errorf("%s with %q goes to MCP: %v, want %v", c.body, c.header, mcp, c.mcp)
		}
	}
}

// FuzzWanted: whatever comes, the league's own methods stay the league's, and
// initialize is MCP's.
func FuzzWanted(f *testing.F) {
	for _, c := range routes {
		f.Add(c.body, strings.TrimPrefix(c.header, "Accept: "))
	}
	f.Fuzz(func(t *testing.T, body, accept string) {
		header := http.Header{"Accept": {accept}, "Mcp-Session-Id": {"x"}}
		req := &jsonrpc.Request{Raw: []byte(body), Header: header}
		seen := false
		_, _ = jsonrpc.Serve(t.Context(), req, jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
			seen = true
			_, league := protocol.TypeOfMethod(req.Method)
			if got := mcptools.Wanted(req); league && got || req.Method == "initialize" && !got {
				t.Errorf("%q goes to MCP: %v", req.Method, got)
			}
			return jsonrpc.Response{Result: []byte("{}")}
		}), jsonrpc.Config{Lenient: true})
		if !seen {
			mcptools.Wanted(req) // must not panic where there is nothing to read
		}
		req.Header = http.Header{"Accept": {accept}}
		mcptools.Wanted(req)
	})
}

// TestCallsAreLogged: a call leaves a record of what was decided about it, and
// none of what it held.
func TestCallsAreLogged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, err := eventlog.Open(eventlog.Config{Data: dir, Seed: "test"})
	if err != nil {
		t.Fatal(err)
	}
	cfg := newTable().config()
	cfg.Validation = log
	srv := newServer(t, cfg)
	for _, c := range clients(t, srv, nil) {
		call(t, c, "double", map[string]any{"n": 1})
		call(t, c, "double", map[string]any{"n": "a secret"})
		call(t, c, "fail", nil)
	}
	log.Close()
	files, err := filepath.Glob(filepath.Join(dir, eventlog.Folder, "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for want, times := range map[string]int{
		`"transport":"http","route":"/mcp"`: 6, `"transport":"stdio","route":"stdio"`: 6,
		`"status":"ok"`: 8, `"path":"/params/arguments/n","rule":"type"`: 4, "secret": 0,
	} {
		if got := strings.Count(string(raw), want); got != times {
			t.Errorf("the log has %s %d times, want %d:\n%s", want, got, times, raw)
		}
	}
}
