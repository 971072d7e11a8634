package jsonrpc_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

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

// TestRefuse checks that errors can be given another shape, and what is known
// of the request then.
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
