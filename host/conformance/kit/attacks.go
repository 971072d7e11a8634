package kit

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
)

// Sizes of hostile messages. The protocol allows 1 MiB. The long message is
// only a little longer: of a much longer one, a server that answers at once
// would leave a part unread, and the answer could be lost with the connection.
const (
	tooLong = 1<<20 + 64<<10
	tooDeep = 20_000
)

// Attack is one kind of hostile message, made from a valid one: by a change of its
// encoding, by an edit of its members, or otherwise.
type Attack struct {
	Name   string
	Code   int // that the refusal should have; 0 for any
	Body   func(body []byte) []byte
	Edit   Edit
	Change func(t *T, valid *Request)
}

func (x Attack) send(t *T, valid Request) *Answer {
	if valid.Edit, valid.Body = x.Edit, x.Body; x.Change != nil {
		x.Change(t, &valid)
	}
	return t.Send(valid)
}

// insert adds members before that of the type.
func insert(text string) func([]byte) []byte {
	const own = `"message_type":`
	return func(b []byte) []byte { return bytes.Replace(b, []byte(own), []byte(text+","+own), 1) }
}

// Attacks returns the attacks made from any message. The method is that of another type.
func Attacks(method string) []Attack {
	return []Attack{
		{Name: "json", Code: -32700, Body: func(b []byte) []byte { return b[:len(b)/2] }},
		{Name: "empty", Code: -32700, Body: func([]byte) []byte { return nil }},
		{Name: "trailing", Code: -32700, Body: func(b []byte) []byte { return append(b, `{"x":1}`...) }},
		{Name: "duplicate", Code: -32700, Body: insert(`"message_type":"GAME_OVER"`)},
		{Name: "utf8", Code: -32700, Body: insert("\"x\":\"\xff\xfe\"")},
		{Name: "deep", Code: -32700, Body: insert(`"x":` + strings.Repeat("[", tooDeep) + strings.Repeat("]", tooDeep))},
		{Name: "batch", Code: -32600, Body: func(b []byte) []byte { return slices.Concat([]byte("["), b, []byte("]")) }},
		{Name: "version", Code: -32600, Body: func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"jsonrpc":"2.0"`), []byte(`"jsonrpc":"1.0"`), 1)
		}},
		{Name: "method", Code: -32600, Change: func(_ *T, r *Request) { r.Dialect, r.Method = dialect.Contracts, method }},
		{Name: "long", Edit: Set("x", strings.Repeat("x", tooLong))},
		{Name: "media", Change: func(_ *T, r *Request) { r.Header = http.Header{"Content-Type": {"text/plain"}} }},
		{Name: "protocol", Code: -32602, Edit: Set("protocol", "league.v9")},
		{Name: "zone", Code: -32602, Edit: Set("timestamp", "2026-03-14T11:10:13+02:00")},
		{Name: "type", Edit: Set("message_type", "WEATHER_REPORT"), Change: func(t *T, r *Request) {
			if d := t.form(*r).Dialect; d.Request.Method == "" && !d.Request.Bare {
				r.Method = "notify_weather"
			}
		}},
	}
}

// MatchAttacks returns the attacks on agents that are sent matches: bad ones, and those of all roles.
func MatchAttacks() []Attack {
	return append(Attacks("notify_match_result"),
		Attack{Name: "match", Edit: EditMatch(Delete("match_id"))},
		Attack{Name: "wrongtype", Edit: EditMatch(Set("match_id", []int{7}))},
		Attack{Name: "path", Edit: EditMatch(Set("match_id", "../../R1M1"))},
		Attack{Name: "game", Edit: EditMatch(Set("game_type", "chess"))},
	)
}

// EditMatch returns an edit of the first match of an announcement, or of the match that the message is about.
func EditMatch(edit Edit) Edit {
	return func(m map[string]any) {
		if list, ok := m["matches"].([]any); ok && len(list) > 0 {
			edit(list[0].(map[string]any))
		} else if m["match_id"] != nil {
			edit(m)
		}
	}
}

// AttackTests test that an agent refuses attacks.
func AttackTests(all []Attack, sample Sample) map[string]func(*T) {
	tests := map[string]func(*T){
		"hostile.form": func(t *T) {
			if e := t.Session.plain.Load(); e != nil { // of all refusals so far
				t.Keep(*e)
				t.Fail("it is refused with HTTP %d, without an error of JSON-RPC", e.Status)
			}
		},
		"hostile.verb":  refusesGet,
		"hostile.codes": func(t *T) { refusesByCode(t, all, sample) },
	}
	for _, x := range all {
		tests["hostile."+x.Name] = func(t *T) {
			a := x.send(t, sample(t))
			if acknowledged := a.Err == nil && a.Document != nil; !acknowledged || x.Name != "type" { // which does no harm
				t.TurnedDown(a)
			}
		}
	}
	return tests
}

func refusesByCode(t *T, all []Attack, sample Sample) {
	coded := 0
	for _, x := range all {
		if x.Code == 0 {
			continue
		}
		// Acceptance, and a refusal without a code, are for other checks to find.
		a := &Answer{} // of one for which there is no place
		if t.Catch(func() { a = x.send(t, sample(t)) }); !a.Refused || a.Code == 0 {
			continue
		}
		coded++
		if a.Code != x.Code {
			t.Fail("what hostile.%s sends is refused with %d, want %d", x.Name, a.Code, x.Code)
		}
	}
	if coded == 0 {
		t.Skip("it refuses nothing with a code")
	}
}

func refusesGet(t *T) {
	a := t.post(t.ctx, &jsonrpc.Outgoing{Method: http.MethodGet, URL: t.Session.URL})
	if a.Err != nil {
		t.Fail("the connection was dropped instead of answered: %v", a.Err)
	}
	// MCP serves event streams by GET.
	if a.Status < 400 && !strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream") {
		t.Fail("GET is answered with HTTP %d", a.Status)
	}
}
