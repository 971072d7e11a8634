package host_test

import (
	"context"
	"encoding/json"
	"errors"
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
		Manager: manager.Config{Players: 4, Legs: legs, AdminToken: "the-admin-token"},
		Referees: []referee.Config{
			{Draw: func(m referee.Match) (int, error) {
				return game.FairDraw().Pick(game.LiveWord(7, m.League, m.ID)), nil
			}},
		},
	}
	for i, f := range named(t, "random", "markov-1", "role", "frequency") {
		l.Seats = append(l.Seats, host.Seat{Config: player.Config{
			Config:  agent.Config{Mode: protocol.Tolerant},
			Factory: f,
			Key:     game.StrategyKey(7, 0, i),
			Coin:    game.CoinKey(7, 0, i),
		}})
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
