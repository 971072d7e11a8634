package wire_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// says is a refusal by JSON-RPC with nothing but a code and words.
func says(rpc int, words string) error {
	return &dialect.Refusal{RPC: rpc, Status: 200, Message: words}
}

// coded is a refusal with a code of the league.
func coded(code protocol.Code, words string) error {
	return &dialect.Refusal{Code: code, Status: 200, Message: words, Retryable: code.Retryable()}
}

// status is an HTTP answer that the league did not give.
func status(s int, body string) error {
	return &jsonrpc.CallError{Kind: jsonrpc.ErrStatus, URL: "http://peer/mcp", Status: s, Body: []byte(body)}
}

func failed(kind error) error { return &jsonrpc.CallError{Kind: kind, URL: "http://peer/mcp"} }

// What an answer says of the way in which a message was put, in the words that peers of real
// leagues use: from it follows whether another way is tried, or the peer's no is final.
func TestJudge(t *testing.T) {
	t.Parallel()
	const (
		understood = wire.Understood
		refuses    = wire.Refuses
		another    = wire.Misunderstood
		doubtful   = wire.Doubtful
		unreached  = wire.Unreached
	)
	for _, c := range []struct {
		name    string
		err     error
		want    wire.Verdict
		unknown bool // the peer does not know the name of the method
	}{
		{"an answer", nil, understood, false},
		{"-32601", says(-32601, "Method not found"), another, true},
		{"-32601 without words", says(-32601, ""), another, true},
		{"-32602", says(-32602, "Invalid params"), another, false},
		{"-32600", says(-32600, "Invalid Request"), another, false},
		{"E047", coded(protocol.CodeUnknownMessageType, "nothing of the kind"), another, true},
		{"a tool, in words", says(-32000, "Unknown tool: register_player"), another, true},
		{"a handler, in words", says(-32603, "No handler for message LEAGUE_REGISTER_REQUEST"), another, true},
		{"in words, as an internal error", coded(protocol.CodeInternalError, "Unsupported message_type"), another, true},
		{"a required type is no unknown one", says(-32602, "message_type is required and not found"), another, false},
		{"a game type is about the game", says(-32000, "unsupported game type"), refuses, false},
		{"full", says(-32000, "The league is full"), refuses, false},
		{"over, with a code for a broken field", coded(protocol.CodeMissingField, "Registration is closed"), refuses, false},
		{"a field, for a league in progress", coded(protocol.CodeMissingField, "Missing field: league_id"), another, false},
		{"a field of the wrong kind", coded(protocol.CodeInvalidFieldType, "round_id"), another, false},
		{"another context", coded(protocol.CodeContextMismatch, ""), another, false},
		{"an invalid move", coded(protocol.CodeInvalidMove, "invalid"), another, false},
		{"not yet", coded(protocol.CodeRateLimited, "slow down"), unreached, false},
		{"a timeout of the peer", coded(protocol.CodeTimeout, ""), unreached, false},
		{"a wrong token", coded(protocol.CodeTokenInvalid, ""), refuses, false},
		{"an internal error", coded(protocol.CodeInternalError, "KeyError: 'x'"), doubtful, false},
		{"a version", says(-32000, "Version 2.0 not supported"), refuses, false},
		{"403 as a refusal", &dialect.Refusal{Status: 403, Message: "no"}, refuses, false},
		{"409 as a refusal", &dialect.Refusal{Status: 409}, refuses, false},
		{"410 as a refusal", &dialect.Refusal{Status: 410}, refuses, false},
		{"404 as a refusal", &dialect.Refusal{Status: 404}, another, true},
		{"405 as a refusal", &dialect.Refusal{Status: 405}, another, true},
		{"501 as a refusal", &dialect.Refusal{Status: 501}, another, true},
		{"500 as a refusal", &dialect.Refusal{Status: 500}, doubtful, false},
		{"422 as a refusal", &dialect.Refusal{Status: 422, Message: "field required"}, another, false},
		{"a tool, by its canonical name", &dialect.Refusal{RPC: -32602, Data: jsontext.Value(`{"canonical":"TOOL_NOT_FOUND"}`)}, another, true},
		{"arguments, by their canonical name", &dialect.Refusal{RPC: -32602, Message: "unknown tool", Data: jsontext.Value(`{"canonical":"INVALID_TOOL_INPUT"}`)}, another, false},

		{"404", status(404, ""), another, true},
		{"404 of a full league", status(404, "the league is full"), refuses, true},
		{"400", status(400, "bad request"), another, false},
		{"400 of an unknown type", status(400, `unknown message type "X"`), another, true},
		{"a web page", status(404, "<html><title>League is closed</title>"), another, true},
		{"500", status(500, "boom"), doubtful, false},
		{"500 of an unknown method", status(500, "method not found"), another, true},
		{"429", status(429, "later"), unreached, false},
		{"503", status(503, "starting"), unreached, false},
		{"nobody there", failed(jsonrpc.ErrConnect), unreached, false},
		{"too late", failed(jsonrpc.ErrTimeout), doubtful, false},
		{"cut off", failed(jsonrpc.ErrClosed), doubtful, false},
		{"garbage", failed(jsonrpc.ErrMalformed), doubtful, false},
		{"received only", wire.ErrReceived, doubtful, false},
		{"anything else", errors.New("oops"), doubtful, false},
	} {
		if got := wire.Judge(c.err); got != c.want {
			t.Errorf("%s: verdict %d, want %d", c.name, got, c.want)
		}
		if got := wire.UnknownMethod(c.err); got != c.unknown {
			t.Errorf("%s: unknown method %t, want %t", c.name, got, c.unknown)
		}
		wrapped := fmt.Errorf("call: %w", c.err)
		if c.err != nil && wire.Judge(wrapped) != c.want {
			t.Errorf("%s, wrapped: verdict %d, want %d", c.name, wire.Judge(wrapped), c.want)
		}
	}
}

// The reason of a rejection blames the form of a message, so that another form is
// tried, or what the message asks for, so that none is.
func TestBlamesForm(t *testing.T) {
	t.Parallel()
	for blames, texts := range map[bool][]string{
		true: {"missing field contact_endpoint", "Field required: player_meta", "invalid params", "validation failed", "malformed message", "Unknown message type", "No such tool"},
		// A league that refuses, whatever else it says, and words of neither kind.
		false: {"league is full", "name already taken", "registration closed, invalid now", "unsupported game type", "protocol version 1.0 is incompatible", ""},
	} {
		for _, text := range texts {
			if protocol.Says(protocol.BlamesForm, text) != blames {
				t.Errorf("%q blames the form: %v", text, !blames)
			}
		}
	}
}

func TestFormInALine(t *testing.T) {
	t.Parallel()
	const url = "http://127.0.0.1:9000/mcp"
	for want, w := range map[string]wire.Form{
		"POST /mcp contracts":                                   {URL: url},
		"POST / contracts":                                      {URL: "http://127.0.0.1:9000"},
		"POST /mcp contracts register":                          {URL: url, Name: "register"},
		"POST /mcp contracts register (flat)":                   {URL: url, Name: "register", Spread: true},
		"POST /mcp contracts without a, b":                      {URL: url, Drop: []string{"a", "b"}},
		"POST /mcp contracts with c":                            {URL: url, Add: []string{"c"}},
		"POST /mcp contracts without a with c, d":               {URL: url, Drop: []string{"a"}, Add: []string{"c", "d"}},
		"POST /mcp contracts start without parameters":          {URL: url, Name: "start", Drop: []string{"*"}},
		"POST /mcp contracts start with league_id only":         {URL: url, Name: "start", Drop: []string{"*"}, Add: []string{"league_id"}},
		"POST /mcp contracts register (flat) without a with it": {URL: url, Name: "register", Spread: true, Drop: []string{"a"}, Add: []string{"it"}},
	} {
		w.Dialect = dialect.Contracts
		if got := w.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if w.Plain() != (len(w.Drop) == 1 && w.Drop[0] == "*") {
			t.Errorf("%s: plain %t", want, w.Plain())
		}
	}
}

// The error of a peer that understands nothing counts alike answers once and says what
// each of them was the answer to.
func TestNotUnderstoodError(t *testing.T) {
	t.Parallel()
	form := func(name string) wire.Form {
		return wire.Form{URL: "http://peer/mcp", Dialect: dialect.Contracts, Name: name}
	}
	first := says(-32601, "Method not found")
	e := &wire.NotUnderstoodError{Type: protocol.TypeLeagueQuery, URL: "http://peer/mcp", Looks: "a JSON-RPC server", Requests: 9, Tried: []wire.Attempt{
		{Form: form("a"), Err: first}, {Form: form("b"), Err: says(-32601, "Method not found")}, {Form: form("c"), Err: status(500, "boom")},
		{Form: form("d"), Err: says(-32601, "Method not found")}, {Form: form("e"), Err: errors.New("no route")},
	}}
	want := `no way to send LEAGUE_QUERY to http://peer/mcp was understood (9 requests): a JSON-RPC server
  JSON-RPC -32601 "Method not found": POST /mcp contracts a and 2 other forms
  HTTP 500 "boom": POST /mcp contracts c
  "no route": POST /mcp contracts e`
	if got := e.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !errors.Is(e, first) {
		t.Error("the first error is lost")
	}
	e.Tried[0].State, e.Tried[1].State, e.Tried[4].State = wire.Names, wire.Names, wire.Wrappings
	if got := e.Error(); !strings.Contains(got, "server\n  tried method names, then wrappings; it answered:\n  JSON-RPC") {
		t.Errorf("the states are not shown:\n%s", got)
	}
	e.Tried[0].State, e.Tried[1].State, e.Tried[4].State = "", "", ""
	for i := range 6 {
		e.Tried = append(e.Tried, wire.Attempt{Form: form("x"), Err: status(500+i, "other")})
	}
	if got := e.Error(); strings.Count(got, "\n") != 6 || !strings.HasSuffix(got, "\n  and 4 other answers") {
		t.Errorf("with nine different answers:\n%s", got)
	}
	if (&wire.NotUnderstoodError{}).Unwrap() != nil {
		t.Error("an error without attempts wraps something")
	}
}
