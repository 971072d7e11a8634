package wire_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/wire"
)

// valid are requests that are served, with strict envelopes and without. In
// the last two the league refuses in the caller's own form.
var valid = []struct{ name, body, want, record string }{
	{"a tool", toolsCall(`{"tool":"count","input":{"n":1.0,"at":"2026-01-01T00:00:00Z"},"_meta":{}}`), `"result":{"tool":"count","output":{"n":1}}`, `"status":"ok","http_status":200`},
	{"a tool of the league", toolsCall(query(queryRest + rightToken)), `"result":{"tool":"league_query","output":{"protocol"`, `"conversation":"conv-7"},`},
	{"by another name", toolsCall(strings.Replace(query(queryRest+rightToken), `"tool":"league_query"`, `"tool":"LEAGUE_QUERY"`, 1)), `"result":{"tool":"LEAGUE_QUERY","output":{`, `"status":"ok"`},
	{"a member more", `{"extra":1,"jsonrpc":"2.0","id":` + uuid + `,"method":"league_query","params":{"protocol":"league.v2","message_type":"LEAGUE_QUERY","sender":"player:P01","conversation_id":"conv-8"` + queryRest + rightToken + `}}`,
		`"result":{"protocol":"league.v2"`, `"conversation":"conv-8"},"transport":"TRANSPORT","route":"ROUTE","method":"league_query","status":"ok","http_status":200,"duration_ms":0,"error":null,`},
	{"MCP's form", toolsCall(`{"name":"league_query","arguments":{"protocol":"league.v2","message_type":"LEAGUE_QUERY","sender":"player:P01","conversation_id":"conv-9"` + queryRest + rightToken + `}}`), `"structuredContent":{`, `"status":"ok"`},
	{"MCP's form, wrong token", toolsCall(`{"name":"league_query","arguments":{"message_type":"LEAGUE_QUERY","auth_token":"tok-wrong"}}`), `"isError":true`, `"status":"error","http_status":200,"duration_ms":0,"error":{"code":6001,"message":"Invalid auth token","data":{"error_code":"E012"}}`},
	{"wrong token", `{"jsonrpc":"2.0","id":` + uuid + `,"method":"league_query","params":{"message_type":"LEAGUE_QUERY","auth_token":"tok-wrong"}}`, `"code":6001`, `"data":{"error_code":"E012"}`},
}

func TestValidInputsAreTheSameOverBoth(t *testing.T) {
	t.Parallel()
	for _, strict := range []bool{true, false} {
		b := serveBoth(t, wire.Config{Strict: strict})
		for _, in := range valid {
			_, overHTTP := b.http(t, in.body)
			overStdio := b.stdio(t, in.body)
			if overHTTP != overStdio || !strings.Contains(overHTTP, in.want) {
				t.Errorf("%s:\n HTTP %s\nSTDIO %s\nwant %s", in.name, overHTTP, overStdio, in.want)
			}
		}
		b.closed()
		log := readLog(t, b.log)
		lines := strings.Split(strings.TrimSpace(string(log)), "\n")
		if len(lines) != 2*len(valid) {
			t.Fatalf("%d records", len(lines))
		}
		for i, line := range lines {
			want := strings.NewReplacer("TRANSPORT", []string{"http", "stdio"}[i%2], "ROUTE", []string{"/mcp", "stdio"}[i%2]).Replace(valid[i/2].record)
			if !strings.Contains(line, want) {
				t.Errorf("%s: the record is\n%s, want\n%s", valid[i/2].name, line, want)
			}
			if strings.Contains(line, "tok-") {
				t.Errorf("%s: the record has a token: %s", valid[i/2].name, line)
			}
		}
		if strict {
			golden(t, "testdata/valid.jsonl", log)
		}
	}
}

// TestLeftToMCP: a request with headers of the MCP standard is under its rules:
// the chain refuses nothing, and gives nothing its own form.
func TestLeftToMCP(t *testing.T) {
	t.Parallel()
	p := chain(t, wire.Config{Agent: agent(), Strict: true})
	for header, left := range map[[2]string]bool{
		{"Mcp-Session-Id", "x"}:                              true,
		{"MCP-PROTOCOL-VERSION", "2025-06-18"}:               true,
		{"Accept", "text/event-stream"}:                      true,
		{"Accept", "application/json,Text/Event-Stream;q=1"}: true,
		{"Accept", "application/json"}:                       false,
		{"Accept", "*/*"}:                                    false,
		{"X-Mcp", "1"}:                                       false,
	} {
		for body, want := range map[string]int{
			`{"jsonrpc":"2.0","id":7,"method":"do_something"}`:                                       -32601,
			`{"jsonrpc":"1.0","id":7}`:                                                               -32600,
			`{"jsonrpc":"2.0","id":7,"method":"start_league","params":{"message_type":"GAME_OVER"}}`: -32600,
		} {
			req := &jsonrpc.Request{Raw: []byte(body), Transport: jsonrpc.TransportHTTP, Header: http.Header{}}
			req.Header.Set(header[0], header[1])
			_, raw := jsonrpc.Serve(t.Context(), req, p, jsonrpc.Config{Refuse: p.Refuse, Lenient: true})
			var got answer
			if err := json.Unmarshal(raw, &got); err != nil || left && got.Error.Code != want || (got.Error.Data.Canonical == "") != left {
				t.Errorf("%v %s: %s, %v", header, body, raw, err)
			}
		}
	}
}

// TestDetail: what an agent says for people of a message that breaks its schema reaches them.
func TestDetail(t *testing.T) {
	t.Parallel()
	b := serveBoth(t, wire.Config{})
	const want = `"violations":[{"path":"/params/input/query_type","rule":"required"}],"detail":"the input of the tool breaks its schema at /params/input/query_type"}`
	if _, got := b.http(t, toolsCall(query(rightToken+`,"timestamp":"2026-01-01T00:00:00Z","league_id":"cup"`))); !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}
