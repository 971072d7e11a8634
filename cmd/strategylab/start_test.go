package main

import (
	"bytes"
	"encoding/json"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestStartForms: a league is started in every way that managers want it, and
// no other is tried after a manager has understood.
func TestStartForms(t *testing.T) {
	t.Parallel()
	unknown := `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`
	for _, tt := range []struct {
		name, takes, want string
		args              []string
		fails             bool
	}{
		{name: "by the book", takes: "start_league/full", want: "the league is running"},
		{name: "without parameters", takes: "start_league/empty", want: "contracts+numeric-ids without parameters"},
		{name: "by another path", takes: "/start_league", want: "POST /start_league"},
		{name: "round by round", takes: "announce_round", want: "announce_round", args: []string{"--announce-round", "2"}},
		{name: "not at all", takes: "nothing", fails: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				var body struct {
					Method string
					Params map[string]any
				}
				_ = json.Unmarshal(raw, &body)
				w.Header().Set("Content-Type", "application/json")
				got := body.Method
				if got == "start_league" {
					got += map[bool]string{true: "/empty", false: "/full"}[len(body.Params) == 0]
				}
				if r.URL.Path != "/mcp" {
					got = r.URL.Path
				}
				switch {
				case got != tt.takes && r.URL.Path != "/mcp":
					http.NotFound(w, r)
				case got != tt.takes:
					_, _ = io.WriteString(w, unknown)
				case got == "announce_round" && body.Params["round_id"] != 2.0:
					_, _ = io.WriteString(w, unknown)
				case got == "start_league/full":
					_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"message_type":"LEAGUE_STATUS","status":"running","current_round":1,"total_rounds":3}}`)
				default:
					_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"status":"ok"}}`)
				}
			}))
			defer server.Close()
			var out, errs bytes.Buffer
			p := command.Process{Lab: lab.Lab{Now: time.Now}, ForBatch: func() {}, ForLive: func() {}, Args: append([]string{"strategylab", "start", "--manager", server.URL + "/mcp"}, tt.args...), Stdout: &out, Stderr: &errs}
			code := run(t.Context(), p)
			if (code != 0) != tt.fails || !strings.Contains(out.String(), tt.want) {
				t.Errorf("exit code %d, %q, %q", code, out.String(), errs.String())
			}
		})
	}
}
