package leaguetools_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/leaguetools"
	"github.com/strategylab/strategylab/host/mcptools"
	"github.com/strategylab/strategylab/host/protocol"
)

// requests returns every type that some agent takes.
func requests() []protocol.Type {
	var all []protocol.Type
	for _, t := range protocol.Types() {
		if about, _ := protocol.Describe(t); about.Method != "" && about.Answer != "" {
			all = append(all, t)
		}
	}
	return all
}

// answering returns an agent that takes everything and answers with a body.
func answering(mode protocol.Mode, role protocol.Role, body string, saw func(*jsonrpc.Request)) leaguetools.Agent {
	return leaguetools.Agent{Role: role, Mode: mode, Takes: requests(), Serve: func(_ context.Context, req *jsonrpc.Request) (int, []byte) {
		saw(req)
		return 200, []byte(body)
	}}
}

func ignore(*jsonrpc.Request) {}

// TestEveryMessageIsATool: under its method's name, with schemas that stand
// alone and words that say what it is for.
func TestEveryMessageIsATool(t *testing.T) {
	t.Parallel()
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		tools := leaguetools.Tools(answering(mode, protocol.RoleManager, "", ignore))
		if len(tools) != len(requests()) {
			t.Fatalf("%d tools for %d messages", len(tools), len(requests()))
		}
		srv, err := mcptools.New(mcptools.Config{Name: "all", Tools: tools})
		if err != nil {
			t.Fatal(err)
		}
		srv.Close()
		for i, typ := range requests() {
			about, _ := protocol.Describe(typ)
			tool := tools[i]
			if tool.Name != about.Method || !tool.ChecksInput || tool.Title == "" {
				t.Errorf("%s: %+v", typ, tool)
			}
			if strings.HasPrefix(tool.Description, " ") || !strings.Contains(tool.Description, string(typ)) || !strings.Contains(tool.Description, string(about.Answer)) {
				t.Errorf("%s: %s", typ, tool.Description)
			}
			for _, s := range []json.RawMessage{tool.Input, tool.Output} {
				if strings.Contains(string(s), "$ref") || strings.Contains(string(s), "$id") || !json.Valid(s) {
					t.Errorf("%s: the schema does not stand alone: %s", typ, s)
				}
			}
			var input struct{ Required []string }
			if err := json.Unmarshal(tool.Input, &input); err != nil || (mode == protocol.Strict) != (len(input.Required) >= 5) {
				t.Errorf("%s in %s mode demands %q", typ, mode, input.Required)
			}
		}
	}
}

// TestTheMessageIsTheArguments: the agent sees the message, and whose it is, and
// nothing of the way it came.
func TestTheMessageIsTheArguments(t *testing.T) {
	t.Parallel()
	var got *jsonrpc.Request
	tools := leaguetools.Tools(answering(protocol.Strict, protocol.RoleManager, `{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"message_type":"REFEREE_REGISTER_RESPONSE","status":"ACCEPTED","referee_id":"REF01"}}}`,
		func(r *jsonrpc.Request) { got = r }))
	header := http.Header{"Mcp-Session-Id": {"secret"}, "Accept": {"text/event-stream"}, "Authorization": {"Bearer x"}}
	out, err := tools[0].Call(t.Context(), &mcptools.Call{
		Tool: tools[0].Name, Input: json.RawMessage(`{"n":12345678901234567890}`),
		From: &jsonrpc.Request{Transport: jsonrpc.TransportHTTP, Route: "/mcp", RemoteAddr: "10.0.0.1:2", Host: "here", Header: header},
	})
	if err != nil || !strings.Contains(string(out), `"status":"ACCEPTED"`) {
		t.Errorf("%s, %v", out, err)
	}
	if want := `"method":"tools/call","params":{"name":"register_referee","arguments":{"n":12345678901234567890}}}`; !strings.HasSuffix(string(got.Raw), want) {
		t.Errorf("the agent saw %s, want %s", got.Raw, want)
	}
	if got.RemoteAddr != "10.0.0.1:2" || got.Host != "here" || got.Route != "/mcp" || got.Transport != jsonrpc.TransportHTTP || got.Header.Get("Authorization") != "Bearer x" {
		t.Errorf("%+v", got)
	}
	if got.Header.Get("Mcp-Session-Id") != "" || got.Header.Get("Accept") != "application/json" || header.Get("Mcp-Session-Id") == "" {
		t.Errorf("the header %v became %v", header, got.Header)
	}
}

// TestAnswersAreFound wherever an agent may put them.
func TestAnswersAreFound(t *testing.T) {
	t.Parallel()
	const refusal = `{"error_code":"E012","error_name":"AUTH_TOKEN_INVALID","detail":"Register again."}`
	const choice = `"protocol":"league.v2","message_type":"CHOOSE_PARITY_RESPONSE","timestamp":"2026-01-01T12:00:00Z","match_id":"R1M1","player_id":"P01","parity_choice":"odd"`
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{` + choice + `}}}`:                          `{` + choice + `}`,
		`{"jsonrpc":"2.0","method":"choose_parity_response","id":"x","params":{` + choice + `}}`:                         `"parity_choice":"odd"`,
		`{"jsonrpc":"2.0","id":1,"result":{` + choice + `}}`:                                                             `"parity_choice":"odd"`,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":` + refusal + `,"isError":true}}`:            `E012 AUTH_TOKEN_INVALID: Register again.` + refusal,
		`{"jsonrpc":"2.0","id":1,"error":{"code":12,"message":"x","data":` + refusal + `}}`:                              `E012 AUTH_TOKEN_INVALID: Register again.` + refusal,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid Request","data":{"detail":"id is missing"}}}`: `id is missing`,
		`nonsense`: `cannot be read`,
		``:         `protocol:`,
	} {
		tools := leaguetools.Tools(leaguetools.Agent{
			Role: protocol.RolePlayer, Mode: protocol.Tolerant, Takes: []protocol.Type{protocol.TypeChooseParityCall},
			Serve: func(context.Context, *jsonrpc.Request) (int, []byte) { return 200, []byte(body) },
		})
		out, err := tools[0].Call(t.Context(), &mcptools.Call{Tool: "parity_choose", Input: json.RawMessage(`{}`), From: new(jsonrpc.Request)})
		got := string(out)
		if err != nil {
			got = err.Error()
			if r, ok := errors.AsType[*mcptools.Refusal](err); ok {
				got += string(r.Structured)
			}
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
		}
	}
}
