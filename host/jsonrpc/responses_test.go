package jsonrpc_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

func TestNotifications(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer jsonrpc.Response
		status int
		want   string
	}{
		{"acknowledged", jsonrpc.Response{}, 202, ``},
		{"result is dropped", jsonrpc.Response{Result: []byte(`1`)}, 202, ``},
		{"status of its own", jsonrpc.Response{Status: 204}, 204, ``},
		{"refused", jsonrpc.Response{Error: &jsonrpc.Error{Code: -32600, Message: "id missing"}}, 200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"id missing"}}`},
		{"body", jsonrpc.Response{Body: []byte(`{"ok":true}`)}, 200, `{"ok":true}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
				if req.Method == "fence" {
					return jsonrpc.Response{Result: []byte(`1`)}
				}
				if req.Kind != jsonrpc.KindNotification || req.ID != nil {
					t.Errorf("got a %v with id %q", req.Kind, req.ID)
				}
				return c.answer
			})
			for _, w := range wires(t, jsonrpc.Config{}, h) {
				status, got := w.exchange(t, `{"jsonrpc":"2.0","method":"n"}`)
				if got != c.want || (w.transport != jsonrpc.TransportSTDIO && status != c.status) {
					t.Errorf("%s: %d %s, want %d %s", w.transport, status, got, c.status, c.want)
				}
			}
		})
	}
}

func TestObjects(t *testing.T) {
	t.Parallel()
	const body = `{"message_type":"GAME_INVITATION","id":[],"method":5}`
	h := jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
		switch {
		case req.Method == "fence":
			return jsonrpc.Response{Result: []byte(`1`)}
		case req.Kind != jsonrpc.KindObject || string(req.Raw) != body || req.ID != nil:
			t.Errorf("got a %v, id %q: %s", req.Kind, req.ID, req.Raw)
		}
		return jsonrpc.Response{Result: []byte(`{"message_type":"GAME_JOIN_ACK"}`)}
	})
	for _, w := range wires(t, jsonrpc.Config{Lenient: true}, h) {
		if _, got := w.exchange(t, body); got != `{"message_type":"GAME_JOIN_ACK"}` {
			t.Errorf("%s: a bare object got %s", w.transport, got)
		}
		if _, got := w.exchange(t, `{"a":1,"a":2}`); !strings.Contains(got, "-32700") {
			t.Errorf("%s: an object with a duplicate name got %s", w.transport, got)
		}
		if _, got := w.exchange(t, `{"jsonrpc":"1.0","message_type":"X"}`); !strings.Contains(got, "-32600") {
			t.Errorf("%s: an object with another version got %s", w.transport, got)
		}
	}
}

// TestResponses checks what becomes of a handler's answer to a call.
func TestResponses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer jsonrpc.Response
		status int
		want   string
	}{
		{"result", jsonrpc.Response{Result: []byte(`{"a":1}`)}, 200, `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`},
		{"status", jsonrpc.Response{Result: []byte(`null`), Status: 422}, 422, `{"jsonrpc":"2.0","id":1,"result":null}`},
		{"error", jsonrpc.Response{Error: &jsonrpc.Error{Code: 3001, Message: `say "x"`, Data: []byte(`{"e":1}`)}}, 200, `{"jsonrpc":"2.0","id":1,"error":{"code":3001,"message":"say \"x\"","data":{"e":1}}}`},
		{"error before result", jsonrpc.Response{Error: &jsonrpc.Error{Code: 1, Message: "no"}, Result: []byte(`1`)}, 200, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}`},
		{"error with text that is not UTF-8", jsonrpc.Response{Error: &jsonrpc.Error{Code: 1, Message: "a\xff"}}, 200, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a` + "\ufffd" + `"}}`},
		{"a request as the answer", jsonrpc.Response{Body: []byte(`{"jsonrpc":"2.0","id":9,"method":"game_join_ack","params":{}}`), Status: 201}, 201, `{"jsonrpc":"2.0","id":9,"method":"game_join_ack","params":{}}`},
		{"nothing", jsonrpc.Response{}, 500, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error","data":{"detail":"the handler gave no answer"}}}`},
		{"status out of range", jsonrpc.Response{Result: []byte(`1`), Status: 99}, 500, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error","data":{"detail":"the handler gave an invalid HTTP status"}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
				if req.Method == "fence" {
					return jsonrpc.Response{Result: []byte(`1`)}
				}
				return c.answer
			})
			for _, w := range wires(t, jsonrpc.Config{}, h) {
				status, got := w.exchange(t, `{"jsonrpc":"2.0","id":1,"method":"m"}`)
				if got != c.want || (w.transport != jsonrpc.TransportSTDIO && status != c.status) {
					t.Errorf("%s:\n got %d %s\nwant %d %s", w.transport, status, got, c.status, c.want)
				}
			}
		})
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
