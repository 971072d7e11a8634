package kit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
)

// FuzzReadAnswer reads whatever an agent may answer.
func FuzzReadAnswer(f *testing.F) {
	examples, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "protocol", "examples", "*", "*.json"))
	if err != nil || len(examples) == 0 {
		f.Fatalf("no examples: %v", err)
	}
	for _, name := range examples {
		body, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(200, body)
	}
	for _, body := range []string{
		"", "null", "[]", "{", `{"result":null}`, `{"error":null,"result":"{}"}`, `{"error":"no"}`, `{"error":{"code":"x","data":[]}}`,
		`{"result":{"content":[{"text":"{\"a\":1}"}],"isError":true}}`, `{"result":{"content":[]}}`, `{"result":{"structuredContent":7}}`,
		`{"method":"game_join_ack","params":{"accept":true}}`, `{"status":"error"}`, "\xff",
	} {
		f.Add(500, []byte(body))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		a := kit.ReadAnswer(jsonrpc.Reply{Status: status, Body: body})
		if a.String() == "" {
			t.Errorf("nothing is said of %q", body)
		}
		if a.Document == nil && (a.Message != nil || a.Refused != a.Plain) {
			t.Errorf("%q is no JSON object and has a message %v, refused %v", body, a.Message, a.Refused)
		}
		if a.Message != nil && a.Wrapping == "" {
			t.Errorf("the message in %q is in no wrapping", body)
		}
	})
}

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
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"message_type\":\"GAME_OVER_ACK\"}"},{"type":"text","text":"a note"}]}}`: {
			200, false, false, false, "a GAME_OVER_ACK"},
		`{"jsonrpc":"2.0","id":1,"result":{"status":"ok"}}`: {200, false, false, false, "HTTP 200 with a message without message_type"},
	} {
		a := kit.ReadAnswer(jsonrpc.Reply{Status: want.status, Body: []byte(body)})
		if a.Refused != want.refused || a.Plain != want.plain || a.UnknownMessage() != want.unknown || a.String() != want.text {
			t.Errorf("%s: refused %v, plain %v, unknown %v, %q", body, a.Refused, a.Plain, a.UnknownMessage(), a)
		}
	}
}

// Accepted, Refused, TurnedDown and AnsweredIn judge one answer each.
func TestAnswersAreJudged(t *testing.T) {
	t.Parallel()
	const ack = `{"jsonrpc":"2.0","id":"1","result":{"message_type":"ROUND_COMPLETED_ACK","status":"acknowledged"}}`
	const refused = `{"jsonrpc":"2.0","id":"1","error":{"code":-32602,"message":"no"}}`
	accepts := func(t *kit.T, a *kit.Answer) { t.Accepted(a, "ROUND_COMPLETED_ACK") }
	refuses := func(t *kit.T, a *kit.Answer) { t.Refused(a) }
	statusIs := func(t *kit.T, a *kit.Answer) { t.Equal(a, "status", "acknowledged") }
	inEnvelope := func(t *kit.T, a *kit.Answer) { t.AnsweredIn(a, dialect.Envelope) }
	s := session(t, "http://127.0.0.1:1/mcp")
	for _, c := range []struct {
		name   string
		judge  func(*kit.T, *kit.Answer)
		status int
		body   string
		want   kit.Status
		detail string
	}{
		{"accepted", accepts, 200, ack, kit.Passed, ""},
		{"accepted", accepts, 202, ack, kit.Passed, ""},
		{"accepted", accepts, 200, `{"status":"ok"}`, kit.Passed, ""}, // an answer without a type
		{"accepted", accepts, 500, ack, kit.Failed, "answered with HTTP 500; callers treat that as a failure before they read the body"},
		{"accepted", accepts, 200, refused, kit.Failed, "answered by a refusal: -32602 no"},
		{"accepted", accepts, 200, "", kit.Failed, "answered by HTTP 200 with an empty body"},
		{"accepted", accepts, 200, "[]", kit.Failed, "answered by HTTP 200 with a body that is not a JSON object"},
		{"accepted", accepts, 200, `{"result":7}`, kit.Failed, "the answer holds no message, neither in result nor elsewhere"},
		{"accepted", accepts, 200, strings.Replace(ack, "ROUND", "LEAGUE", 1), kit.Failed, "answered by a LEAGUE_COMPLETED_ACK instead of a ROUND_COMPLETED_ACK"},
		{"refused", refuses, 200, refused, kit.Passed, ""},
		{"refused", refuses, 400, `{"detail":"no"}`, kit.Passed, ""},
		{"refused", refuses, 200, ack, kit.Failed, "it was accepted: answered by a ROUND_COMPLETED_ACK"},
		{"refused", refuses, 400, "", kit.Failed, "answered with HTTP 400 and an empty body; a caller cannot tell why"},
		{"refused", refuses, 200, strings.Replace(refused, "-32602", "-32601", 1), kit.Skipped, "it does not know the message with which this is tested: a refusal: -32601 no"},
		// Another check finds that the two places disagree.
		{"answered", inEnvelope, 200, `{"result":{"envelope":{"status":"a"},"payload":{"status":"b"}}}`, kit.Passed, ""},
		{"answered", inEnvelope, 200, ack, kit.Failed, "asked in envelope, it answers in contracts"},
		{"equal", statusIs, 200, ack, kit.Passed, ""},
		{"equal", statusIs, 200, `{"result":{"status":7}}`, kit.Failed, `status is 7, want "acknowledged"`},
		{"equal", statusIs, 200, `{"result":{"x":7}}`, kit.Failed, `status is missing, want "acknowledged"`},
	} {
		check := kit.Check{ID: "a." + c.name, Run: func(t *kit.T) { c.judge(t, kit.ReadAnswer(jsonrpc.Reply{Status: c.status, Body: []byte(c.body)})) }}
		if o := s.Run(t.Context(), noPeers{}, check, nil); o.Status != c.want || o.Detail != c.detail {
			t.Errorf("%s, HTTP %d %s: %s, %q; want %s, %q", c.name, c.status, c.body, o.Status, o.Detail, c.want, c.detail)
		}
	}
	// A stranger may refuse: the finding is that it is not registered.
	peers := newHost(t, s, kit.Player)
	check := kit.Check{ID: "a.stranger", Run: func(t *kit.T) { accepts(t, kit.ReadAnswer(jsonrpc.Reply{Status: 200, Body: []byte(refused)})) }}
	if o := s.Run(t.Context(), peers, check, nil); o.Status != kit.Skipped || !strings.Contains(o.Detail, "not registered with this manager") {
		t.Errorf("%s, %q; want it skipped, because the agent is not registered", o.Status, o.Detail)
	}
}
