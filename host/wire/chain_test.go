package wire_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

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
		e := agent(protocol.Strict)
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
	p := chain(t, wire.Config{Agent: agent(protocol.Strict), Strict: true})
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
	e := agent(protocol.Strict)
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
	if !strings.Contains(log.String(), "is not sent") {
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
	e := agent(protocol.Strict)
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

// TestOneAtATime: a deterministic chain handles one request at a time,
// however many come and by whatever way, and another one many at once.
func TestOneAtATime(t *testing.T) {
	for _, deterministic := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var under, most atomic.Int64
			leave := make(chan struct{})
			inHand := func() {
				most.Store(max(most.Load(), under.Add(1)))
				<-leave
				under.Add(-1)
			}
			p := chain(t, wire.Config{Deterministic: deterministic, Tools: jsonrpc.HandlerFunc(func(context.Context, *jsonrpc.Request) jsonrpc.Response {
				inHand()
				return jsonrpc.Response{Result: []byte(`{}`)}
			})})
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() { p.Handle(t.Context(), &jsonrpc.Request{Method: "x", ID: []byte(`1`)}) })
				all.Go(func() {
					_, err := p.Call(t.Context(), new(jsonrpc.Request), "count", jsontext.Value(`{"n":1}`), func(context.Context) (jsontext.Value, error) {
						inHand()
						return jsontext.Value(`{"n":1}`), nil
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			synctest.Wait()
			if n, want := under.Load(), map[bool]int64{true: 1, false: 8}[deterministic]; n != want {
				t.Errorf("deterministic %v: %d requests are in hand, want %d", deterministic, n, want)
			}
			close(leave)
			all.Wait()
			if n := most.Load(); deterministic && n != 1 {
				t.Errorf("there were %d at once", n)
			}
		})
	}
}

// TestNobodyWaitsForEver: who leaves before it is its turn is let go.
func TestNobodyWaitsForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leave := make(chan struct{})
		p := chain(t, wire.Config{Deterministic: true, Tools: jsonrpc.HandlerFunc(func(context.Context, *jsonrpc.Request) jsonrpc.Response {
			<-leave
			return jsonrpc.Response{Result: []byte(`{}`)}
		})})
		var first sync.WaitGroup
		first.Go(func() { p.Handle(t.Context(), &jsonrpc.Request{Method: "x", ID: []byte(`1`)}) })
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if res := p.Handle(ctx, &jsonrpc.Request{Method: "x", ID: []byte(`2`)}); res.Status != http.StatusInternalServerError || res.Error == nil {
			t.Errorf("the answer is %+v", res)
		}
		if _, err := p.Call(ctx, new(jsonrpc.Request), "count", nil, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("the call ends with %v", err)
		}
		close(leave)
		first.Wait()
	})
}

func TestCall(t *testing.T) {
	t.Parallel()
	errOwn := errors.New("the strategy does not load")
	league := protocol.Refuse(protocol.CodeTokenInvalid, protocol.TypeLeagueQuery, "no")
	for _, tt := range []struct {
		name, tool, input, output string
		err                       error
		code                      string // of the refusal; empty for none
		violations                []protocol.Violation
		called                    bool
	}{
		{"as it should be", "count", `{"n":1}`, `{"n":2}`, nil, "", nil, true},
		{"unknown tool", "other", `{"n":1}`, `{"n":2}`, nil, "TOOL_NOT_FOUND", []protocol.Violation{{Path: "/params/name", Rule: "known"}}, false},
		{"no input", "count", `{}`, `{"n":2}`, nil, "INVALID_TOOL_INPUT", []protocol.Violation{{Path: "/params/arguments/n", Rule: "required"}}, false},
		{"bad input", "count", `{"n":"x"}`, `{"n":2}`, nil, "INVALID_TOOL_INPUT", []protocol.Violation{{Path: "/params/arguments/n", Rule: "type"}}, false},
		{"bad output", "count", `{"n":1}`, `{"n":"2"}`, nil, "INTERNAL_ERROR", []protocol.Violation{{Path: "/n", Rule: "type"}}, true},
		{"no output", "count", `{"n":1}`, ``, nil, "INTERNAL_ERROR", []protocol.Violation{{Path: "", Rule: "json"}}, true},
		{"broken schema", "unusable", `{"n":1}`, `{"n":2}`, nil, "INTERNAL_ERROR", nil, false},
		{"own error", "count", `{"n":1}`, ``, errOwn, "", nil, true},
		{"a refusal of the league", "count", `{"n":1}`, ``, league, "", nil, true},
	} {
		var log strings.Builder
		p := chain(t, wire.Config{Errors: slog.New(slog.NewTextHandler(&log, nil))})
		called := false
		got, err := p.Call(t.Context(), new(jsonrpc.Request), tt.tool, jsontext.Value(tt.input), func(context.Context) (jsontext.Value, error) {
			called = true
			return []byte(tt.output), tt.err
		})
		refusal := wire.Canonical(err)
		if (refusal != nil) != (tt.code != "") || tt.code != "" && (refusal.Canonical != tt.code || !reflect.DeepEqual(refusal.Violations, tt.violations)) {
			t.Errorf("%s: %v, want %s %v", tt.name, err, tt.code, tt.violations)
		}
		if called != tt.called {
			t.Errorf("%s: the tool was called: %v", tt.name, called)
		}
		if tt.err != nil && err != tt.err || tt.err == nil && tt.code == "" && (err != nil || string(got) != tt.output) {
			t.Errorf("%s: %s %v", tt.name, got, err)
		}
		if told := strings.Contains(log.String(), "level=ERROR"); told != (tt.code == "INTERNAL_ERROR") {
			t.Errorf("%s: the log says %q", tt.name, log.String())
		}
	}
}
