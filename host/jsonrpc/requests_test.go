package jsonrpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// refused is what a peer sees of a refusal.
type refused struct {
	Status int
	Code   int
	ID     string
	Detail string
}

func readRefusal(t *testing.T, status int, answer string) refused {
	t.Helper()
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
			Data    struct {
				Detail string `json:"detail"`
			} `json:"data"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(answer), &m); err != nil {
		t.Fatalf("the answer %q is not JSON: %v", answer, err)
	}
	if m.Version != "2.0" || m.Error.Message == "" {
		t.Errorf("the answer %s is no JSON-RPC error", answer)
	}
	return refused{Status: status, Code: m.Error.Code, ID: string(m.ID), Detail: m.Error.Data.Detail}
}

func nested(depth int) string {
	// The object of the request is one level, params is the next.
	return `{"jsonrpc":"2.0","id":1,"method":"m","params":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + `}`
}

// refusedBodies is the table of the package documentation, body by body.
var refusedBodies = []struct {
	name, body string
	code       int
	id         string
	detail     string // a part of it
	httpOnly   bool   // cannot be one line, or is skipped as a blank one
}{
	{name: "empty", body: "", code: -32700, id: "null", detail: "empty document", httpOnly: true},
	{name: "blank", body: " \n\t", code: -32700, id: "null", detail: "empty document", httpOnly: true},
	{name: "no JSON", body: "hello", code: -32700, id: "null", detail: "offset 0"},
	{name: "cut short", body: `{"jsonrpc":"2.0","id":1,"method":"m"`, code: -32700, id: "null", detail: "unexpected EOF"},
	{name: "cut short in a string", body: `{"jsonrpc":"2.0","id":1,"method":"m`, code: -32700, id: "null"},
	{name: "comma at the end", body: `{"jsonrpc":"2.0","id":1,"method":"m",}`, code: -32700, id: "null"},
	{name: "single quotes", body: `{'jsonrpc':'2.0','id':1,'method':'m'}`, code: -32700, id: "null"},
	{name: "comment", body: `{"jsonrpc":"2.0",/* hi */"id":1,"method":"m"}`, code: -32700, id: "null"},
	{name: "NaN", body: `{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":NaN}}`, code: -32700, id: "null", detail: "/params/x"},
	{name: "leading zero", body: `{"jsonrpc":"2.0","id":01,"method":"m"}`, code: -32700, id: "null"},
	{name: "line break in a string", body: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\n\"}", code: -32700, id: "null", httpOnly: true},
	{name: "byte order mark", body: "\ufeff" + fence, code: -32700, id: "null", detail: "offset 0"},
	{name: "invalid UTF-8", body: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", code: -32700, id: "null"},
	{name: "UTF-16", body: "\xff\xfe{\x00}\x00", code: -32700, id: "null"},
	{name: "unpaired surrogate", body: `{"jsonrpc":"2.0","id":1,"method":"\ud800"}`, code: -32700, id: "null"},
	{name: "second document", body: fence + fence, code: -32700, id: "null", detail: "data after the end"},
	{name: "trailing garbage", body: fence + "]", code: -32700, id: "null", detail: "data after the end"},
	{name: "NUL at the end", body: fence + "\x00", code: -32700, id: "null", detail: "data after the end"},
	{name: "duplicate id", body: `{"jsonrpc":"2.0","id":1,"method":"m","id":2}`, code: -32700, id: "null", detail: "duplicate name at /id"},
	{name: "duplicate deep down", body: `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[{"b":1,"b":2}]}}`, code: -32700, id: "null", detail: "duplicate name at /params/a/0/b"},
	{name: "duplicate by escape", body: `{"jsonrpc":"2.0","id":1,"\u0069d":2,"method":"m"}`, code: -32700, id: "null", detail: "duplicate name at /id"},
	{name: "too deep", body: nested(129), code: -32700, id: "null", detail: "deeper than 128"},
	{name: "far too deep", body: strings.Repeat(`[`, 900), code: -32700, id: "null", detail: "deeper than 128"},
	{name: "long name", body: `{"` + strings.Repeat("x", 600) + `":1,"` + strings.Repeat("x", 600) + `":2}`, code: -32700, id: "null", detail: "xxx..."},

	{name: "batch", body: "[" + fence + "]", code: -32600, id: "null", detail: "batch"},
	{name: "empty batch", body: "[]", code: -32600, id: "null", detail: "batch"},
	{name: "broken batch", body: "[1,", code: -32700, id: "null"},
	{name: "string", body: `"hello"`, code: -32600, id: "null", detail: "object"},
	{name: "number", body: "17", code: -32600, id: "null"},
	{name: "null", body: "null", code: -32600, id: "null"},
	{name: "empty object", body: "{}", code: -32600, id: "null", detail: "jsonrpc is missing"},
	{name: "no version", body: `{"id":7,"method":"m"}`, code: -32600, id: "7", detail: "jsonrpc is missing"},
	{name: "version 1", body: `{"jsonrpc":"1.0","id":7,"method":"m"}`, code: -32600, id: "7", detail: `must be "2.0"`},
	{name: "version as a number", body: `{"jsonrpc":2.0,"id":"7","method":"m"}`, code: -32600, id: `"7"`, detail: `must be "2.0"`},
	{name: "version null", body: `{"jsonrpc":null,"id":7,"method":"m"}`, code: -32600, id: "7"},
	{name: "version in other case", body: `{"JSONRPC":"2.0","id":7,"method":"m"}`, code: -32600, id: "7", detail: "jsonrpc is missing"},
	{name: "method in other case", body: `{"jsonrpc":"2.0","id":7,"Method":"m"}`, code: -32600, id: "7", detail: "method is missing"},
	{name: "no method", body: `{"jsonrpc":"2.0","id":7,"params":{}}`, code: -32600, id: "7", detail: "method is missing"},
	{name: "a response", body: `{"jsonrpc":"2.0","id":7,"result":{}}`, code: -32600, id: "7", detail: "method is missing"},
	{name: "method null", body: `{"jsonrpc":"2.0","id":7,"method":null}`, code: -32600, id: "7", detail: "method must be a string"},
	{name: "method as a number", body: `{"jsonrpc":"2.0","id":7,"method":1}`, code: -32600, id: "7"},
	{name: "params string", body: `{"jsonrpc":"2.0","id":7,"method":"m","params":"x"}`, code: -32600, id: "7", detail: "params"},
	{name: "params number", body: `{"jsonrpc":"2.0","id":7,"method":"m","params":1}`, code: -32600, id: "7"},
	{name: "params bool", body: `{"jsonrpc":"2.0","id":7,"method":"m","params":false}`, code: -32600, id: "7"},
	{name: "id object", body: `{"jsonrpc":"2.0","id":{},"method":"m"}`, code: -32600, id: "null", detail: "id must be"},
	{name: "id array", body: `{"jsonrpc":"2.0","id":[1],"method":"m"}`, code: -32600, id: "null"},
	{name: "id bool", body: `{"jsonrpc":"2.0","id":true,"method":"m"}`, code: -32600, id: "null"},
	{name: "id too long", body: `{"jsonrpc":"2.0","id":"` + strings.Repeat("9", 1100) + `","method":"m"}`, code: -32600, id: "null", detail: "1024 bytes"},
	{name: "id with too many digits", body: `{"jsonrpc":"2.0","id":` + strings.Repeat("9", 1100) + `,"method":"m"}`, code: -32600, id: "null"},

	{name: "too long", body: `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("m", 2000) + `"}`, code: -32600, id: "null", detail: "longer than 2000 bytes"},
}

func TestRefusedBodies(t *testing.T) {
	t.Parallel()
	handler := jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
		if req.Method != "fence" {
			t.Errorf("the handler was called with %s", req.Raw)
		}
		return jsonrpc.Response{Result: []byte("true")}
	})
	all := wires(t, jsonrpc.Config{MaxBody: 2000}, handler)
	for _, c := range refusedBodies {
		t.Run(c.name, func(t *testing.T) {
			var first string
			for _, w := range all {
				if c.httpOnly && w.transport == jsonrpc.TransportSTDIO {
					continue
				}
				status, answer := w.exchange(t, c.body)
				got := readRefusal(t, status, answer)
				want := refused{Status: 400, Code: c.code, ID: c.id, Detail: got.Detail}
				if c.name == "too long" {
					want.Status = 413
				}
				if w.transport == jsonrpc.TransportSTDIO {
					want.Status = 0
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", w.transport, diff)
				}
				if !strings.Contains(got.Detail, c.detail) || got.Detail == "" || len(got.Detail) > 300 {
					t.Errorf("%s: detail is %q, want it short and with %q", w.transport, got.Detail, c.detail)
				}
				if first == "" {
					first = answer
				}
				if answer != first {
					t.Errorf("%s answers\n%s\nbut %s answered\n%s", w.transport, answer, all[0].transport, first)
				}
			}
		})
	}
}

func TestAcceptedRequests(t *testing.T) {
	t.Parallel()
	answer := func(id, method, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"method":"%s","params":%s}}`, id, method, params)
	}
	req := func(id, rest string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"m"%s}`, id, rest)
	}
	digits := strings.Repeat("9", 400)
	wide := `[` + strings.Repeat(`{},`, 130) + `"` + strings.Repeat("[", 130) + `\"` + strings.Repeat("{", 130) + `"]`
	for _, c := range []struct{ name, body, want string }{
		{"integer id", req(`1`, ``), answer(`1`, "m", `"absent"`)},
		{"integer id with a fraction", req(`1.0`, ``), answer(`1.0`, "m", `"absent"`)},
		{"string id", req(`"1"`, ``), answer(`"1"`, "m", `"absent"`)},
		{"empty string id", req(`""`, ``), answer(`""`, "m", `"absent"`)},
		{"escaped id", req(`"\u0031\/"`, ``), answer(`"\u0031\/"`, "m", `"absent"`)},
		{"null id", req(`null`, ``), answer(`null`, "m", `"absent"`)},
		{"huge id", req(digits, ``), answer(digits, "m", `"absent"`)},
		{"negative zero", req(`-0`, ``), answer(`-0`, "m", `"absent"`)},
		{"exponent", req(`1e400`, ``), answer(`1e400`, "m", `"absent"`)},
		{"params object", req(`1`, `,"params":{"a":null}`), answer(`1`, "m", `{"a":null}`)},
		{"params array", req(`1`, `,"params":[1,2]`), answer(`1`, "m", `[1,2]`)},
		{"params null", req(`1`, `,"params":null`), answer(`1`, "m", `null`)},
		{"huge number", req(`1`, `,"params":[1e9999,`+digits+`]`), answer(`1`, "m", `[1e9999,`+digits+`]`)},
		{"members in any order, unknown ones too", `{"x":{"id":5},"params":[],"method":"m","id":1,"jsonrpc":"2.0","result":2}`, answer(`1`, "m", `[]`)},
		{"escaped names and values", `{"json\u0072pc":"2\u002e0","id":1,"method":"\u006d\n"}`, answer(`1`, `m\n`, `"absent"`)},
		{"white space", " \t" + req(`1`, ` , "params" : [ 1 ]`) + " \r", answer(`1`, "m", `[ 1 ]`)},
		{"as deep as allowed", nested(128), answer(`1`, "m", strings.Repeat("[", 127)+strings.Repeat("]", 127))},
		{"wide but not deep", req(`1`, `,"params":`+wide), answer(`1`, "m", wide)},
		{"astral plane", `{"jsonrpc":"2.0","id":"\ud83c\udfb2","method":"🎲"}`, answer(`"\ud83c\udfb2"`, "🎲", `"absent"`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, w := range wires(t, jsonrpc.Config{}, echo) {
				if status, got := w.exchange(t, c.body); got != c.want || (status != 200 && status != 0) {
					t.Errorf("%s: status %d\n got %s\nwant %s", w.transport, status, got, c.want)
				}
			}
		})
	}
}

// TestResponses checks what becomes of a handler's answer to a call, a notification and a
// bare object.
func TestResponses(t *testing.T) {
	t.Parallel()
	const (
		calls  = `{"jsonrpc":"2.0","id":1,"method":"m"}`
		tells  = `{"jsonrpc":"2.0","method":"n"}`
		object = `{"message_type":"GAME_INVITATION","id":[],"method":5}`
	)
	failed := func(why string) string {
		return `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error","data":{"detail":"` + why + `"}}}`
	}
	for _, c := range []struct {
		request string
		answer  jsonrpc.Response
		status  int
		want    string
	}{
		{calls, jsonrpc.Response{Result: []byte(`{"a":1}`)}, 200, `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`},
		{calls, jsonrpc.Response{Result: []byte(`null`), Status: 422}, 422, `{"jsonrpc":"2.0","id":1,"result":null}`},
		{calls, jsonrpc.Response{Error: &jsonrpc.Error{Code: 3001, Message: `say "x"`, Data: []byte(`{"e":1}`)}}, 200, `{"jsonrpc":"2.0","id":1,"error":{"code":3001,"message":"say \"x\"","data":{"e":1}}}`},
		{calls, jsonrpc.Response{Error: &jsonrpc.Error{Code: 1, Message: "a\xff"}, Result: []byte(`1`)}, 200, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a` + "\ufffd" + `"}}`},
		{calls, jsonrpc.Response{Body: []byte(`{"jsonrpc":"2.0","id":9,"method":"game_join_ack","params":{}}`), Status: 201}, 201, `{"jsonrpc":"2.0","id":9,"method":"game_join_ack","params":{}}`},
		{calls, jsonrpc.Response{}, 500, failed("the handler gave no answer")},
		{calls, jsonrpc.Response{Result: []byte(`1`), Status: 99}, 500, failed("the handler gave an invalid HTTP status")},
		{tells, jsonrpc.Response{}, 202, ``},
		{tells, jsonrpc.Response{Result: []byte(`1`)}, 202, ``},
		{tells, jsonrpc.Response{Status: 204}, 204, ``},
		{tells, jsonrpc.Response{Error: &jsonrpc.Error{Code: -32600, Message: "id missing"}}, 200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"id missing"}}`},
		{tells, jsonrpc.Response{Body: []byte(`{"ok":true}`)}, 200, `{"ok":true}`},
		{object, jsonrpc.Response{Result: []byte(`{"message_type":"GAME_JOIN_ACK"}`)}, 200, `{"message_type":"GAME_JOIN_ACK"}`},
		{`{"a":1,"a":2}`, jsonrpc.Response{}, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error","data":{"detail":"duplicate name at /a"}}}`},
		{`{"jsonrpc":"1.0","message_type":"X"}`, jsonrpc.Response{}, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request","data":{"detail":"jsonrpc must be \"2.0\""}}}`},
	} {
		h := jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
			if req.Method == "fence" {
				return jsonrpc.Response{Result: []byte(`1`)}
			}
			if want := map[string]jsonrpc.Kind{tells: jsonrpc.KindNotification, object: jsonrpc.KindObject}[c.request]; req.Kind != want || (req.ID == nil) != (c.request != calls) || string(req.Raw) != c.request {
				t.Errorf("%s is a %v with id %q: %s", c.request, req.Kind, req.ID, req.Raw)
			}
			return c.answer
		})
		for _, w := range wires(t, jsonrpc.Config{Lenient: true}, h) {
			status, got := w.exchange(t, c.request)
			if got != c.want || (w.transport != jsonrpc.TransportSTDIO && status != c.status) {
				t.Errorf("%s: %s\n got %d %s\nwant %d %s", w.transport, c.request, status, got, c.status, c.want)
			}
		}
	}
}

func TestPanicIsAnswered(t *testing.T) {
	t.Parallel()
	var log logBuffer
	h := jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
		if req.Method == "fence" {
			return jsonrpc.Response{Result: []byte(`1`)}
		}
		panic("secret reason")
	})
	for _, w := range wires(t, jsonrpc.Config{Logger: log.logger()}, h) {
		status, got := w.exchange(t, `{"jsonrpc":"2.0","id":1,"method":"boom"}`)
		if !strings.Contains(got, `"code":-32603`) || strings.Contains(got, "secret") || (status != 500 && status != 0) {
			t.Errorf("%s: a panic is answered by %d %s", w.transport, status, got)
		}
	}
	if n := strings.Count(log.String(), "panic=\"secret reason\""); n != 3 {
		t.Errorf("the log tells of %d panics, want 3:\n%s", n, log.String())
	}
}

// TestRefuse checks that errors can be given another shape, and what is known of the request then.
func TestRefuse(t *testing.T) {
	t.Parallel()
	cfg := jsonrpc.Config{MaxBody: 100, Refuse: func(_ context.Context, req *jsonrpc.Request, r *jsonrpc.Refusal) *jsonrpc.Error {
		if r.Reason == jsonrpc.ReasonBatch {
			return nil
		}
		return &jsonrpc.Error{Code: r.Code, Message: string(r.Reason), Data: fmt.Appendf(nil, `[%d,%q,%d]`, r.Status, req.Transport, len(req.Raw))}
	}}
	for _, w := range wires(t, cfg, echo) {
		for _, c := range []struct{ body, want string }{
			{`{`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad_json","data":[400,"TRANSPORT",1]}}`},
			{`{"id":3}`, `{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"bad_shape","data":[400,"TRANSPORT",8]}}`},
			{strings.Repeat("x", 101), `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"too_large","data":[413,"TRANSPORT",0]}}`},
			{`[]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request","data":{"detail":"batches are not supported: send the requests one by one"}}}`},
		} {
			want := strings.ReplaceAll(c.want, "TRANSPORT", string(w.transport))
			if _, got := w.exchange(t, c.body); got != want {
				t.Errorf("%s: %.20q\n got %s\nwant %s", w.transport, c.body, got, want)
			}
		}
	}
}
