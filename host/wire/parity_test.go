package wire_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

var update = flag.Bool("update", false, "rewrite the golden log")

// answer is what matters of an error.
type answer struct {
	Error struct {
		Code int
		Data struct {
			Canonical  string
			ErrorCode  string `json:"error_code"`
			Violations []protocol.Violation
		}
	}
}

func (a answer) String() string {
	code := a.Error.Data.Canonical
	if code == "" {
		code = a.Error.Data.ErrorCode
	}
	s := fmt.Sprintf("%d %s", a.Error.Code, code)
	for _, v := range a.Error.Data.Violations {
		s += " " + v.Path + ":" + v.Rule
	}
	return strings.TrimSpace(s)
}

// TestInvalidInputsAreTheSameOverBoth drives the table of invalid inputs
// through a socket and through pipes: the answers are the same to the byte, and
// so are the records of the log but for what tells the transports apart.
func TestInvalidInputsAreTheSameOverBoth(t *testing.T) {
	t.Parallel()
	for name, table := range map[string]struct {
		cfg    wire.Config
		inputs []invalid
	}{
		"strict":   {wire.Config{Strict: true}, strictInputs},
		"league":   {wire.Config{}, leagueInputs},
		"tolerant": {wire.Config{Agent: agent(protocol.Tolerant)}, tolerantInputs},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := serveBoth(t, table.cfg)
			for _, in := range table.inputs {
				status, overHTTP := b.http(t, in.body)
				overStdio := b.stdio(t, in.body)
				if overHTTP != overStdio {
					t.Errorf("%s:\n HTTP %s\nSTDIO %s", in.name, overHTTP, overStdio)
				}
				var got answer
				if err := json.Unmarshal([]byte(overHTTP), &got); err != nil {
					t.Fatalf("%s: %s: %v", in.name, overHTTP, err)
				}
				if status != in.status || got.String() != in.want {
					t.Errorf("%s: %d %s\nwant %d %s\n%s", in.name, status, got, in.status, in.want, overHTTP)
				}
				if strings.Contains(overHTTP, "tok-") {
					t.Errorf("%s: the answer has a value of the input: %s", in.name, overHTTP)
				}
			}
			b.closed()
			log := readLog(t, b.log)
			checkParity(t, table.inputs, log)
			golden(t, filepath.Join("testdata", name+".jsonl"), log)
		})
	}
}

// checkParity holds the records of a log, HTTP and STDIO in turns, to each other.
func checkParity(t *testing.T, inputs []invalid, log []byte) {
	t.Helper()
	lines := bytes.Split(bytes.TrimSuffix(log, []byte("\n")), []byte("\n"))
	if len(lines) != 2*len(inputs) {
		t.Fatalf("%d records of %d requests", len(lines), 2*len(inputs))
	}
	if bytes.Contains(log, []byte("tok-")) {
		t.Error("the log has a token or another value of an input")
	}
	for i, in := range inputs {
		var pair [2]map[string]any
		for k := range pair {
			if err := json.Unmarshal(lines[2*i+k], &pair[k]); err != nil || pair[k]["http_status"] != float64(in.status) || pair[k]["error"] == nil {
				t.Errorf("%s: the record is %s, %v", in.name, lines[2*i+k], err)
			}
			for _, name := range []string{"timestamp", "ids", "transport", "route", "duration_ms"} { // which the golden log has
				delete(pair[k], name)
			}
		}
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s: the records differ (-HTTP +STDIO):\n%s", in.name, diff)
		}
	}
}

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
	p := chain(t, wire.Config{Agent: agent(protocol.Strict), Strict: true})
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

// invalid is an input that must be refused.
type invalid struct {
	name, body string
	status     int
	// want is the code, the canonical or league code, and the violations.
	want string
}

const uuid = `"7d9c1f0e-2f0b-4a57-9a55-0d4cf1f4f3a1"`

// toolsCall is a strict tool call with other params.
func toolsCall(params string) string {
	return `{"jsonrpc":"2.0","id":` + uuid + `,"method":"tools/call","params":` + params + `}`
}

// query is the input of league_query with the last fields as given.
func query(more string) string {
	return `{"tool":"league_query","input":{"protocol":"league.v2","message_type":"LEAGUE_QUERY","sender":"player:P01","conversation_id":"conv-7"` + more + `}}`
}

const (
	queryRest  = `,"timestamp":"2026-01-01T00:00:00Z","league_id":"cup","query_type":"GET_STATUS"`
	rightToken = `,"auth_token":"tok-right"`
)

// everywhere are inputs that are refused alike with strict envelopes and without.
var everywhere = []invalid{
	{"bad JSON", `{"jsonrpc":"2.0",`, 400, "-32700"},
	{"no JSON", `tok-secret`, 400, "-32700"},
	{"trailing data", toolsCall(`{"tool":"count","input":{"n":1}}`) + ` {}`, 400, "-32700"},
	{"duplicate key", `{"jsonrpc":"2.0","id":` + uuid + `,"id":` + uuid + `,"method":"x","params":{}}`, 400, "-32700"},
	{"duplicate key inside", toolsCall(`{"tool":"count","input":{"n":1,"n":2}}`), 400, "-32700"},
	{"invalid UTF-8", toolsCall("{\"tool\":\"count\",\"input\":{\"n\":\"\xff\"}}"), 400, "-32700"},
	{"too deep", toolsCall(`{"tool":"count","input":{"n":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}}`), 400, "-32700"},
	{"batch", `[` + toolsCall(`{}`) + `]`, 400, "-32600 INVALID_ENVELOPE :type"},
	{"a string", `"tok-secret"`, 400, "-32600 INVALID_ENVELOPE :type"},
	{"oversize", toolsCall(`{"tool":"count","input":{"n":1,"x":"` + strings.Repeat("x", 5000) + `"}}`), 413, "-32600 INVALID_ENVELOPE :maxLength"},
	{"another version", `{"jsonrpc":"1.0","id":` + uuid + `,"method":"tools/call","params":{}}`, 400, "-32600 INVALID_ENVELOPE /jsonrpc:const"},
	{"version is a number", `{"jsonrpc":2.0,"id":` + uuid + `,"method":"tools/call","params":{}}`, 400, "-32600 INVALID_ENVELOPE /jsonrpc:const"},
	{"no method", `{"jsonrpc":"2.0","id":` + uuid + `,"params":{}}`, 400, "-32600 INVALID_ENVELOPE /method:required"},
	{"method is null", `{"jsonrpc":"2.0","id":` + uuid + `,"method":null,"params":{}}`, 400, "-32600 INVALID_ENVELOPE /method:type"},
	{"no id", `{"jsonrpc":"2.0","method":"tools/call","params":{"tool":"league_query","input":{}}}`, 400, "-32600 INVALID_ENVELOPE /id:required"},
	{"id is null", `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"tool":"league_query","input":{}}}`, 400, "-32600 INVALID_ENVELOPE /id:type"},
	{"id is an object", `{"jsonrpc":"2.0","id":{"a":"tok-secret"},"method":"tools/call","params":{}}`, 400, "-32600 INVALID_ENVELOPE /id:type"},
	{"params is a string", `{"jsonrpc":"2.0","id":` + uuid + `,"method":"tools/call","params":"tok-secret"}`, 400, "-32600 INVALID_ENVELOPE /params:type"},
	{"params is an array", `{"jsonrpc":"2.0","id":` + uuid + `,"method":"tools/call","params":[1]}`, 400, "-32600 INVALID_ENVELOPE /params:type"},

	{"unknown tool", toolsCall(`{"tool":"tok-secret","input":{}}`), 404, "-32001 TOOL_NOT_FOUND /params/tool:known"},
	{"both forms", toolsCall(`{"tool":"count","input":{"n":1},"name":"count","arguments":{"n":1}}`), 422, "-32602 INVALID_TOOL_INPUT /params/name:exclusive /params/tool:exclusive"},
	{"no tool", toolsCall(`{"input":{"n":1}}`), 422, "-32602 INVALID_TOOL_INPUT /params/tool:required"},
	{"tool is a number", toolsCall(`{"tool":1,"input":{"n":1}}`), 422, "-32602 INVALID_TOOL_INPUT /params/tool:type"},
	{"input is an array", toolsCall(`{"tool":"count","input":[]}`), 422, "-32602 INVALID_TOOL_INPUT /params/input:type"},
	{"input is null", toolsCall(`{"tool":"count","input":null}`), 422, "-32602 INVALID_TOOL_INPUT /params/input:type"},
	{"missing field", toolsCall(`{"tool":"count","input":{}}`), 422, "-32602 INVALID_TOOL_INPUT /params/input/n:required"},
	{"wrong type", toolsCall(`{"tool":"count","input":{"n":"tok-secret"}}`), 422, "-32602 INVALID_TOOL_INPUT /params/input/n:type"},
	{"no integer", toolsCall(`{"tool":"count","input":{"n":1.5}}`), 422, "-32602 INVALID_TOOL_INPUT /params/input/n:type"},
	{"many at once", toolsCall(`{"tool":"count","input":{"n":null,"z":1,"a":"tok-secret","at":"2026-01-01T00:00:00+02:00"}}`), 422,
		"-32602 INVALID_TOOL_INPUT /params/input/a:additionalProperties /params/input/at:pattern /params/input/n:type /params/input/z:additionalProperties"},
	{"no such day", toolsCall(`{"tool":"count","input":{"n":1,"at":"2026-02-30T00:00:00Z"}}`), 422, "-32602 INVALID_TOOL_INPUT /params/input/at:format"},

	{"output breaks its schema", toolsCall(`{"tool":"liar","input":{"n":1}}`), 500, "-32603 INTERNAL_ERROR /result/output/n:type"},
	{"no answer", toolsCall(`{"tool":"mute","input":{"n":1}}`), 500, "-32603 INTERNAL_ERROR"},
	{"an impossible status", toolsCall(`{"tool":"status","input":{"n":1}}`), 500, "-32603 INTERNAL_ERROR"},
	{"the handler panics", toolsCall(`{"tool":"panics","input":{"n":1}}`), 500, "-32603 INTERNAL_ERROR"},
	{"a schema of ours is unusable", toolsCall(`{"tool":"unusable","input":{"n":1}}`), 500, "-32603 INTERNAL_ERROR"},
	{"the agent fails", toolsCall(`{"tool":"report_match_result","input":{"protocol":"league.v2","message_type":"MATCH_RESULT_REPORT","sender":"referee:REF01","timestamp":"2026-01-01T00:00:00Z","conversation_id":"c","auth_token":"tok-right"}}`), 500, "-32603 INTERNAL_ERROR"},

	{"league: no token", toolsCall(query(queryRest)), 200, "6001 E011"},
	{"league: wrong token comes before wrong fields", toolsCall(query(`,"auth_token":"tok-wrong","league_id":7`)), 200, "6001 E012"},
	{"league: missing fields", toolsCall(query(rightToken + `,"timestamp":"2026-01-01T00:00:00Z"`)), 422, "-32602 INVALID_TOOL_INPUT /params/input/league_id:required /params/input/query_type:required"},
	{"league: bad timestamp", toolsCall(query(rightToken + `,"timestamp":"2026-01-01T00:00:00+02:00","league_id":"cup","query_type":"GET_STATUS"`)), 422, "-32602 INVALID_TOOL_INPUT /params/input/timestamp:pattern"},
	{"league: unknown question", toolsCall(query(rightToken + `,"timestamp":"2026-01-01T00:00:00Z","league_id":"cup","query_type":"tok-secret"`)), 422, "-32602 INVALID_TOOL_INPUT /params/input/query_type:enum"},
	{"league: the tool against the message", toolsCall(strings.Replace(query(queryRest+rightToken), `"tool":"league_query"`, `"tool":"start_league"`, 1)), 400, "-32600 INVALID_ENVELOPE /params/tool:consistent"},
}

// strictInputs are refused with strict envelopes and deterministic ids.
var strictInputs = append(append([]invalid{}, everywhere...), []invalid{
	{"no params", `{"jsonrpc":"2.0","id":` + uuid + `,"method":"tools/call"}`, 400, "-32600 INVALID_ENVELOPE /params:required"},
	{"params is null", `{"jsonrpc":"2.0","id":` + uuid + `,"method":"tools/call","params":null}`, 400, "-32600 INVALID_ENVELOPE /params:type"},
	{"empty method", `{"jsonrpc":"2.0","id":` + uuid + `,"method":"","params":{}}`, 400, "-32600 INVALID_ENVELOPE /method:minLength"},
	{"a tool of another role", toolsCall(`{"tool":"parity_choose","input":{}}`), 404, "-32001 TOOL_NOT_FOUND /params/tool:known"},
	{"number as id", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}`, 400, "-32600 INVALID_ENVELOPE /id:type"},
	{"id is no UUID", `{"jsonrpc":"2.0","id":"req-7","method":"tools/call","params":{}}`, 400, "-32600 INVALID_ENVELOPE /id:format"},
	{"no input", toolsCall(`{"tool":"count"}`), 422, "-32602 INVALID_TOOL_INPUT /params/input:required"},
	{"bare", `{"protocol":"league.v2","message_type":"LEAGUE_QUERY"}`, 400, "-32600 INVALID_ENVELOPE /id:required /jsonrpc:required /method:required /params:required"},
	{"nothing", `{}`, 400, "-32600 INVALID_ENVELOPE /id:required /jsonrpc:required /method:required /params:required"},
	{"the message makes up for no tool", toolsCall(strings.Replace(query(queryRest+rightToken), `"tool":"league_query"`, `"tool":"ask"`, 1)), 404, "-32001 TOOL_NOT_FOUND /params/tool:known"},
}...)

// leagueInputs are refused with the league's own envelopes.
var leagueInputs = append(append([]invalid{}, everywhere...), []invalid{
	{"no input", toolsCall(`{"tool":"count"}`), 422, "-32602 INVALID_TOOL_INPUT /params/input/n:required"},
	{"a tool of another role, by nobody", toolsCall(`{"tool":"parity_choose","input":{}}`), 200, "4001 E011"},
	{"a tool of another role", toolsCall(`{"tool":"parity_choose","input":{"auth_token":"tok-right"}}`), 404, "-32001 TOOL_NOT_FOUND /params/tool:known"},
	{"the method against the message", `{"jsonrpc":"2.0","id":1,"method":"start_league","params":{"message_type":"LEAGUE_QUERY"}}`, 400, "-32600 INVALID_ENVELOPE /method:consistent"},
	{"an envelope under another method", `{"jsonrpc":"2.0","id":1,"method":"league_query","params":{"envelope":{}}}`, 400, "-32600 INVALID_ENVELOPE /method:consistent"},
	{"the league's own refusal", `{"jsonrpc":"2.0","id":1,"method":"league_query","params":{"message_type":"LEAGUE_QUERY","auth_token":"tok-right"}}`, 200, "-32602 E003"},
	{"neither method nor type", `{"jsonrpc":"2.0","id":1,"method":"do_something","params":{}}`, 200, "-32601 E047"},
}...)

// tolerantInputs are refused by the agent's own rules, in the canonical form.
var tolerantInputs = []invalid{
	{"wrong token comes before wrong fields", toolsCall(query(`,"auth_token":"tok-wrong","league_id":7`)), 200, "6001 E012"},
	{"missing and wrong", toolsCall(query(rightToken + `,"timestamp":"tok-secret","league_id":"cup"`)), 422, "-32602 INVALID_TOOL_INPUT /params/input/query_type:required /params/input/timestamp:time"},
	{"input is an array", toolsCall(`{"tool":"league_query","input":[]}`), 422, "-32602 INVALID_TOOL_INPUT /params/input:type"},
	{"neither tool nor message", toolsCall(`{"tool":"ask","input":{"message_type":"tok-secret"}}`), 404, "-32001 TOOL_NOT_FOUND /params/tool:known"},
}
