package main

import (
	"strings"
	"sync/atomic"
	"testing"
)

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
