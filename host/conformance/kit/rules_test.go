package kit_test

import (
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/conformance/kit"
)

// Accepted, Refused, TurnedDown and AnsweredIn judge one answer each.
func TestAnswersAreJudged(t *testing.T) {
	t.Parallel()
	const ack = `{"jsonrpc":"2.0","id":"1","result":{"message_type":"ROUND_COMPLETED_ACK","status":"acknowledged"}}`
	const refused = `{"jsonrpc":"2.0","id":"1","error":{"code":-32602,"message":"no"}}`
	accepts := func(t *kit.T, a *kit.Answer) { t.Accepted(a, "ROUND_COMPLETED_ACK") }
	refuses := func(t *kit.T, a *kit.Answer) { t.Refused(a) }
	statusIs := func(t *kit.T, a *kit.Answer) { t.Equal(a, "status", "acknowledged") }
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
		{"equal", statusIs, 200, ack, kit.Passed, ""},
		{"equal", statusIs, 200, `{"result":{"status":7}}`, kit.Failed, `status is 7, want "acknowledged"`},
		{"equal", statusIs, 200, `{"result":{"x":7}}`, kit.Failed, `status is missing, want "acknowledged"`},
	} {
		check := kit.Check{ID: "a." + c.name, Run: func(t *kit.T) { c.judge(t, kit.ReadAnswer(kit.Reply{Status: c.status, Body: []byte(c.body)})) }}
		if o := s.Run(t.Context(), noPeers{}, check, nil); o.Status != c.want || o.Detail != c.detail {
			t.Errorf("%s, HTTP %d %s: %s, %q; want %s, %q", c.name, c.status, c.body, o.Status, o.Detail, c.want, c.detail)
		}
	}
	// A stranger may refuse: the finding is that it is not registered.
	peers := newHost(t, s, kit.Player)
	check := kit.Check{ID: "a.stranger", Run: func(t *kit.T) { accepts(t, kit.ReadAnswer(kit.Reply{Status: 200, Body: []byte(refused)})) }}
	if o := s.Run(t.Context(), peers, check, nil); o.Status != kit.Skipped || !strings.Contains(o.Detail, "not registered with this manager") {
		t.Errorf("%s, %q; want it skipped, because the agent is not registered", o.Status, o.Detail)
	}
}
