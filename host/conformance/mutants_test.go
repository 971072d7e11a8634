package conformance_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
)

// The mutants of the checks that roles share.

// registeringMutants are those of the checks of a role on its registration.
func registeringMutants(role, t, metaName string, accepts func(*request) *reply) []mutant {
	registers := func(rule string, edit func(object)) mutant {
		return mutant{check: role + ".register." + rule, out: emits(t, edit)}
	}
	meta := func(rule string, edit func(object)) mutant { return registers(rule, inside(edit, metaName)) }
	return []mutant{
		{check: role + ".register.rpc", out: only(t, func(_ *memory, in *request, next onward) *reply {
			in.read()
			in.doc["jsonrpc"] = "1.0"
			return next(in.written())
		})},
		registers("fields", drop("conversation_id")),
		registers("fields", set("timestamp", "2026-03-14T11:10:13+02:00")),
		registers("fields", set("sender", "alice")),
		meta("fields", drop("display_name")),
		meta("fields", set("game_types", "even_odd")),
		meta("fields", set("game_types", []string{"chess"})),
		meta("endpoint", set("contact_endpoint", "http://127.0.0.1:1/mcp")),
		// It answers nobody before it is registered.
		{check: role + ".register.listens", halts: true, wrap: unreachableUntilRegistered, out: only(t, func(m *memory, in *request, next onward) *reply {
			defer func() {
				m.Lock()
				defer m.Unlock()
				if m.count("registered") == 1 {
					close(m.done)
				}
			}()
			return next(in)
		})},
		{check: role + ".register.once", out: twice(t, isType(t))},
		{check: role + ".register.retry", busy: true, out: instead(t, isBusy, accepts)}, // it never looks at the status
	}
}

func unreachableUntilRegistered(m *memory, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-m.done:
			h.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}

var largeNumber = regexp.MustCompile(`^\d{16,}$`)

// sharedMutants are those of a role on JSON-RPC ids, tried on a method, and on the wrappings
// of messages, other methods, unknown members, secrets and load, tried on a type.
func sharedMutants(role, method, t string) []mutant {
	refusesUnder := func(name string, condition when) mutant {
		return mutant{check: role + ".dialect." + name, serve: refuses(condition)}
	}
	return []mutant{
		{check: role + ".rpc.string", serve: framed(func(request, answer object) {
			if request["id"] == "42" {
				answer["id"] = 42
			}
		})},
		{check: role + ".rpc.number", serve: framed(func(request, answer object) {
			if id, ok := request["id"].(json.Number); ok && len(id) < 16 {
				answer["id"] = id.String()
			}
		})},
		{check: role + ".rpc.large", serve: framed(func(request, answer object) {
			if id, ok := request["id"].(json.Number); ok && largeNumber.MatchString(id.String()) {
				answer["id"], _ = id.Float64()
			}
		})},
		{check: role + ".rpc.noid", serve: func(_ *memory, in *request, next onward) *reply {
			in.read()
			if _, ok := in.doc["id"]; !ok && in.doc["method"] == method {
				in.doc["id"] = "x"
				in = in.written()
			}
			return next(in)
		}},
		refusesUnder("envelope", methodIs("league.handle")),
		refusesUnder("tool", bodyHas(`"arguments"`)),
		refusesUnder("tool-io", bodyHas(`"input"`)),
		{check: role + ".dialect.bare", serve: unframes(func(_ *memory, in *request) bool { return in.doc["message_type"] != nil })},
		refusesUnder("type", methodIs(t)),
		refusesUnder("unknown", methodIs("unknown")),
		{check: role + ".fields.unknown", halts: true, serve: replaces(bodyHas("x_weather"), refusing)},
		{check: role + ".auth.quiet", serve: answering(func(m *memory, in *request, r *reply) *reply {
			if r.refused() && forged(m, in) {
				return r.framed(inside(set("message", "bad token "+in.text("auth_token")), "error"))
			}
			return r
		})},
		// It serves one request after the other.
		{check: role + ".load.stalled", halts: true, mute: true, wrap: func(m *memory, h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				m.Lock()
				defer m.Unlock()
				h.ServeHTTP(w, r)
			})
		}},
	}
}

// attackedMutants take what every agent of a role is to refuse: a bad message of
// a type, or one under a method that is another's.
func attackedMutants(role, t, wrong string) []mutant {
	first := func(body []byte) (whole, more bool) {
		dec := json.NewDecoder(bytes.NewReader(body))
		var v any
		if dec.Decode(&v) != nil {
			return false, false
		}
		return true, dec.More()
	}
	take := taking(role)
	return []mutant{
		take("json", func(_ *memory, in *request) bool {
			whole, _ := first(in.body)
			return !whole && len(in.body) > 0 && len(in.body) < 4000
		}),
		take("empty", func(_ *memory, in *request) bool { return len(in.body) == 0 }),
		take("trailing", func(_ *memory, in *request) bool { _, more := first(in.body); return more }),
		take("duplicate", bodyHas(`"message_type":"GAME_OVER","message_type"`)),
		take("utf8", bodyHas("\xff\xfe")),
		take("deep", tooDeep),
		take("batch", func(_ *memory, in *request) bool { return bytes.HasPrefix(in.body, []byte("[")) }),
		take("version", bodyHas(`"jsonrpc":"1.0"`)),
		take("method", all(isType(t), methodIs(wrong))),
		take("long", func(_ *memory, in *request) bool { return len(in.body) > 1<<20 }),
		take("media", func(_ *memory, in *request) bool { return in.header.Get("Content-Type") == "text/plain" }),
		take("protocol", bodyHas("league.v9")),
		take("zone", bodyHas("+02:00")),
		{check: role + ".hostile.type", serve: breaks(bodyHas("WEATHER_REPORT"))},
		{check: role + ".hostile.form", serve: replaces(bodyHas("WEATHER_REPORT"), func(*request) *reply {
			return &reply{status: http.StatusBadRequest, media: "application/json", body: []byte(`{"detail":"no such message"}`)}
		})},
		{check: role + ".hostile.verb", wrap: func(_ *memory, h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet {
					h.ServeHTTP(w, r)
				}
			})
		}},
		{check: role + ".hostile.codes", serve: answering(func(_ *memory, _ *request, r *reply) *reply {
			return r.framed(func(doc object) {
				if e := within(doc, "error"); e["code"] == json.Number("-32700") {
					e["code"] = -32000
				}
			})
		})},
	}
}

var tooDeep = bodyHas("[[[[[[[[[[")

// breaksLater is a mutant in which what was nested too deep has left something behind.
func breaksLater(role string, condition when) mutant {
	return mutant{check: role + ".hostile.then", serve: answering(func(m *memory, in *request, r *reply) *reply {
		if tooDeep(m, in) {
			m.count("deep")
		}
		if condition(m, in) && !r.refused() && m.seen["deep"] > 0 {
			return refusing(in)
		}
		return r
	})}
}

func taking(role string) func(name string, conditions ...when) mutant {
	return func(name string, conditions ...when) mutant {
		return mutant{check: role + ".hostile." + name, serve: accepts(conditions...)}
	}
}

func takesMatch(role, t string) []mutant {
	take := taking(role)
	return []mutant{
		take("match", isType(t), func(_ *memory, in *request) bool {
			m := in.read()
			if list := rows(m, "matches"); len(list) == 1 {
				m = list[0]
			}
			return m["match_id"] == nil && m["matches"] == nil
		}),
		take("wrongtype", bodyHas(`"match_id":[7]`)),
		take("path", bodyHas(`"match_id":"../`)),
		take("game", bodyHas("chess")),
	}
}
