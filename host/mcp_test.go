package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/mcptools"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

// watched is a network that knows the URLs of its endpoints.
type watched struct {
	host.Network
	mu   sync.Mutex
	urls map[string]string
}

func (w *watched) Listen(ctx context.Context, name string, cfg jsonrpc.Config) (host.Server, error) {
	srv, err := w.Network.Listen(ctx, name, cfg)
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.urls[name] = srv.URL()
	}
	return srv, err
}

// openLeague returns a league of four players and a referee that is reproducible.
func openLeague(t testing.TB, network host.Network, legs int, offer *mcptools.Config) *host.League {
	l := &host.League{
		Network: network, MCP: offer,
		Manager: manager.Config{Players: 4, Legs: legs, AdminToken: "the-admin-token", Probe: manager.ProbeOff, AllowHosts: []string{"*"}},
		Referees: []referee.Config{
			{Draw: func(m referee.Match) (int, error) {
				return game.FairDraw().Pick(game.LiveWord(7, m.League, m.ID)), nil
			}},
		},
	}
	for i, f := range named(t, "random", "markov-1", "role", "frequency") {
		l.Seats = append(l.Seats, player.Config{
			Config:  agent.Config{Mode: protocol.Tolerant},
			Factory: f,
			Key:     game.StrategyKey(7, 0, i),
			Coin:    game.CoinKey(7, 0, i),
		})
	}
	return l
}

// TestClientsBesideALeague plays a league while clients of the Model Context
// Protocol use the same endpoints: they are served, and the league is the same
// as without them.
func TestClientsBesideALeague(t *testing.T) {
	t.Parallel()
	play := func(offer *mcptools.Config, beside func(urls map[string]string)) []league.Match {
		sockets := host.NewSockets()
		defer sockets.Close()
		network := &watched{Network: sockets, urls: map[string]string{}}
		l := openLeague(t, network, 15, offer)
		var reported atomic.Int64
		l.Manager.Events = func(e manager.Event) {
			if e.Kind == manager.MatchReported {
				reported.Add(1)
			}
		}
		var before, after int64
		l.Started = func(string, bool) {
			network.mu.Lock()
			defer network.mu.Unlock()
			before = reported.Load()
			beside(maps.Clone(network.urls)) // the league goes on meanwhile
			after = reported.Load()
		}
		played, err := l.Play(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if offer != nil && before == after {
			t.Errorf("no match was played beside the clients: %d of %d before", before, len(played.Matches))
		}
		return played.Matches
	}
	alone := play(nil, func(map[string]string) {})
	shared := play(new(mcptools.Config), func(urls map[string]string) {
		var each sync.WaitGroup
		for name, want := range map[string]string{
			"manager": "register_referee register_player start_league set_player_status set_pace report_match_progress report_match_result league_query",
			"REF01":   "notify_round update_standings notify_round_completed notify_league_completed game_join_ack choose_parity_response",
			"P01":     "notify_round update_standings notify_round_completed notify_league_completed handle_game_invitation parity_choose notify_match_result notify_game_error",
		} {
			for _, version := range []string{"2025-06-18", ""} {
				each.Go(func() { useTools(t, name, urls[name], version, strings.Fields(want)) })
			}
		}
		each.Wait()
	})
	if diff := cmp.Diff(alone, shared); diff != "" {
		t.Errorf("the league is another one with clients beside it (-alone +shared):\n%s", diff)
	}
}

// useTools lists and calls the tools of an agent some times. It runs beside
// the test, so it reports with Error only.
func useTools(t *testing.T, name, url, version string, want []string) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil)
	c, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: transport}, DisableStandaloneSSE: true},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	defer c.Close()
	for range 4 {
		list, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		var got []string
		for _, tool := range list.Tools {
			got = append(got, tool.Name)
		}
		slices.Sort(got)
		if diff := cmp.Diff(slices.Sorted(slices.Values(want)), got); diff != "" {
			t.Errorf("%s offers other tools (-want +got):\n%s", name, diff)
		}
		for _, tool := range got {
			if err := stranger(t, c, name, tool); err != nil {
				t.Errorf("%s: %s: %v", name, tool, err)
			}
		}
	}
	if name != "manager" {
		return
	}
	res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "league_query", Arguments: map[string]any{
		"protocol": "league.v2", "message_type": "LEAGUE_QUERY", "sender": "launcher", "timestamp": "2026-01-01T12:00:00Z",
		"conversation_id": "c", "auth_token": "the-admin-token", "league_id": "league_2025_even_odd", "query_type": "GET_STATUS",
	}})
	if err != nil || res.IsError || jsonOf(res.StructuredContent)["data"].(map[string]any)["league_id"] != "league_2025_even_odd" {
		t.Errorf("league_query with the admin token: %+v, %v", res, err)
	}
}

// stranger calls a tool as somebody who has no token: it is refused as the
// message would be, or, by a tolerant player that cannot tell, acknowledged.
func stranger(t *testing.T, c *mcp.ClientSession, agent, tool string) error {
	res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"sender": "referee:REF99", "match_id": "R9M9"}})
	if err != nil {
		return err
	}
	doc := jsonOf(res.StructuredContent)
	text := res.Content[len(res.Content)-1].(*mcp.TextContent).Text
	switch {
	case doc == nil || !json.Valid([]byte(text)):
		return errors.New("no structured content: " + text)
	case res.IsError && doc["error_code"] == nil:
		return errors.New("a refusal that is none: " + text)
	case !res.IsError && (agent == "manager" || tool == "notify_league_completed"):
		return errors.New("it is not refused: " + text)
	}
	return nil
}

func jsonOf(v any) map[string]any {
	doc, _ := v.(map[string]any)
	return doc
}

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
		// No admin token: from this machine only. A second round is left when the first is reported again.
		Manager: manager.Config{Probe: manager.ProbeOff, Legs: 2},
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
	if s, refused := say("start_league", "START_LEAGUE", "launcher", `,"league_id":"league_2025_even_odd"`); refused || s["total_rounds"] != 2.0 {
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
