package conformance

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
)

// attack is one kind of message that is not to be taken, made of a good one.
type attack struct {
	name  string
	level Level
	what  string
	code  int // that the refusal should bear; 0 asks for none
	send  func(t *T, valid func() letter) *Answer
}

// attacks are made of a message of a type. The method wrong is that of another.
func attacks(typ protocol.Type, wrong string) []attack {
	body := func(change func(body []byte) []byte) func(*T, func() letter) *Answer {
		return func(t *T, valid func() letter) *Answer { return ReadAnswer(t.Post(change(t.body(valid())), nil)) }
	}
	member := func(name string, value any) func(*T, func() letter) *Answer {
		return func(t *T, valid func() letter) *Answer {
			l := valid()
			l.edit = func(m map[string]any) { m[name] = value }
			return t.Send(l)
		}
	}
	replace := func(old, with string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(with), 1) }
	}
	own := fmt.Sprintf(`"message_type":"%s"`, typ)
	return []attack{
		{"json", Should, "A body that is no JSON", -32700, body(func(b []byte) []byte { return b[:len(b)/2] })},
		{"empty", Should, "An empty body", -32700, body(func([]byte) []byte { return nil })},
		{"trailing", Should, "A body with data behind the JSON document", -32700, body(func(b []byte) []byte { return append(b, `{"x":1}`...) })},
		{"duplicate", Wild, "A body in which a member stands twice, which two readers understand differently,", -32700, body(replace(own, `"message_type":"GAME_OVER",`+own))},
		{"utf8", Wild, "A body that is not UTF-8", -32700, body(replace(own, own+",\"x\":\"\xff\xfe\""))},
		{"deep", Should, "A body nested 20,000 deep", -32700, body(replace(own, own+`,"x":`+strings.Repeat("[", tooDeep)+strings.Repeat("]", tooDeep)))},
		{"batch", Should, "A JSON-RPC batch", -32600, body(func(b []byte) []byte { return append(append([]byte("["), b...), ']') })},
		{"version", Wild, `A jsonrpc member other than "2.0"`, -32600, body(replace(`"jsonrpc":"2.0"`, `"jsonrpc":"1.0"`))},
		{"method", Wild, "A message whose method belongs to another message_type", -32600, func(t *T, valid func() letter) *Answer {
			l := valid()
			l.dialect, l.method = nil, wrong
			return t.Send(l)
		}},
		{"long", Wild, "A body longer than 1 MiB", 0, member("x", padding(tooLong))},
		{"media", Wild, "A body that is declared as something else than application/json", 0, func(t *T, valid func() letter) *Answer {
			l := valid()
			l.header = http.Header{"Content-Type": {"text/plain"}}
			return t.Send(l)
		}},
		{"protocol", Should, `A message of another protocol than "league.v2"`, -32602, member("protocol", "league.v9")},
		{"zone", Wild, "A message whose timestamp is not in UTC", -32602, member("timestamp", "2026-03-14T11:10:13+02:00")},
		{"type", Should, "A message of a type that league.v2 does not have", 0, func(t *T, valid func() letter) *Answer {
			l := valid()
			l.method = methodOf(l.dialect, "notify_weather")
			l.edit = func(m map[string]any) { m["message_type"] = "WEATHER_REPORT" }
			if a := t.Send(l); a.Err != nil || a.Document == nil {
				return a
			}
			// An acknowledgement does no harm.
			return &Answer{Refused: true}
		}},
	}
}

// attackChecks make checks of attacks on an agent of a role.
func attackChecks(role Role, all []attack, valid func(t *T) letter) []Check {
	var checks []Check
	for _, x := range all {
		checks = append(checks, Check{
			ID: fmt.Sprintf("%s.hostile.%s", role, x.name), Level: x.level,
			Rule:   x.what + " is refused by a JSON-RPC error, and the connection is not dropped (league.v2, validation).",
			Advice: "Check the input before it is used, and answer every failure by a JSON-RPC error; catch what the JSON reader throws.",
			run:    func(t *T) { t.refused(x.send(t, func() letter { return valid(t) })) },
		})
	}
	return append(checks,
		Check{
			ID: string(role) + ".hostile.verb", Level: Wild,
			Rule:   "The endpoint takes POST only; GET is refused (league.v2, transport).",
			Advice: "Answer other verbs with HTTP 405.",
			run:    func(t *T) { refusesGet(playerT{T: t}) },
		},
		Check{
			ID: string(role) + ".hostile.codes", Level: Wild,
			Rule:   "A refusal bears the code of its cause: -32700 for what is no JSON, -32600 for what is no request, -32602 for wrong members (league.v2, errors).",
			Advice: "Use the codes of JSON-RPC 2.0, section 5.1.",
			run: func(t *T) {
				for _, x := range all {
					if x.code == 0 {
						continue
					}
					// What is taken, or refused without a code, is another check's matter.
					if a := x.send(t, func() letter { return valid(t) }); a.Refused && a.Code != 0 && a.Code != x.code {
						t.Fail("%s is refused with %d, want %d", x.what, a.Code, x.code)
					}
				}
			},
		},
	)
}

// parseHTTP reads the URL of an agent that speaks plain HTTP.
func parseHTTP(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err == nil && u.Scheme != "http" {
		err = fmt.Errorf("%s is not plain HTTP", raw)
	}
	return u, err
}
