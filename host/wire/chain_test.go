package wire_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/host/wire/schema"
)

// serve answers one body as a server would.
func serve(t *testing.T, h jsonrpc.Handler, body string) (int, string) {
	t.Helper()
	cfg := jsonrpc.Config{Lenient: true}
	if chain, is := h.(*wire.Chain); is {
		cfg.Refuse = chain.Refuse
	}
	req := &jsonrpc.Request{Raw: []byte(body), Transport: jsonrpc.TransportHTTP, Route: "/mcp"}
	status, answer := jsonrpc.Serve(t.Context(), req, h, cfg)
	return status, string(answer)
}

// TestStagesInOrder: the sender is authenticated before the handler sees the
// message, and whoever fails a stage does not reach the next.
func TestStagesInOrder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		want       []string
	}{
		{"no tool", toolsCall(`{"tool":"nothing","input":{}}`), nil},
		{"another form of call", toolsCall(`{"tool":"league_query","input":7}`), nil},
		{"wrong token", toolsCall(query(queryRest + `,"auth_token":"tok-wrong"`)), []string{"received", "authenticate", "answered"}},
		{"fields are missing", toolsCall(query(rightToken)), []string{"received", "authenticate", "handle: flawed", "answered"}},
		{"in order", toolsCall(query(queryRest + rightToken)), []string{"received", "authenticate", "handle", "answered"}},
	} {
		e := agent()
		var got []string
		note := func(s string) { got = append(got, s) }
		e.Received, e.Answered = func() { note("received") }, func() { note("answered") }
		authenticate, handle := e.Authenticate, e.Handlers[protocol.TypeLeagueQuery]
		e.Authenticate = func(ctx context.Context, x *wire.Exchange) error {
			note("authenticate")
			x.From = "P01"
			return authenticate(ctx, x)
		}
		e.Handlers[protocol.TypeLeagueQuery] = func(ctx context.Context, x *wire.Exchange) (protocol.Message, error) {
			if _, err := x.Decode(); err != nil {
				note("handle: flawed")
			} else {
				note("handle")
			}
			if x.From != "P01" {
				t.Errorf("%s: the sender is %v", tt.name, x.From)
			}
			return handle(ctx, x)
		}
		serve(t, chain(t, wire.Config{Agent: e, Strict: true}), tt.body)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestLongInputs: the schema bounds the values of a message that is called as a
// tool, which the field table does not.
func TestLongInputs(t *testing.T) {
	t.Parallel()
	p := chain(t, wire.Config{Agent: agent(), Strict: true})
	long := `,"more":[1` + strings.Repeat(",1", schema.MaxValues) + `]`
	status, answer := serve(t, p, toolsCall(query(queryRest+rightToken+long)))
	if want := `"violations":[{"path":"/params/input","rule":"size"}]`; status != http.StatusUnprocessableEntity || !strings.Contains(answer, want) {
		t.Errorf("%d %.300s, want %s", status, answer, want)
	}
}

// TestOutputOfAMessage: an answer that breaks its field table is not sent, and the refusal holds no
// value of it. In the other wrappings it is the peer's to judge.
func TestOutputOfAMessage(t *testing.T) {
	t.Parallel()
	e := agent()
	e.Handlers[protocol.TypeLeagueQuery] = func(context.Context, *wire.Exchange) (protocol.Message, error) {
		return &protocol.LeagueQueryResponse{
			Header: protocol.Header{MessageType: protocol.TypeLeagueQuery.Answer()}, QueryType: protocol.QueryStatus, Data: []byte(`{"league_id":"cup","current_round":"tok-secret"}`),
		}, nil
	}
	var log bytes.Buffer
	p := chain(t, wire.Config{Agent: e, Errors: slog.New(slog.NewTextHandler(&log, nil))})
	status, answer := serve(t, p, toolsCall(query(queryRest+rightToken)))
	if status != http.StatusInternalServerError || !strings.Contains(answer, `"canonical":"INTERNAL_ERROR","violations":[{"path":"/result/output/`) ||
		strings.Contains(answer, "tok-secret") {
		t.Errorf("%d %s", status, answer)
	}
	if !strings.Contains(log.String(), "it is not sent") {
		t.Errorf("the log says %q", log.String())
	}
	_, flat := serve(t, p, `{"jsonrpc":"2.0","id":1,"method":"league_query","params":`+strings.TrimSuffix(strings.SplitN(query(queryRest+rightToken), `"input":`, 2)[1], "}")+`}`)
	if !strings.Contains(flat, `"result":{`) {
		t.Errorf("in another wrapping: %s", flat)
	}
}

// TestUnknownTypes: an agent that is to acknowledge types that it does not know
// refuses a call without any type all the same.
func TestUnknownTypes(t *testing.T) {
	t.Parallel()
	e := &wire.Dispatcher{
		Codec: dialect.NewCodec(protocol.Tolerant), AcknowledgeUnknown: true,
		Sender: func() string { return "player:P01" }, Now: time.Now,
	}
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"cheer","params":{"message_type":"CHEERS"}}`:              `"result":{"status":"ACKNOWLEDGED"}`,
		`{"jsonrpc":"2.0","id":1,"method":"cheer","params":{}}`:                                     `"code":-32601`,
		`{"jsonrpc":"2.0","id":1,"method":"start_league","params":{"message_type":"START_LEAGUE"}}`: `"code":-32601`,
	} {
		if _, got := serve(t, e, body); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// TestServerRefused: what an agent says about a request that its server refuses
// is sent, and everything else has the usual form.
func TestServerRefused(t *testing.T) {
	t.Parallel()
	e := agent()
	e.ServerRefused = func(_ *jsonrpc.Request, r *jsonrpc.Refusal) *jsonrpc.Error {
		if r.Reason != jsonrpc.ReasonBadJSON {
			return nil
		}
		return &jsonrpc.Error{Code: r.Code, Message: "Parse error", Data: []byte(`{"detail":"learn to write"}`)}
	}
	p := chain(t, wire.Config{Agent: e})
	if _, got := serve(t, p, `{`); !strings.Contains(got, "learn to write") {
		t.Errorf("bad JSON: %s", got)
	}
	if _, got := serve(t, p, `[]`); !strings.Contains(got, protocol.CanonicalInvalidEnvelope) {
		t.Errorf("a batch: %s", got)
	}
}
