package kit

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/dialect"
)

// Sizes of hostile messages. The protocol allows 1 MiB. The long message is
// only a little longer: of a much longer one, a server that answers at once
// would leave a part unread, and the answer could be lost with the connection.
const (
	tooLong = 1<<20 + 64<<10
	tooDeep = 20_000
)

// Attack is one kind of hostile message, made from a valid one: by a change of its
// encoding, by an edit of its members, or by Send.
type Attack struct {
	Name   string
	Level  Level
	What   string // the subject of the rule
	Advice string
	Code   int // that the refusal should have; 0 for any
	Body   func(body []byte) []byte
	Edit   Edit
	Send   func(t *T, valid Request) *Answer
}

// send makes the attack. It returns nil if the agent's dialect has no place for it.
func (x Attack) send(t *T, valid Request) *Answer {
	switch {
	case x.Send != nil:
		return x.Send(t, valid)
	case x.Body == nil:
		valid.Edit = x.Edit
		return t.Send(valid)
	}
	out := t.encode(valid)
	changed := x.Body(slices.Clone(out.Body))
	if bytes.Equal(changed, out.Body) {
		return nil
	}
	out.Body = changed
	return t.deliver(out)
}

// insert adds members before that of the type.
func insert(text string) func([]byte) []byte {
	const own = `"message_type":`
	return func(b []byte) []byte { return bytes.Replace(b, []byte(own), []byte(text+","+own), 1) }
}

// Attacks returns the attacks made from any message. The method is that of
// another type.
func Attacks(method string) []Attack {
	return []Attack{
		{Name: "json", Level: Should, Code: -32700, What: "A body that is not JSON", Advice: "Catch what the JSON reader throws, and answer -32700 with id null.",
			Body: func(b []byte) []byte { return b[:len(b)/2] }},
		{Name: "empty", Level: Should, Code: -32700, What: "An empty body", Advice: "Treat a missing or zero Content-Length like a body that is not JSON: answer -32700.",
			Body: func([]byte) []byte { return nil }},
		{Name: "trailing", Level: Should, Code: -32700, What: "A body with data after the JSON document",
			Advice: "Read to the end of the body, and answer -32700 if anything follows the document.", Body: func(b []byte) []byte { return append(b, `{"x":1}`...) }},
		{Name: "duplicate", Level: Wild, Code: -32700, What: "A body in which a member appears twice, so that two readers understand it differently,",
			Advice: "Have the JSON reader refuse duplicate names; in Python, with object_pairs_hook.", Body: insert(`"message_type":"GAME_OVER"`)},
		{Name: "utf8", Level: Wild, Code: -32700, What: "A body that is not UTF-8", Advice: "Decode the body as UTF-8 with errors raised, and answer -32700.", Body: insert("\"x\":\"\xff\xfe\"")},
		{Name: "deep", Level: Should, Code: -32700, What: "A body nested 20,000 deep", Advice: "Limit the depth that is read, and catch what the reader throws beyond it (RecursionError in Python).",
			Body: insert(`"x":` + strings.Repeat("[", tooDeep) + strings.Repeat("]", tooDeep))},
		{Name: "batch", Level: Should, Code: -32600, What: "A JSON-RPC batch", Advice: "Answer -32600 to anything but a JSON object.",
			Body: func(b []byte) []byte { return append(append([]byte("["), b...), ']') }},
		{Name: "version", Level: Wild, Code: -32600, What: `A jsonrpc member other than "2.0"`, Advice: `Compare jsonrpc with "2.0", and answer -32600 otherwise.`,
			Body: func(b []byte) []byte {
				return bytes.Replace(b, []byte(`"jsonrpc":"2.0"`), []byte(`"jsonrpc":"1.0"`), 1)
			}},
		{Name: "method", Level: Wild, Code: -32600, What: "A message whose method belongs to another message_type", Advice: "If the method is the name of another message, answer -32600.",
			Send: func(t *T, valid Request) *Answer {
				valid.Dialect, valid.Method = t.OfKind(dialect.Contracts), method
				return t.Send(valid)
			}},
		{Name: "long", Level: Wild, What: "A body longer than 1 MiB", Advice: "Look at Content-Length before reading, and answer HTTP 413 above 1 MiB.", Edit: Set("x", strings.Repeat("x", tooLong))},
		{Name: "media", Level: Wild, What: "A body whose Content-Type is not application/json", Advice: "Answer HTTP 415 unless Content-Type is application/json.",
			Send: func(t *T, valid Request) *Answer {
				valid.Header = http.Header{"Content-Type": {"text/plain"}}
				return t.Send(valid)
			}},
		{Name: "protocol", Level: Should, Code: -32602, What: `A message of another protocol than "league.v2"`, Advice: `Compare protocol with "league.v2", and answer -32602 (E018).`, Edit: Set("protocol", "league.v9")},
		{Name: "zone", Level: Wild, Code: -32602, What: "A message whose timestamp is not in UTC", Advice: "Refuse a timestamp that does not end in Z or +00:00 (E021).", Edit: Set("timestamp", "2026-03-14T11:10:13+02:00")},
		{Name: "type", Level: Should, What: "A message of a type that league.v2 does not have", Advice: "Let the dispatch end in a branch for everything else.", Send: sendUnknownType},
	}
}

func sendUnknownType(t *T, valid Request) *Answer {
	if d := t.form(valid).Dialect; d.Request.Method == "" && !d.Request.Bare {
		valid.Method = "notify_weather"
	}
	valid.Edit = Set("message_type", "WEATHER_REPORT")
	if a := t.Send(valid); a.Err != nil || a.Document == nil {
		return a
	}
	return &Answer{Refused: true} // an acknowledgement does no harm
}

// AttackChecks test that an agent refuses attacks and survives them.
func AttackChecks(role Role, needs []string, all []Attack, sample Sample, survives Check) []Check {
	var checks []Check
	for _, x := range all {
		rule := x.What + " is refused by a JSON-RPC error, and the connection is not dropped (league.v2, validation)."
		if x.Name == "type" {
			rule = x.What + " is refused (-32601) or acknowledged, and does no harm (league.v2, validation)."
		}
		checks = append(checks, Check{
			ID: fmt.Sprintf("%s.hostile.%s", role, x.Name), Level: x.Level, Needs: needs, Rule: rule, Advice: x.Advice,
			Run: func(t *T) {
				valid := sample(t)
				a := x.send(t, valid)
				if a == nil {
					t.Skip("it takes %s by %s, which has no place for that", valid.Message.Head().MessageType, t.form(valid))
				}
				t.TurnedDown(a)
			},
		})
	}
	survives.ID, survives.Level = string(role)+".hostile.then", Must
	survives.Advice = "Let no input end or block the process: handle each request separately, and release locks when one fails."
	return append(checks,
		Check{
			ID: string(role) + ".hostile.form", Level: Should,
			Rule:   "A refusal is a JSON-RPC error, or a result that says why; an HTTP status alone is not one (league.v2, errors).",
			Advice: `Answer {"jsonrpc": "2.0", "id": ..., "error": {"code": -32600, "message": "..."}}; in FastAPI, write exception handlers for RequestValidationError and HTTPException.`,
			Run: func(t *T) {
				if e := t.Session.plain.Load(); e != nil { // of all refusals so far
					t.Keep(*e)
					t.Fail("it is refused with HTTP %d, without an error of JSON-RPC", e.Status)
				}
			},
		},
		Check{
			ID: string(role) + ".hostile.verb", Level: Wild, Needs: needs,
			Rule: "The endpoint accepts POST only; GET is refused (league.v2, transport).", Advice: "Answer other methods with HTTP 405.", Run: refusesGet,
		},
		Check{
			ID: string(role) + ".hostile.codes", Level: Wild, Needs: needs,
			Rule:   "A refusal has the code of its cause: -32700 for a body that is not JSON, -32600 for one that is not a request, -32602 for wrong members (league.v2, errors).",
			Advice: "Use the codes of JSON-RPC 2.0, section 5.1.",
			Run:    func(t *T) { refusesByCode(t, all, sample) },
		},
		survives,
	)
}

func refusesByCode(t *T, all []Attack, sample Sample) {
	coded := 0
	for _, x := range all {
		if x.Code == 0 {
			continue
		}
		// Acceptance, and a refusal without a code, are for other checks to find.
		a := x.send(t, sample(t))
		if a == nil || !a.Refused || a.Code == 0 {
			continue
		}
		coded++
		if a.Code != x.Code {
			t.Fail("%s is refused with %d, want %d", x.What, a.Code, x.Code)
		}
	}
	if coded == 0 {
		t.Skip("it refuses nothing with a code")
	}
}

func refusesGet(t *T) {
	resp, err := t.Session.Get(t.ctx, t.Session.URL, t.Session.Timeout)
	e := Evidence{To: t.Session.URL, Request: "GET"}
	if err != nil {
		e.Error = err.Error()
		t.Keep(e)
		t.Fail("the connection was dropped instead of answered: %v", err)
	}
	e.Status = resp.StatusCode
	t.Keep(e)
	// MCP serves event streams by GET.
	if resp.StatusCode < 400 && !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		t.Fail("GET is answered with HTTP %d", resp.StatusCode)
	}
}
