package kit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/trace"
)

// TestRefusals reads what real programs answer to what they do not take, and to what they do.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		status         int
		refused, plain bool
		unknown        bool
		text           string
	}{
		`{"detail":[{"loc":["body","id"],"msg":"value is not a valid integer"}]}`: {
			422, true, true, false, `a refusal: HTTP 422 body.id: value is not a valid integer`},
		`{"detail":"Unknown method: league_query"}`:                                         {400, true, true, true, "a refusal: HTTP 400 Unknown method: league_query"},
		`<html>Not Found</html>`:                                                            {404, true, true, true, "a refusal: HTTP 404 <html>Not Found</html>"},
		`{"error":"Unknown message type"}`:                                                  {200, true, false, true, "a refusal: Unknown message type"},
		`{"error":"bad json"}`:                                                              {400, true, true, false, "a refusal: HTTP 400 bad json"},
		`{"jsonrpc":"2.0","id":1,"result":{"status":"unknown_message_type"}}`:               {200, true, false, true, "a refusal: "},
		`{"jsonrpc":"2.0","id":1,"result":{"message_type":"ERROR","error_code":"UNKNOWN"}}`: {200, true, false, false, "a refusal: "},
		`{"jsonrpc":"2.0","id":1,"result":{"status":"error","message":"no such match"}}`:    {200, true, false, false, "a refusal: no such match"},
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`:                   {400, true, false, true, "a refusal: -32601 no"},
		`{"jsonrpc":"2.0","id":1,"result":{"message_type":"GAME_ERROR","status":"acknowledged"},"error":null}`: {
			200, false, false, false, "a GAME_ERROR"},
		`{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"type":"text","text":"Unknown tool: x"}]}}`: {
			200, true, false, true, "a refusal: Unknown tool: x"},
		`{"jsonrpc":"2.0","id":1,"result":{"status":"ok"}}`: {200, false, false, false, "HTTP 200 with a message without message_type"},
	} {
		a := kit.ReadAnswer(kit.Reply{Status: want.status, Body: []byte(body)})
		if a.Refused != want.refused || a.Plain != want.plain || a.UnknownMessage() != want.unknown || a.String() != want.text {
			t.Errorf("%s: refused %v, plain %v, unknown %v, %q", body, a.Refused, a.Plain, a.UnknownMessage(), a)
		}
	}
}

// TestClosedConnection sends to a server that says nothing about closing its
// connection after an error: the next request is answered on a new one.
func TestClosedConnection(t *testing.T) {
	t.Parallel()
	seen := sync.Map{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, again := seen.LoadOrStore(r.RemoteAddr, true); again {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer srv.Close()
	s := session(t, srv.URL+"/mcp")
	check := kit.Check{ID: "a.closed", Run: func(t *kit.T) {
		for range 3 {
			if r := t.Post(t.Session.URL, []byte(`{}`)); r.Err != nil || r.Status != http.StatusInternalServerError {
				t.Fail("%+v", r)
			}
		}
	}}
	if o := s.Run(t.Context(), noPeers{}, check, nil); o.Status != kit.Passed {
		t.Error(o.Detail)
	}
}

// TestControl skips what a refusal in the same words tells nothing about.
func TestControl(t *testing.T) {
	t.Parallel()
	answer := func(text string) kit.Response {
		return kit.Response{Status: http.StatusBadRequest, Body: fmt.Appendf(nil, `{"detail":%q}`, text)}
	}
	e := listen(t, func(in *trace.Exchange, _ http.Header) kit.Response {
		if kit.Object(in.Raw).Inner().Text("protocol") != "league.v2" {
			return answer("another protocol")
		}
		return answer("Unknown message type")
	})
	s := session(t, e.URL)
	sample := kit.AnyOf(func(*kit.T) kit.Request { return kit.Request{Message: request()} })
	for name, want := range map[string]kit.Status{"protocol": kit.Passed, "sender": kit.Skipped} {
		check := kit.Check{ID: "a." + name, Run: func(t *kit.T) {
			r := sample(t)
			r.Edit = kit.Set(name, "x")
			t.Refused(t.Send(r))
		}}
		if o := s.Run(t.Context(), noPeers{}, check, nil); o.Status != want {
			t.Errorf("%s: %+v", name, o)
		}
	}
	form := kit.Check{ID: "manager.hostile.form", Run: kit.AttackTests(nil, sample)["hostile.form"]}
	if o := s.Run(t.Context(), noPeers{}, form, nil); o.Status != kit.Failed || len(o.Evidence) != 1 {
		t.Errorf("%+v", o)
	}
}
