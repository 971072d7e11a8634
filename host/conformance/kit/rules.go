package kit

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// HeaderRule is a rule about the header of messages of every role.
type HeaderRule struct {
	Rule   string
	Advice string
	// Breach says how a message breaks the rule; "" if it does not. The rule
	// Frame is about the whole JSON-RPC document, all others are about the
	// message in it.
	Breach func(m Fields) string
}

// The rules about headers that the protocol's table does not have. A missing timestamp is
// no breach.
var (
	Frame = HeaderRule{
		`A request is JSON-RPC 2.0: jsonrpc is "2.0", and it has a method and an id that is a string or a number (league.v2, transport).`,
		`Send {"jsonrpc": "2.0", "method": "...", "params": {...}, "id": "1"}.`, frameBreach,
	}
	WholeSeconds = HeaderRule{
		"A timestamp has whole seconds and ends in Z: every receiver reads that spelling (observed in real leagues).",
		"Leave the fraction out, and write Z instead of +00:00.", secondsBreach,
	}
)

func frameBreach(doc Fields) string {
	switch {
	case doc.Text("jsonrpc") != "2.0":
		return fmt.Sprintf(`jsonrpc is %s, want "2.0"`, doc.Shown("jsonrpc"))
	case doc.Text("method") == "":
		return fmt.Sprintf("method is %s, want a string", doc.Shown("method"))
	case !doc.HasID():
		return fmt.Sprintf("id is %s, want a string or a number", doc.Shown("id"))
	}
	return ""
}

func secondsBreach(m Fields) string {
	stamp := m.Text("timestamp")
	if _, err := protocol.ParseTimestamp(stamp); err == nil && (strings.Contains(stamp, ".") || !strings.HasSuffix(stamp, "Z")) {
		return fmt.Sprintf("timestamp is %q", stamp)
	}
	return ""
}

// FieldsCheck is the rule that messages of a type keep the protocol's table of their
// members. Run finds one and passes it to [T.Valid].
func FieldsCheck(id string, typ protocol.Type, needs []string, run func(t *T)) Check {
	return Check{
		ID: id, Level: Should, Needs: needs, Run: run,
		Rule:   fmt.Sprintf("%s has the header and all members that the protocol demands, each of its kind; times are in UTC and end in Z or +00:00 (%s).", typ, typ),
		Advice: "Add or correct the members that are named; docs/protocol/examples has a message of every type.",
	}
}

// Valid ends the check if a message breaks the table of a type. An answer needs no sender
// and no conversation.
func (t *T) Valid(m Fields, typ protocol.Type, answer bool) {
	doc, err := rawjson.Parse(m.Doc().Encode())
	var header *protocol.Header
	if !answer {
		h := protocol.ReadHeader(doc)
		header = &h
	}
	if err == nil {
		_, err = protocol.Decode(typ, doc, protocol.Strict, header)
	}
	refusal, listed := errors.AsType[*protocol.Error](err)
	switch {
	case err == nil:
		return
	case !listed || len(refusal.Violations) == 0:
		t.Fail("%s: %v", typ, err)
	}
	var found []string
	for _, v := range refusal.Violations {
		name := strings.ReplaceAll(strings.TrimPrefix(v.Path, "/"), "/", ".")
		switch {
		case v.Rule == "required":
			name += " is missing"
		case m[name] != nil:
			name += fmt.Sprintf(" is %s, against the rule %q", m[name], v.Rule)
		default:
			name += fmt.Sprintf(" is against the rule %q", v.Rule)
		}
		found = append(found, name)
	}
	t.Fail("%s", strings.Join(found, "; "))
}

// Check returns a check of the rule.
func (r HeaderRule) Check(id string, level Level, needs []string, run func(t *T)) Check {
	return Check{ID: id, Level: level, Needs: needs, Rule: r.Rule, Advice: r.Advice, Run: run}
}

// Test ends the check if a message breaks the rule. Show, if set, then adds the
// message to the evidence; what names the message.
func (r HeaderRule) Test(t *T, what string, m Fields, show func()) {
	breach := r.Breach(m)
	if breach == "" {
		return
	}
	if show != nil {
		show()
	}
	if what != "" {
		breach = what + ": " + breach
	}
	t.Fail("%s", breach)
}

// IsJSON reports whether a Content-Type declares JSON in UTF-8.
func IsJSON(contentType string) bool {
	media, params, err := mime.ParseMediaType(contentType)
	charset, named := params["charset"]
	return err == nil && media == "application/json" && (!named || strings.EqualFold(charset, "utf-8"))
}

// WrapsInRPC skips a check of JSON-RPC if the agent is sent messages without.
func (r Request) WrapsInRPC(t *T) {
	if t.form(r).Dialect.Request.Bare {
		t.Skip("it takes messages without JSON-RPC and is sent them without")
	}
}

// AckCheck tests that a message of a type is acknowledged.
func AckCheck(id string, typ protocol.Type, needs []string, send func(t *T) *Answer) Check {
	return Check{
		ID: id, Level: Should, Needs: needs, Rule: fmt.Sprintf("%s is answered by %s, within 10 s.", typ, typ.Answer()),
		Advice: `Answer with the acknowledgement, such as {"protocol": "league.v2", "message_type": "GAME_OVER_ACK", ..., "status": "ACKNOWLEDGED"}, and do the work afterwards; dispatch by message_type whatever the method is called.`,
		Run:    func(t *T) { t.Accepted(send(t), typ.Answer()) },
	}
}

// IDChecks test that answers repeat the JSON-RPC id of their request.
func IDChecks(role Role, needs []string, sample Sample) []Check {
	check := func(name string, level Level, id, what string) Check {
		return Check{
			ID: fmt.Sprintf("%s.rpc.%s", role, name), Level: level, Needs: needs,
			Rule:   "An answer has the id of its request with its type kept: " + what + " (JSON-RPC 2.0, response object).",
			Advice: "Return the id as it was parsed; never convert it.",
			Run: func(t *T) {
				r := sample(t)
				r.WrapsInRPC(t)
				r.ID = id
				a := t.Send(r)
				switch {
				case a.Wrapping == "request":
					t.Skip("its answers are requests, with ids of their own")
				case a.Refused && t.repeated(id):
					return
				case a.Plain:
					t.Skip("it answers with HTTP %d, which repeats no id; see %s.hostile.form", a.Status, role)
				case t.Session.control == nil || !a.Refused:
					t.Accepted(a, "")
				}
				if got := string(a.Document["id"]); got != id {
					t.Fail("the id %s came back as %s", id, a.Document.Shown("id"))
				}
			},
		}
	}
	return []Check{
		check("string", Should, `"42"`, "a string stays a string, even one of digits"),
		check("number", Should, `42`, "a number stays a number"),
		check("large", Should, `9007199254740993`, "a number beyond 2^53 keeps its digits"),
	}
}

// repeated reports whether an answer to a request that was accepted earlier has
// repeated an id of the kind of another, and ends the check if it has not.
func (t *T) repeated(id string) bool {
	s := t.Session
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seen := range s.ids {
		sent, got := seen[0], seen[1]
		if (sent[0] == '"') != (id[0] == '"') || len(id) > len(`"42"`) {
			continue
		}
		if got != sent {
			t.Fail("the id %s came back as %s", sent, got)
		}
		return true
	}
	return false
}

// NoIDCheck tests that requests without an id are refused, or taken for notifications.
func NoIDCheck(role Role, needs []string, sample Sample) Check {
	return Check{
		ID: string(role) + ".rpc.noid", Level: Should, Needs: needs,
		Rule: "A request of the league without an id is refused with id null (league.v2, transport), or acted on and answered by 202 or 204 " +
			"without a body, as a notification (JSON-RPC 2.0, section 4.1).",
		Advice: "Answer a request without id by the error -32600 with id null.",
		Run: func(t *T) {
			r := sample(t)
			r.WrapsInRPC(t)
			r.NoID = true
			a := t.Send(r)
			if (a.Status == http.StatusAccepted || a.Status == http.StatusNoContent) && len(a.Body) == 0 {
				return
			}
			t.TurnedDown(a)
			if a.Document.Has("id") {
				t.Fail("it is refused with the id %s, want null", a.Document.Shown("id"))
			}
		},
	}
}

// Wrappings are the rules about the wrappings of messages.
func Wrappings() []Wrapping {
	return []Wrapping{
		{dialect.Envelope, "A message to league.handle, with the header in params.envelope and the rest in params.payload, is answered in result.envelope and result.payload."},
		{dialect.Tool, "A message by tools/call with params.name and params.arguments is answered as a tool result, in structuredContent or as text in content."},
		{dialect.ToolIO, "A message by tools/call with params.tool and params.input is answered in result.output."},
		{dialect.Bare, "A message without JSON-RPC is answered without, or refused."},
	}
}

// Wrapping is a dialect and the rule that it is answered in kind.
type Wrapping struct {
	Dialect *dialect.Dialect
	Rule    string
}

// FindByWrapping is the advice to an agent that does not understand a wrapping.
const FindByWrapping = "Look for the message where its wrapping puts it, dispatch by message_type, and answer in the same wrapping."

// Check returns a check of the wrapping.
func (w Wrapping) Check(role Role, needs []string, run func(t *T, d *dialect.Dialect)) Check {
	return Check{
		ID: fmt.Sprintf("%s.dialect.%s", role, w.Dialect.Name), Level: Wild, Needs: needs, Rule: w.Rule + " (league.v2, dialects)",
		Advice: FindByWrapping, Run: func(t *T) { run(t, t.OfKind(w.Dialect)) },
	}
}

// AnsweredIn ends the check unless an answer accepts a request in a dialect and
// is in that dialect itself. Strict agents may refuse what is bare: it then
// returns false.
func (t *T) AnsweredIn(a *Answer, d *dialect.Dialect) bool {
	if d == dialect.Bare && a.Refused {
		t.Note("refused, as in strict mode: %s", a)
		return false
	}
	t.Accepted(a, "")
	if a.Wrapping != wrappingOf(d) {
		t.Fail("asked in %s, it answers in %s", d.Name, a.Wrapping)
	}
	return true
}

// wrappingOf returns what Answer.Wrapping calls the answers of a dialect.
func wrappingOf(d *dialect.Dialect) string {
	switch place := d.Answer; {
	case place.Bare:
		return dialect.Bare.Name
	case place.Content:
		return dialect.Tool.Name
	case place.Header != "":
		return dialect.Envelope.Name
	case place.Name != "":
		return dialect.ToolIO.Name
	}
	return dialect.Contracts.Name
}

// DialectChecks test that a message is answered in its own wrapping.
func DialectChecks(role Role, needs []string, sample Sample) []Check {
	var checks []Check
	for _, w := range Wrappings() {
		checks = append(checks, w.Check(role, needs, func(t *T, d *dialect.Dialect) {
			r := sample(t)
			t.NeedsAccepted()
			r.Dialect = d
			t.AnsweredIn(t.Send(r), d)
		}))
	}
	return checks
}

// MethodChecks test that a message is accepted under methods of other names.
func MethodChecks(role Role, needs []string, sample Sample) []Check {
	check := func(name, rule string, method func(protocol.Type) string) Check {
		return Check{
			ID: fmt.Sprintf("%s.dialect.%s", role, name), Level: Wild, Needs: needs, Rule: rule,
			Advice: "Dispatch by message_type, wherever it is, and not by the method.",
			Run: func(t *T) {
				r := sample(t)
				t.NeedsAccepted()
				r.HasMethods(t)
				r.Method = method(r.Message.Head().MessageType)
				t.Accepted(t.Send(r), "")
			},
		}
	}
	return []Check{
		check("type", TypeAsMethod, func(t protocol.Type) string { return string(t) }),
		check("unknown", UnknownMethod, func(protocol.Type) string { return "unknown" }),
	}
}

// The rules about methods of other names.
const (
	TypeAsMethod  = "A message whose method is its message_type is accepted (observed in real leagues)."
	UnknownMethod = "A message with a known message_type is accepted under an unknown method (observed in real leagues)."
)

// HasMethods skips a check of methods if the agent's dialect has none.
func (r Request) HasMethods(t *T) {
	if d := t.form(r).Dialect; d.Request.Method != "" || d.Request.Bare {
		t.Skip("it is sent messages in %s, in which methods do not matter", d.Name)
	}
}

// QuietCheck tests that a refusal does not repeat a token. An agent that accepts
// the sample with a forged token is for another check to find.
func QuietCheck(role Role, needs []string, sample Sample) Check {
	return Check{
		ID: string(role) + ".auth.quiet", Level: Should, Needs: needs,
		Rule: "A refusal does not repeat the token that was sent (league.v2, errors).", Advice: "Leave tokens out of error texts, or cut them.",
		Run: func(t *T) {
			r := sample(t)
			r.Message.Head().AuthToken = Forged
			if a := t.Send(r); a.Refused && bytes.Contains(a.Body, []byte(Forged)) {
				t.Fail("the refusal repeats the whole token")
			}
		},
	}
}

// StalledCheck tests that a slow peer does not hold up others. An agent may
// take a moment to notice a peer that has sent half a request, and hold up
// others only then; so it is sent several messages.
func StalledCheck(role Role, needs []string, send func(t *T) func() *Answer) Check {
	return Check{
		ID: string(role) + ".load.stalled", Level: Should, Needs: needs,
		Rule:   "A peer that sends slowly does not hold up others: while one request is in progress, other requests are answered.",
		Advice: "Serve requests concurrently; in Python, use ThreadingHTTPServer instead of HTTPServer.",
		Run: func(t *T) {
			const messages, pause = 10, 25 * time.Millisecond
			next := send(t)
			defer t.stall().Close() // only its presence mattered
			for range messages {
				a := next()
				if a.Err != nil {
					t.Fail("while another peer had sent half a request, a message was not answered: %v", a.Err)
				}
				if t.Session.control == nil || !a.Refused {
					t.Accepted(a, "")
				}
				select {
				case <-time.After(pause):
				case <-t.ctx.Done():
				}
			}
		},
	}
}

// stall opens a connection and sends the beginning of a request.
func (t *T) stall() net.Conn {
	u, err := url.Parse(t.Session.URL)
	if err != nil || u.Scheme != "http" {
		t.Skip("it can only be tested over plain HTTP")
	}
	conn, err := dial(t.ctx, t.Session.URL)
	if err == nil {
		_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"jsonrpc\":", u.RequestURI(), u.Host)
	}
	if err != nil {
		t.Fail("no second connection: %v", err)
	}
	return conn
}
