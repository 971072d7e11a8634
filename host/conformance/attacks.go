package conformance

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
)

// Sizes of hostile messages. By the protocol 1 MiB is taken in. What is longer is
// so by little: of much more, a server that answers at once would leave a part
// unread, and the answer could be lost with the connection.
const (
	tooLong = 1<<20 + 64<<10
	tooDeep = 20_000
)

// attack is one kind of message that is not to be taken, made of a good one.
type attack struct {
	name   string
	level  Level
	what   string
	advice string
	code   int // that the refusal should bear; 0 asks for none
	// send sends it. It returns nil where the agent is spoken to in a dialect that
	// has no place for such a thing.
	send func(t *T, valid func() letter) *Answer
}

// bodyAttack makes an attack of a change to the text of a message.
func bodyAttack(change func(body []byte) []byte) func(*T, func() letter) *Answer {
	return func(t *T, valid func() letter) *Answer {
		body := t.body(valid())
		changed := change(slices.Clone(body))
		if bytes.Equal(changed, body) {
			return nil
		}
		return ReadAnswer(t.Post(changed, nil))
	}
}

// memberAttack makes one of a change to the members of a message.
func memberAttack(edit func(m map[string]any)) func(*T, func() letter) *Answer {
	return func(t *T, valid func() letter) *Answer {
		l := valid()
		l.edit = edit
		return t.Send(l)
	}
}

// attacks are made of a message of a type. The method wrong is that of another.
func attacks(typ protocol.Type, wrong string) []attack {
	return slices.Concat(textAttacks(typ), frameAttacks(wrong), headerAttacks())
}

// textAttacks are about what JSON is.
func textAttacks(typ protocol.Type) []attack {
	own := fmt.Sprintf(`"message_type":"%s"`, typ)
	before := func(text string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.Replace(b, []byte(own), []byte(text+","+own), 1) }
	}
	return []attack{
		{"json", Should, "A body that is no JSON", "Catch what the JSON reader throws, and answer -32700 with id null.", -32700,
			bodyAttack(func(b []byte) []byte { return b[:len(b)/2] })},
		{"empty", Should, "An empty body", "Treat a missing or zero Content-Length as a body that is no JSON: answer -32700.", -32700,
			bodyAttack(func([]byte) []byte { return nil })},
		{"trailing", Should, "A body with data behind the JSON document", "Read to the end of the body, and answer -32700 if anything follows the document.", -32700,
			bodyAttack(func(b []byte) []byte { return append(b, `{"x":1}`...) })},
		{"duplicate", Wild, "A body in which a member stands twice, which two readers understand differently,",
			"Have the JSON reader refuse duplicate names; in Python, by object_pairs_hook.", -32700, bodyAttack(before(`"message_type":"GAME_OVER"`))},
		{"utf8", Wild, "A body that is not UTF-8", "Decode the body as UTF-8 with errors raised, and answer -32700.", -32700, bodyAttack(before("\"x\":\"\xff\xfe\""))},
		{"deep", Should, "A body nested 20,000 deep", "Bound the depth that is read, and catch what the reader throws beyond it (RecursionError in Python).", -32700,
			bodyAttack(before(`"x":` + strings.Repeat("[", tooDeep) + strings.Repeat("]", tooDeep)))},
	}
}

// frameAttacks are about JSON-RPC and HTTP.
func frameAttacks(wrong string) []attack {
	return []attack{
		{"batch", Should, "A JSON-RPC batch", "Answer -32600 to anything but a JSON object.", -32600,
			bodyAttack(func(b []byte) []byte { return append(append([]byte("["), b...), ']') })},
		{"version", Wild, `A jsonrpc member other than "2.0"`, `Compare jsonrpc with "2.0", and answer -32600 otherwise.`, -32600,
			bodyAttack(func(b []byte) []byte {
				return bytes.Replace(b, []byte(`"jsonrpc":"2.0"`), []byte(`"jsonrpc":"1.0"`), 1)
			})},
		{"method", Wild, "A message whose method belongs to another message_type", "Where the method is the name of another message, answer -32600.", -32600,
			func(t *T, valid func() letter) *Answer {
				l := valid()
				l.dialect, l.method = nil, wrong
				return t.Send(l)
			}},
		{"long", Wild, "A body longer than 1 MiB", "Look at Content-Length before reading, and answer HTTP 413 above 1 MiB.", 0,
			memberAttack(with("x", padding(tooLong)))},
		{"media", Wild, "A body that is declared as something else than application/json", "Answer HTTP 415 unless Content-Type is application/json.", 0,
			func(t *T, valid func() letter) *Answer {
				l := valid()
				l.header = http.Header{"Content-Type": {"text/plain"}}
				return t.Send(l)
			}},
	}
}

// headerAttacks are about the fields that all messages have.
func headerAttacks() []attack {
	return []attack{
		{"protocol", Should, `A message of another protocol than "league.v2"`, `Compare protocol with "league.v2", and answer -32602 (E018).`, -32602,
			memberAttack(with("protocol", "league.v9"))},
		{"zone", Wild, "A message whose timestamp is not in UTC", "Refuse a timestamp that does not end in Z or +00:00 (E021).", -32602,
			memberAttack(with("timestamp", "2026-03-14T11:10:13+02:00"))},
		{"type", Should, "A message of a type that league.v2 does not have", "Let the dispatch end in a branch for everything else.", 0,
			func(t *T, valid func() letter) *Answer {
				l := valid()
				l.method = methodOf(l.dialect, "notify_weather")
				l.edit = with("message_type", "WEATHER_REPORT")
				if a := t.Send(l); a.Err != nil || a.Document == nil {
					return a
				}
				// An acknowledgement does no harm.
				return &Answer{Refused: true}
			}},
	}
}

// methodOf is a method name in a dialect: its own one where it has but one.
func methodOf(d *protocol.Dialect, name string) string {
	if d.Request.Method != "" || d.Request.Bare {
		return ""
	}
	return name
}

// attackChecks make checks of attacks on an agent of a role.
func attackChecks(role Role, all []attack, valid func(t *T) letter) []Check {
	var checks []Check
	for _, x := range all {
		check := Check{
			ID: fmt.Sprintf("%s.hostile.%s", role, x.name), Level: x.level, Advice: x.advice,
			Rule: x.what + " is refused by a JSON-RPC error, and the connection is not dropped (league.v2, validation).",
			run: func(t *T) {
				l := valid(t)
				a := x.send(t, func() letter { return l })
				if a == nil {
					t.Skip("it is spoken to in %s, which has no place for that", l.dialect.Name)
				}
				t.refused(a)
			},
		}
		if x.name == "type" {
			check.Rule = x.what + " is refused (-32601) or acknowledged, and does no harm (league.v2, validation)."
		}
		checks = append(checks, check)
	}
	return append(checks,
		Check{
			ID: string(role) + ".hostile.verb", Level: Wild,
			Rule:   "The endpoint takes POST only; GET is refused (league.v2, transport).",
			Advice: "Answer other verbs with HTTP 405.",
			run:    refusesGet,
		},
		Check{
			ID: string(role) + ".hostile.codes", Level: Wild,
			Rule:   "A refusal bears the code of its cause: -32700 for what is no JSON, -32600 for what is no request, -32602 for wrong members (league.v2, errors).",
			Advice: "Use the codes of JSON-RPC 2.0, section 5.1.",
			run:    func(t *T) { refusesByCode(t, all, valid) },
		},
	)
}

func refusesByCode(t *T, all []attack, valid func(t *T) letter) {
	coded := 0
	for _, x := range all {
		if x.code == 0 {
			continue
		}
		// What is taken, or refused without a code, is another check's matter.
		a := x.send(t, func() letter { return valid(t) })
		if a == nil || !a.Refused || a.Code == 0 {
			continue
		}
		coded++
		if a.Code != x.code {
			t.Fail("%s is refused with %d, want %d", x.what, a.Code, x.code)
		}
	}
	if coded == 0 {
		t.Skip("nothing that it is sent is refused with a code")
	}
}

func refusesGet(t *T) {
	req, err := http.NewRequestWithContext(t.ctx, http.MethodGet, t.counter.opts.URL, nil)
	if err != nil {
		t.Skip("%v", err)
	}
	client := &http.Client{Timeout: t.counter.opts.Timeout, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	e := Evidence{To: t.counter.opts.URL, Request: "GET"}
	if err != nil {
		e.Error = err.Error()
		t.keep(e)
		t.Fail("the connection was dropped instead of answered: %v", err)
	}
	if err := resp.Body.Close(); err != nil {
		e.Error = err.Error()
	}
	e.Status = resp.StatusCode
	t.keep(e)
	// MCP serves event streams by GET.
	if resp.StatusCode < 400 && !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		t.Fail("GET is answered with HTTP %d", resp.StatusCode)
	}
}

// parseHTTP reads the URL of an agent that speaks plain HTTP.
func parseHTTP(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err == nil && u.Scheme != "http" {
		err = fmt.Errorf("%s is not plain HTTP", raw)
	}
	return u, err
}
