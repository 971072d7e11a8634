package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/host/wire/eventlog"
)

// What each kind of agent offers.
var (
	managerTools = []string{"league_query", "register_player", "register_referee", "report_match_progress", "report_match_result", "set_pace", "set_player_status", "start_league"}
	refereeTools = []string{"choose_parity_response", "game_join_ack", "notify_league_completed", "notify_round", "notify_round_completed", "update_standings"}
	playerTools  = []string{
		"handle_game_invitation", "notify_game_error", "notify_league_completed", "notify_match_result", "notify_round",
		"notify_round_completed", "parity_choose", "update_standings",
	}
)

// agentFlagsFor are the flags of an agent whose manager never answers.
func agentFlagsFor(kind string) []string {
	args := []string{kind, "--manager", "http://127.0.0.1:1/mcp", "--listen", "127.0.0.1:0"}
	if kind == "player" {
		args = append(args, "--strategy", "always-even")
	}
	return args
}

// TestAgentsServeClientsOverStdio has the SDK's client list and call the tools
// of an agent that it has started, in the older generation of the protocol.
func TestAgentsServeClientsOverStdio(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string][]string{"player": playerTools, "referee": refereeTools} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := clientOf(t, &mcp.CommandTransport{Command: commandLine(t.Context(), t.TempDir(), append(agentFlagsFor(kind), "--stdio")...)}, "2025-06-18")
			offers(t, c, want)
			if kind == "player" {
				plays(t, c)
			}
		})
	}
}

// TestAgentsServeClientsOverHTTP does the same in the newer generation at the endpoint of a player, which records
// the messages.
func TestAgentsServeClientsOverHTTP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := start(t, dir, append(agentFlagsFor("player"), "--record", "rec.jsonl", "--data-dir", ".")...)
	c := clientOf(t, &mcp.StreamableClientTransport{Endpoint: r.event("listening")["url"].(string)}, "2026-07-28")
	offers(t, c, playerTools)
	plays(t, c)
	c.Close()
	r.interrupt(exitOK)
	recorded(t, dir)
}

// recorded checks that messages which came as calls of tools stand in the recording and in the log of validation
// like any others.
func recorded(t *testing.T, dir string) {
	t.Helper()
	all := ""
	for _, pattern := range []string{"rec.jsonl", filepath.FromSlash(eventlog.Folder) + "/*.jsonl"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		if len(files) != 1 {
			t.Fatalf("%s: %q", pattern, files)
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
	if !strings.Contains(all, "CHOOSE_PARITY_CALL") || !strings.Contains(all, "CHOOSE_PARITY_RESPONSE") || strings.Count(all, `"method":"tools/call","status":"ok"`) < 2 ||
		strings.Contains(all, "match-key-of-the-referee") {
		t.Errorf("recording and log lack a call, or show a token:\n%s", all)
	}
}

// clientOf connects the SDK's client in a version of the protocol.
func clientOf(t *testing.T, transport mcp.Transport, version string) *mcp.ClientSession {
	t.Helper()
	if s, ok := transport.(*mcp.StreamableClientTransport); ok {
		own := &http.Transport{}
		s.HTTPClient = &http.Client{Transport: own}
		t.Cleanup(own.CloseIdleConnections)
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil).Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// offers holds the tools that a client sees to their names, each with what a
// model needs.
func offers(t *testing.T, c *mcp.ClientSession, want []string) {
	t.Helper()
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tool := range list.Tools {
		got = append(got, tool.Name)
		if tool.Title == "" || len(tool.Description) < 200 || tool.InputSchema == nil || tool.OutputSchema == nil {
			t.Errorf("%s is not described: %+v", tool.Name, tool)
		}
		if ro := tool.Annotations.ReadOnlyHint; ro != (tool.Name == "league_query") {
			t.Errorf("%s: read-only is %v", tool.Name, ro)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("tools %q, want %q", got, want)
	}
}

// plays has a player play a match by its tools, and refuse a call without a message.
func plays(t *testing.T, c *mcp.ClientSession) {
	t.Helper()
	for _, call := range []struct{ tool, message, field, want string }{
		{"handle_game_invitation", "GAME_INVITATION", "accept", "true"}, {"parity_choose", "CHOOSE_PARITY_CALL", "parity_choice", "even"},
		{"handle_game_invitation", "", "message_type", "GAME_ERROR"},
	} {
		message := map[string]any{}
		if call.message != "" {
			message = map[string]any{
				"protocol": "league.v2", "message_type": call.message, "sender": "referee:REF01", "timestamp": "2026-01-01T12:00:00Z",
				"conversation_id": "c", "auth_token": "match-key-of-the-referee", "match_id": "R1M1", "game_type": "even_odd",
			}
		}
		res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: call.tool, Arguments: message})
		if err != nil {
			t.Fatalf("%s: %v", call.tool, err)
		}
		doc, _ := res.StructuredContent.(map[string]any)
		text, _ := res.Content[len(res.Content)-1].(*mcp.TextContent)
		var same map[string]any
		if fmt.Sprint(doc[call.field]) != call.want || res.IsError != (call.message == "") || json.Unmarshal([]byte(text.Text), &same) != nil || fmt.Sprint(same) != fmt.Sprint(doc) {
			t.Errorf("%s: %+v %v, with the text %s", call.tool, res, doc, text.Text)
		}
	}
}
