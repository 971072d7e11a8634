package conformance

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
)

// hostile is one kind of message that is not to be taken.
type hostile struct {
	name   string
	level  Level
	rule   string
	advice string
	// send sends it; the answer must be a refusal. It is nil where the player is
	// spoken to in a dialect that has no place for such a thing.
	send func(p playerT) *Answer
	// code is the JSON-RPC code that the refusal should bear; 0 asks for none.
	code int
}

// bodyOf makes a hostile kind out of a change to the text of an invitation.
func bodyOf(change func(body []byte) []byte) func(p playerT) *Answer {
	return func(p playerT) *Answer {
		body := p.body(letter{message: p.invitation(p.bout()), dialect: p.dialect})
		changed := change(slices.Clone(body))
		if bytes.Equal(changed, body) {
			return nil
		}
		return ReadAnswer(p.Post(changed, nil))
	}
}

// messageOf makes one out of a change to the members of an invitation.
func messageOf(edit func(m map[string]any)) func(p playerT) *Answer {
	return func(p playerT) *Answer { return p.edited(p.invitation(p.bout()), edit) }
}

// Sizes of hostile messages. By the protocol 1 MiB is taken in. What is longer is
// so by little: of much more, a server that answers at once would leave a part
// unread, and the answer could be lost with the connection.
const (
	tooLong = 1<<20 + 64<<10
	tooDeep = 20_000
)

func hostiles() []hostile {
	replace := func(old, with string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(with), 1) }
	}
	const match = `"match_id":`
	return []hostile{
		{"json", Should, "A body that is no JSON",
			"Catch what the JSON reader throws, and answer -32700 with id null.",
			bodyOf(func(b []byte) []byte { return b[:len(b)/2] }), -32700},
		{"empty", Should, "An empty body",
			"Treat a missing or zero Content-Length as a body that is no JSON: answer -32700.",
			bodyOf(func([]byte) []byte { return nil }), -32700},
		{"trailing", Should, "A body with data behind the JSON document",
			"Read to the end of the body, and answer -32700 if anything follows the document.",
			bodyOf(func(b []byte) []byte { return append(b, `{"x":1}`...) }), -32700},
		{"duplicate", Wild, "A body in which a member stands twice, which two readers understand differently,",
			"Have the JSON reader refuse duplicate names; in Python, by object_pairs_hook.",
			bodyOf(replace(match, match+`"R0M0",`+match)), -32700},
		{"utf8", Wild, "A body that is not UTF-8",
			"Decode the body as UTF-8 with errors raised, and answer -32700.",
			bodyOf(replace(`"PLAYER_A"`, "\"PLAYER_A\",\"x\":\"\xff\xfe\"")), -32700},
		{"deep", Should, "A body nested 20,000 deep",
			"Bound the depth that is read, and catch what the reader throws beyond it (RecursionError in Python).",
			bodyOf(replace(match, `"x":`+strings.Repeat("[", tooDeep)+strings.Repeat("]", tooDeep)+`,`+match)), -32700},
		{"batch", Should, "A JSON-RPC batch",
			"Answer -32600 to anything but a JSON object.",
			bodyOf(func(b []byte) []byte { return append(append([]byte("["), b...), ']') }), -32600},
		{"version", Wild, `A jsonrpc member other than "2.0"`,
			`Compare jsonrpc with "2.0", and answer -32600 otherwise.`,
			bodyOf(replace(`"jsonrpc":"2.0"`, `"jsonrpc":"1.0"`)), -32600},
		{"method", Wild, "A message whose method belongs to another message_type",
			"Where the method is the name of another message, answer -32600.",
			func(p playerT) *Answer {
				return p.Send(letter{message: p.invitation(p.bout()), method: "notify_match_result"})
			}, -32600},
		{"long", Wild, "A body longer than 1 MiB",
			"Look at Content-Length before reading, and answer HTTP 413 above 1 MiB.",
			messageOf(func(m map[string]any) { m["x"] = padding(tooLong) }), 0},
		{"media", Wild, "A body that is declared as something else than application/json",
			"Answer HTTP 415 unless Content-Type is application/json.",
			func(p playerT) *Answer {
				return p.Send(letter{message: p.invitation(p.bout()), dialect: p.dialect, header: http.Header{"Content-Type": {"text/plain"}}})
			}, 0},
		{"match", Should, "An invitation without match_id",
			"Check that match_id is there, and answer -32602 (E003).",
			messageOf(func(m map[string]any) { delete(m, "match_id") }), 0},
		{"wrongtype", Should, "An invitation whose match_id is a number",
			"Check that match_id is a string, and answer -32602 (E006).",
			messageOf(func(m map[string]any) { m["match_id"] = 7 }), 0},
		{"path", Should, "An invitation whose match_id is a path",
			"Check ids against ^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$ before they are used, above all in file names; answer -32602 (E006).",
			func(p playerT) *Answer {
				b := p.bout()
				b.id = "../../" + b.id
				return p.send(p.invitation(b))
			}, 0},
		{"protocol", Should, `A message of another protocol than "league.v2"`,
			`Compare protocol with "league.v2", and answer -32602 (E018).`,
			messageOf(func(m map[string]any) { m["protocol"] = "league.v9" }), -32602},
		{"zone", Wild, "A message whose timestamp is not in UTC",
			"Refuse a timestamp that does not end in Z or +00:00 (E021).",
			messageOf(func(m map[string]any) { m["timestamp"] = "2026-03-14T11:10:13+02:00" }), -32602},
		{"game", Should, "An invitation to another game than even_odd",
			"Compare game_type with even_odd, and refuse others (2004, E045).",
			messageOf(func(m map[string]any) { m["game_type"] = "chess" }), 0},
	}
}

// hostileChecks are about input that no good peer sends.
func hostileChecks() []Check {
	var checks []Check
	for _, h := range hostiles() {
		checks = append(checks, Check{
			ID: "player.hostile." + h.name, Level: h.level,
			Rule:   h.rule + " is refused by a JSON-RPC error, and the connection is not dropped (league.v2, validation).",
			Advice: h.advice,
			run: forPlayer(func(p playerT) {
				a := h.send(p)
				if a == nil {
					p.Skip("it is spoken to in %s, which has no place for that", p.dialect.Name)
				}
				p.refused(a)
			}),
		})
	}
	return append(checks,
		Check{
			ID: "player.hostile.verb", Level: Wild,
			Rule:   "The endpoint takes POST only; GET is refused (league.v2, transport).",
			Advice: "Answer other verbs with HTTP 405.",
			run:    forPlayer(refusesGet),
		},
		Check{
			ID: "player.hostile.type", Level: Should,
			Rule:   "A message of a type that league.v2 does not have is refused (-32601) or acknowledged, and does no harm.",
			Advice: "Let the dispatch end in a branch for everything else.",
			run:    forPlayer(survivesUnknown),
		},
		Check{
			ID: "player.hostile.codes", Level: Wild,
			Rule:   "A refusal bears the code of its cause: -32700 for what is no JSON, -32600 for what is no request, -32602 for wrong members (league.v2, errors).",
			Advice: "Use the codes of JSON-RPC 2.0, section 5.1.",
			run:    forPlayer(refusesByCode),
		},
		Check{
			ID: "player.hostile.then", Level: Must, Needs: []string{joinAnswered, choiceAnswered},
			Rule:   "After all that, the player plays on.",
			Advice: "Let no input end or block the process: handle each request apart, and release locks when one fails.",
			run:    forPlayer(func(p playerT) { p.called() }),
		},
	)
}

func refusesGet(p playerT) {
	req, err := http.NewRequestWithContext(p.ctx, http.MethodGet, p.counter.opts.URL, nil)
	if err != nil {
		p.Skip("%v", err)
	}
	client := &http.Client{Timeout: p.counter.opts.Timeout, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	e := Evidence{To: p.counter.opts.URL, Request: "GET"}
	if err != nil {
		e.Error = err.Error()
		p.keep(e)
		p.Fail("the connection was dropped instead of answered: %v", err)
	}
	if err := resp.Body.Close(); err != nil {
		e.Error = err.Error()
	}
	e.Status = resp.StatusCode
	p.keep(e)
	// MCP serves event streams by GET.
	if resp.StatusCode < 400 && !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		p.Fail("GET is answered with HTTP %d", resp.StatusCode)
	}
}

func survivesUnknown(p playerT) {
	m := p.standings()
	a := p.Send(letter{message: m, dialect: p.dialect, method: methodOf(p.dialect, "notify_weather"), edit: func(m map[string]any) {
		m["message_type"] = "WEATHER_REPORT"
	}})
	p.answeredSomehow(a)
}

// methodOf is a method name in a dialect: its own one where it has but one.
func methodOf(d *protocol.Dialect, name string) string {
	if d.Request.Method != "" || d.Request.Bare {
		return ""
	}
	return name
}

func refusesByCode(p playerT) {
	if p.dialect.Request.Bare {
		p.Skip("it registered without JSON-RPC and is spoken to so")
	}
	coded := 0
	for _, h := range hostiles() {
		if h.code == 0 {
			continue
		}
		// What is taken, or refused without a code, is another check's matter.
		a := h.send(p)
		if a == nil || !a.Refused || a.Code == 0 {
			continue
		}
		coded++
		if a.Code != h.code {
			p.Fail("%s is refused with %d, want %d", h.rule, a.Code, h.code)
		}
	}
	if coded == 0 {
		p.Skip("nothing that it was sent is refused with a code")
	}
}
