package kit_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// completed makes the request that the agents of these tests accept.
func completed(*kit.T) kit.Request {
	one := protocol.Some(1)
	return kit.Request{Message: &protocol.RoundCompleted{
		Header:           protocol.NewHeader(protocol.TypeRoundCompleted, kit.ManagerName, protocol.Timestamp(time.Now()), "c"),
		MatchesCompleted: one, MatchesPlayed: one,
	}}
}

// refuse refuses a request by a JSON-RPC error.
func refuse(id, code, text string) kit.Response {
	return kit.Response{Body: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":%q}}`, id, code, text)}
}

// follows answers as an agent that follows every rule.
func follows(in *trace.Exchange) kit.Response {
	doc := kit.Object(in.Raw)
	switch {
	case doc.Has("jsonrpc") && !doc.HasID():
		return refuse("null", "-32600", "the request has no id")
	case doc.Inner().Text("auth_token") == kit.Forged:
		return refuse(doc.Shown("id"), "-32000", "the token is wrong")
	}
	return kit.Respond(in.Raw, nil)
}

// replaced returns a response with one text in place of another.
func replaced(r kit.Response, old, text string) kit.Response {
	r.Body = bytes.ReplaceAll(r.Body, []byte(old), []byte(text))
	return r
}

// An agent that follows the rules passes all of these checks, and each way to
// break one fails exactly the checks of that rule.
func TestRulesFindTheBrokenAgent(t *testing.T) {
	t.Parallel()
	contracts := func(in *trace.Exchange) kit.Response {
		return kit.Response{Body: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"message_type":"ROUND_COMPLETED_ACK","status":"acknowledged"}}`, kit.Object(in.Raw).Shown("id"))}
	}
	for name, c := range map[string]struct {
		agent func(in *trace.Exchange) kit.Response
		fails []string // without the role
	}{
		"follows": {follows, nil},
		"ids become strings": {func(in *trace.Exchange) kit.Response {
			return replaced(replaced(follows(in), `"id":42`, `"id":"42"`), `"id":9007199254740993`, `"id":"9007199254740993"`)
		}, []string{"rpc.large", "rpc.number"}},
		"ids become numbers": {func(in *trace.Exchange) kit.Response { return replaced(follows(in), `"id":"42"`, `"id":42`) }, []string{"rpc.string"}},
		"ids become floats":  {func(in *trace.Exchange) kit.Response { return replaced(follows(in), "740993", "740992") }, []string{"rpc.large"}},
		"accepts without id": {func(in *trace.Exchange) kit.Response {
			if !kit.Object(in.Raw).HasID() && kit.Object(in.Raw).Has("jsonrpc") {
				return contracts(in)
			}
			return follows(in)
		}, []string{"rpc.noid"}},
		"invents an id": {func(in *trace.Exchange) kit.Response {
			return replaced(follows(in), `"id":null`, `"id":"0"`)
		}, []string{"rpc.noid"}},
		"answers in one wrapping": {func(in *trace.Exchange) kit.Response {
			if doc := kit.Object(in.Raw); doc.HasID() && doc.Inner().Text("auth_token") != kit.Forged {
				return contracts(in)
			}
			return follows(in)
		}, []string{"dialect.envelope", "dialect.tool", "dialect.tool-io"}},
		"refuses bare messages": {func(in *trace.Exchange) kit.Response {
			if !kit.Object(in.Raw).Has("jsonrpc") {
				return refuse("null", "-32600", "no JSON-RPC")
			}
			return follows(in)
		}, nil},
		"knows no other method": {func(in *trace.Exchange) kit.Response {
			if method := kit.Object(in.Raw).Text("method"); method == "unknown" || method == "ROUND_COMPLETED" {
				return refuse(kit.Object(in.Raw).Shown("id"), "-32601", "no such method")
			}
			return follows(in)
		}, []string{"dialect.type", "dialect.unknown"}},
		"repeats tokens": {func(in *trace.Exchange) kit.Response {
			return replaced(follows(in), "the token is wrong", "no "+kit.Forged)
		}, []string{"auth.quiet"}},
	} {
		agent := listen(t, func(in *trace.Exchange, _ http.Header) kit.Response { return c.agent(in) })
		s := session(t, agent.URL)
		checks := slices.Concat(kit.IDChecks(kit.Player, nil, completed), []kit.Check{kit.NoIDCheck(kit.Player, nil, completed)},
			kit.DialectChecks(kit.Player, nil, completed), kit.MethodChecks(kit.Player, nil, completed), []kit.Check{kit.QuietCheck(kit.Player, nil, completed)})
		var fails []string
		for _, check := range checks {
			o := s.Run(t.Context(), noPeers{}, check, nil)
			if o.Status == kit.Failed {
				fails = append(fails, strings.TrimPrefix(o.ID, "player."))
			}
			if o.Status == kit.Skipped {
				t.Errorf("%s: %s is skipped: %s", name, o.ID, o.Detail)
			}
		}
		if slices.Sort(fails); !slices.Equal(fails, c.fails) {
			t.Errorf("%s: fails %q, want %q", name, fails, c.fails)
		}
	}
}

// An agent that accepts whatever it is sent fails every hostile check that it can;
// one that drops connections fails them as well.
func TestAttacksFindTheBrokenAgent(t *testing.T) {
	t.Parallel()
	accepted := []byte(`{"jsonrpc":"2.0","id":1,"result":{"status":"ok"}}`)
	for name, c := range map[string]struct {
		agent  kit.Response
		passes []string
	}{
		// A type that it does not know may be acknowledged; it refuses nothing, so that it has no codes.
		"accepts":   {kit.Response{Body: accepted}, []string{"form", "then", "type"}},
		"hangs up":  {kit.Response{Hangup: true}, []string{"form"}},
		"is silent": {kit.Response{Status: http.StatusBadRequest}, []string{"form", "verb"}},
		// A refusal in words of its own is one, but an agent that refuses the good message as well is of no use.
		"is plain": {kit.Response{Status: http.StatusBadRequest, Body: []byte("no")}, []string{
			"batch", "deep", "duplicate", "empty", "json", "long", "media", "method", "protocol", "trailing", "type", "utf8", "verb", "version", "zone",
		}},
	} {
		agent := listen(t, func(*trace.Exchange, http.Header) kit.Response { return c.agent })
		s := session(t, agent.URL)
		var passes []string
		for _, check := range kit.AttackChecks(kit.Player, nil, kit.Attacks("report_match_result"), completed, kit.Check{Run: func(t *kit.T) { t.Accepted(t.Send(completed(t)), "") }}) {
			if o := s.Run(t.Context(), noPeers{}, check, nil); o.Status == kit.Passed {
				passes = append(passes, strings.TrimPrefix(o.ID, "player.hostile."))
			}
		}
		if slices.Sort(passes); !slices.Equal(passes, c.passes) {
			t.Errorf("an agent that %s passes %q, want %q", name, passes, c.passes)
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
