package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/mcptools"
)

// TestALeagueByToolsAlone registers agents with a strict manager, starts the
// league and asks about it, by nothing but calls of tools. An answer that did
// not keep the schema that the client was shown would not be sent.
func TestALeagueByToolsAlone(t *testing.T) {
	t.Parallel()
	sockets := host.NewSockets()
	defer sockets.Close()
	ctx, cancel := context.WithCancel(t.Context())
	started, ended := make(chan string, 1), make(chan error, 1)
	l := &host.League{
		Network: sockets, MCP: new(mcptools.Config),
		Manager: manager.Config{Probe: manager.ProbeOff}, // no admin token: from this machine only
		Started: func(url string, _ bool) { started <- url },
	}
	go func() {
		_, err := l.Play(ctx)
		ended <- err
	}()
	defer func() { cancel(); <-ended }()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: <-started, HTTPClient: &http.Client{Transport: transport}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	heard := make(chan string, 100)
	ada, err := jsonrpc.Listen(t.Context(), "127.0.0.1:0", jsonrpc.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	defer serving.Wait()
	defer cancel()
	serving.Go(func() {
		_ = ada.Serve(ctx, jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
			heard <- req.Method
			return jsonrpc.Response{Error: &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "not now"}}
		}))
	})
	say := func(tool, kind, sender, rest string) (map[string]any, bool) {
		t.Helper()
		message := fmt.Sprintf(`{"protocol":"league.v2","message_type":%q,"sender":%q,"timestamp":"2026-01-01T12:00:00Z","conversation_id":"c"%s}`, kind, sender, rest)
		res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(message)})
		if err != nil {
			t.Fatalf("%s: %v", message, err)
		}
		return jsonOf(res.StructuredContent), res.IsError
	}
	meta := func(kind, name, rest string) string {
		return fmt.Sprintf(`,"%s_meta":{"display_name":%q,"version":"1.0.0","game_types":["even_odd"],"contact_endpoint":"%s?%s"%s}`, kind, name, ada.URL(), name, rest)
	}
	ref, refused := say("register_referee", "REFEREE_REGISTER_REQUEST", "referee:alpha", meta("referee", "alpha", `,"max_concurrent_matches":2`))
	if refused || ref["referee_id"] != "REF01" {
		t.Fatalf("register_referee: %v", ref)
	}
	var tokens [2]string
	for i, name := range []string{"ada", "bob"} {
		p, refused := say("register_player", "LEAGUE_REGISTER_REQUEST", "player:"+name, meta("player", name, ""))
		if refused {
			t.Fatalf("register_player: %v", p)
		}
		tokens[i], _ = p["auth_token"].(string)
	}
	if p, refused := say("register_player", "LEAGUE_REGISTER_REQUEST", "player:eve", meta("player", "ada", "")); !refused || p["error_code"] != "E022" {
		t.Errorf("a name that is taken: %v", p)
	}
	if s, refused := say("start_league", "START_LEAGUE", "launcher", `,"league_id":"league_2025_even_odd"`); refused || s["total_rounds"] != 1.0 {
		t.Errorf("start_league: %v", s)
	}
	if method := <-heard; method != "tools/call" {
		t.Errorf("the manager speaks to those who registered by a tool by %s", method)
	}
	for query, want := range map[string]string{
		"GET_STANDINGS": "standings", "GET_SCHEDULE": "total_rounds", "GET_PLAYERS": "players", "GET_STATUS": "status", "GET_NEXT_MATCH": "next_match",
	} {
		rest := fmt.Sprintf(`,"league_id":"league_2025_even_odd","query_type":%q,"auth_token":%q`, query, tokens[0])
		if q, refused := say("league_query", "LEAGUE_QUERY", "player:P01", rest); refused || jsonOf(q["data"])[want] == nil {
			t.Errorf("%s: %v", query, q)
		}
		if q, refused := say("league_query", "LEAGUE_QUERY", "player:P02", rest); !refused || q["error_code"] != "E012" || strings.Contains(fmt.Sprint(q), tokens[0]) {
			t.Errorf("%s with the token of another: %v", query, q)
		}
	}
	report := fmt.Sprintf(`,"auth_token":%q,"league_id":"league_2025_even_odd","round_id":1,"match_id":"R1M1","game_type":"even_odd","result":{"winner":null,`+
		`"score":{"P01":1,"P02":1},"details":{"drawn_number":8,"number_parity":"even","choices":{"P01":"even","P02":"even"},"status":"DRAW"}}`, ref["auth_token"])
	if r, refused := say("report_match_result", "MATCH_RESULT_REPORT", "referee:REF01", report); refused || r["recorded"] != true {
		t.Errorf("report_match_result: %v", r)
	}
	if r, refused := say("report_match_result", "MATCH_RESULT_REPORT", "referee:REF01", report); !refused || r["error_code"] != "E041" || r["same_result"] != true {
		t.Errorf("the same report again: %v", r)
	}
}
