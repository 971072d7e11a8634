package wire_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/host/wire/eventlog"
	"github.com/strategylab/strategylab/host/wire/schema"
)

// documents are what the fuzzing begins with.
var documents = []string{
	`{"jsonrpc":"2.0","id":"7d9c1f0e-2f0b-4a57-9a55-0d4cf1f4f3a1","method":"tools/call","params":{"tool":"count","input":{"n":1}}}`,
	`{"jsonrpc":"2.0","id":"7D9C1F0E-2F0B-4A57-9A55-0d4cf1f4f3a1","method":"tools/call","params":{"name":"count","arguments":{}}}`,
	`{"jsonrpc":"2.0","id":"\u0037d9c1f0e-2f0b-4a57-9a55-0d4cf1f4f3a1","method":"","params":{}}`,
	`{"jsonrpc":"2.0","id":"7d9c1f0e-2f0b-4a57-9a55-0d4cf1f4f3ag","method":"x","params":{}}`,
	`{"jsonrpc":"2.0","id":"7d9c1f0e02f0b-4a57-9a55-0d4cf1f4f3a1","method":"x","params":{}}`,
	`{"jsonrpc":"2.0","id":7,"method":"x","params":{}}`,
	`{"jsonrpc":"2.0","id":null,"method":"x","params":null}`,
	`{"jsonrpc":"2.0","method":"x","params":[]}`,
	`{"json\u0072pc":"2.\u0030","method":"x"}`,
	`{"jsonrpc":"2.0","id":"","method":"tools/call","params":{"tool":"count","input":{"n":1e999999999}}}`,
	`{"jsonrpc":"2.0","id":"","method":"tools/call","params":{"tool":"unusable","input":{"n":"x"}}}`,
	`{"jsonrpc":"2.0","id":"","method":"tools/call","params":{"tool":"","input":[],"name":1}}`,
	`{"jsonrpc":"1.0"}`, `{}`, `[]`, `[{}]`, `1`, `{"a":1,"a":1}`, `{`, ``, `{"id":"\ud800"}`,
}

// TestEnvelope: what breaks the strict rules of envelopes, and those with a UUID as id; the
// tables of inputs have those of the league.
func TestEnvelope(t *testing.T) {
	t.Parallel()
	done := jsonrpc.HandlerFunc(func(context.Context, *jsonrpc.Request) jsonrpc.Response {
		return jsonrpc.Response{Result: []byte(`{"tool":"count","output":{"n":1}}`)}
	})
	for request, want := range map[string][2]string{
		documents[0]: {}, documents[2]: {"/method:minLength", "/method:minLength"},
		documents[3]: {"", "/id:format"}, documents[4]: {"", "/id:format"},
		documents[5]: {"/id:type", "/id:type"},
		documents[6]: {"/id:type /params:type", "/id:type /params:type"},
		documents[7]: {"/id:required /params:type", "/id:required /params:type"},
		documents[8]: {"/id:required /params:required", "/id:required /params:required"},
		`{"jsonrpc":2.0,"id":"` + strings.Repeat("7", 36) + `","method":7,"params":{},"more":1}`: {
			"/jsonrpc:const /method:type", "/id:format /jsonrpc:const /method:type"},
		`[]`: {":type", ":type"},
	} {
		for i, uuid := range []bool{false, true} {
			_, text := serve(t, chain(t, wire.Config{Tools: done, Strict: true, Deterministic: uuid}), request)
			var got answer
			if err := json.Unmarshal([]byte(text), &got); err != nil {
				t.Fatal(err)
			}
			if refusal := strings.TrimSpace("-32600 INVALID_ENVELOPE " + want[i]); want[i] != "" && got.String() != refusal || want[i] == "" && got.Error.Code != 0 {
				t.Errorf("%s, UUID %v: %s, want %s", request, uuid, got, refusal)
			}
		}
	}
}

// FuzzChain: whatever comes, the answer is JSON, a refusal has the canonical
// form with sorted violations, and the log has one record, which is JSON.
func FuzzChain(f *testing.F) {
	for _, d := range documents {
		f.Add([]byte(d), true)
		f.Add([]byte(d), false)
	}
	registry := tools(f)
	dir := f.TempDir()
	next := jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
		return jsonrpc.Response{Result: []byte(`{"tool":"count","output":{"n":1}}`)}
	})
	f.Fuzz(func(t *testing.T, raw []byte, strict bool) {
		log, err := eventlog.Open(eventlog.Config{Data: dir, Seed: "fuzz"})
		if err != nil {
			t.Fatal(err)
		}
		p := chain(t, wire.Config{Registry: registry, Tools: next, Strict: strict, Log: log, Deterministic: true})
		answer := serveOnce(t, raw, p, p.Refuse)
		log.Close()
		checkRecord(t, log, len(bytes.TrimSpace(raw)) > 0)
		if len(answer) == 0 {
			return
		}
		checkAnswer(t, raw, answer)
	})
}

func checkAnswer(t *testing.T, raw, answer []byte) {
	t.Helper()
	var got struct {
		Error *struct {
			Code int
			Data struct {
				Canonical  string
				Violations []protocol.Violation
			}
		}
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		t.Fatalf("%s is answered by %s: %v", raw, answer, err)
	}
	if got.Error == nil || got.Error.Code == jsonrpc.CodeParse {
		return
	}
	refusal := protocol.Error{Canonical: got.Error.Data.Canonical}
	if refusal.Canonical == "" || refusal.Form().RPC != got.Error.Code {
		t.Fatalf("%s is refused by %s", raw, answer)
	}
	for i, v := range got.Error.Data.Violations {
		if v.Rule == "" || len(v.Path) > 256 {
			t.Fatalf("%s: violation %+v", raw, v)
		}
		if i > 0 && got.Error.Data.Violations[i-1].Path > v.Path {
			t.Fatalf("%s: violations are not sorted: %s", raw, answer)
		}
	}
}

// serveOnce has one document answered over STDIO, which reads it as HTTP does.
// What holds several lines is no document there, and is made one.
func serveOnce(t *testing.T, raw []byte, h jsonrpc.Handler, refuse jsonrpc.RefuseFunc) []byte {
	t.Helper()
	line := bytes.ReplaceAll(raw, []byte("\n"), []byte(" "))
	var out bytes.Buffer
	if err := jsonrpc.ServeStdio(t.Context(), bytes.NewReader(line), &out, h, jsonrpc.Config{Lenient: true, Refuse: refuse}); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(out.Bytes())
}

func checkRecord(t *testing.T, log *eventlog.Log, want bool) {
	t.Helper()
	text := string(readLog(t, log))
	if !want {
		return
	}
	if strings.Count(text, "\n") != 1 || !jsontext.Value(text).IsValid() {
		t.Fatalf("the log holds %q", text)
	}
}

// BenchmarkChain is what the chain adds to a request: of a message of the league, which is judged
// by host/protocol, and of a call of a tool, whose input and output are held to schemas.
func BenchmarkChain(b *testing.B) {
	const id = `"7d9c1f0e-2f0b-4a57-9a55-0d4cf1f4f3a1"`
	query := `{"protocol":"league.v2","message_type":"LEAGUE_QUERY","sender":"player:P01","timestamp":"2026-01-01T00:00:00Z","conversation_id":"c",` +
		`"auth_token":"tok-P01-0123456789abcdef","league_id":"cup","query_type":"GET_NEXT_MATCH","query_params":{"player_id":"P01"}}`
	answer := `{"protocol":"league.v2","message_type":"LEAGUE_QUERY_RESPONSE","timestamp":"2026-01-01T00:00:00Z","query_type":"GET_NEXT_MATCH","success":true,"data":{"next_match":null}}`
	for _, bb := range []struct{ name, method, params, result string }{
		{"message", "league_query", query, answer},
		{"tool", "tools/call", `{"tool":"league_query","input":` + query + `}`, `{"tool":"league_query","output":` + answer + `}`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			messages := schema.LeagueTools(protocol.Strict, protocol.TypeLeagueQuery)
			messages[0].Message = false // the handler below checks no fields
			registry, err := schema.NewRegistry(messages...)
			if err != nil {
				b.Fatal(err)
			}
			p := chain(b, wire.Config{
				Registry: registry, Strict: true,
				Tools: jsonrpc.HandlerFunc(func(context.Context, *jsonrpc.Request) jsonrpc.Response {
					return jsonrpc.Response{Result: []byte(bb.result)}
				}),
			})
			req := &jsonrpc.Request{
				Method: bb.method, ID: []byte(id), Params: []byte(bb.params), Transport: jsonrpc.TransportHTTP, Route: "/mcp",
				Raw: []byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + bb.method + `","params":` + bb.params + `}`),
			}
			b.ReportAllocs()
			for b.Loop() {
				if res := p.Handle(b.Context(), req); res.Error != nil {
					b.Fatalf("%s %s", res.Error, res.Error.Data)
				}
			}
		})
	}
}
