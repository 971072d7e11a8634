package conformance_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

func retryMutants() []mutant {
	busyTimes, slowed, keys := map[string]int{}, map[string]bool{}, matchKeys{}
	return []mutant{
		{check: "referee.retry.join", serve: keys.learn, out: instead(invitation, isBusy, keys.signed(declining))},
		{check: "referee.retry.choice", out: instead(call, isBusy, refusing)},
		{check: "referee.retry.ids", out: only(invitation, func(_ *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			s := reading(body)
			id := s.doc["id"]
			s.doc["id"] = s.key()
			r, err := next(write(s.doc))
			if err != nil {
				return r, err
			}
			doc := parse(r.Body)
			doc["id"] = id
			return &jsonrpc.Reply{Status: r.Status, Header: r.Header, Body: write(doc)}, nil
		})},
		{check: "referee.retry.spent", serve: keys.learn, out: instead(invitation, func(s *sent, r *jsonrpc.Reply, err error) bool {
			if isBusy(s, r, err) {
				busyTimes[s.key()]++
			}
			return busyTimes[s.key()] == 4
		}, keys.signed(accepting))},
		{check: "referee.retry.backoff", halts: true, out: func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			s := reading(body)
			if !s.of(invitation) && !s.of(over) {
				return next(body)
			}
			key := s.text("message_type") + s.key() + s.text("auth_token")
			m.Lock()
			slow := slowed[key]
			delete(slowed, key)
			first := m.count(key) == 1
			m.Unlock()
			if slow {
				time.Sleep(m.scale.of(time.Second)) // the fault: the first pause is the longest
			}
			r, err := next(body)
			if first && isBusy(s, r, err) {
				m.Lock()
				slowed[key] = true
				m.Unlock()
			}
			return r, err
		}},
		{check: "referee.error.announced", halts: true, out: only(gameError, func(_ *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			if s := reading(body); whole(s.message["retry_count"]) == 2 {
				return said("GAME_ERROR_ACK", object{"status": "ACKNOWLEDGED"})(s), nil
			}
			return next(body)
		})},
		{check: "referee.error.token", out: emits(gameError, set("auth_token", "another"))},
		{check: "referee.error.fields", out: emits(gameError, drop("error_code"))},
		{check: "referee.error.match", out: emits(gameError, set("round_id", 99))},
		{check: "referee.error.retry", out: emits(gameError, set("max_retries", 9))},
		{check: "referee.error.last", halts: true, out: emits(gameError, set("retryable", true))},
	}
}

func faultMutants() []mutant {
	faulty := func(edit func(r, d object)) out {
		return results(func(_, r, d object) {
			if d["status"] == technical {
				edit(r, d)
			}
		})
	}
	keys := matchKeys{}
	return []mutant{
		{check: "referee.fault.declined", out: instead(invitation, holds(`"accept":false`), unavailable)},
		{check: "referee.fault.invalid", out: receives(call, func(_ *sent, o object) {
			if o["parity_choice"] == "both" {
				o["parity_choice"] = "even"
			}
		})},
		{check: "referee.fault.score", out: only(report, faulty(func(r, _ object) {
			if r["winner"] == "P02" {
				r["score"] = object{"P01": 0, "P02": 1}
			}
		}))},
		{check: "referee.fault.nodraw", out: faulty(func(_, d object) { d["drawn_number"], d["number_parity"] = 4, "even" })},
		{check: "referee.fault.names", out: faulty(func(_, d object) { delete(d, "technical_loss_player_ids") })},
		{check: "referee.fault.score", out: only(report, faulty(func(r, _ object) {
			if r["winner"] == nil {
				r["winner"] = "P01"
			}
		}))},
		{check: "referee.fault.join", serve: keys.learn, out: instead(invitation, brokenOff, keys.signed(accepting))},
		{check: "referee.fault.choice", serve: keys.learn, out: instead(call, brokenOff, keys.signed(evenly))},
		{check: "referee.call.whole", out: emits(call, func(o object) {
			// It states two seconds more than it gives.
			deadline, err := time.Parse(time.RFC3339, o["deadline"].(string))
			if err != nil {
				panic(err)
			}
			o["deadline"] = deadline.Add(2 * time.Second).Format(time.RFC3339)
		})},
		{check: "referee.reply.late", out: only(call, func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			r, err := next(body)
			m.Lock()
			defer m.Unlock()
			late := "late" + reading(body).key()
			switch {
			case err != nil:
				m.count(late)
			case m.seen[late] > 0 && holds(`"even"`)(nil, r, err):
				r.Body = bytes.Replace(r.Body, []byte(`"even"`), []byte(`"odd"`), 1) // what came for the first call
			}
			return r, err
		})},
	}
}

func trustMutants() []mutant {
	announced := func(when func(in *asked) bool) func(in *asked) bool {
		return func(in *asked) bool { return in.of(announcement) && when(in) }
	}
	return []mutant{
		{check: "referee.auth.token", serve: believes(announced(func(in *asked) bool { return strings.HasSuffix(in.text("auth_token"), forged) }),
			func(m *memory, _ *asked, o object) { o["auth_token"] = m.tokens["manager"] })},
		{check: "referee.auth.sender", serve: believes(with(announcement, "sender", "player:P01"), func(_ *memory, _ *asked, o object) { o["sender"] = "league_manager" })},
		{check: "referee.auth.league", serve: believes(with(announcement, "league_id", "elsewhere"), func(_ *memory, _ *asked, o object) { o["league_id"] = "conformance" })},
		{check: "referee.auth.completed", serve: accepts(func(in *asked) bool { return in.of(complete) && strings.HasSuffix(in.text("auth_token"), forged) })},
	}
}

// framing are the mutants of the checks of a role on JSON-RPC ids, which are
// tried on a method.
func framing(role, method string) []mutant {
	return []mutant{
		{check: role + ".rpc.string", serve: framed(func(request, answer object) {
			if id, ok := request["id"].(string); ok && id == "42" {
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
		{check: role + ".rpc.noid", serve: func(_ *memory, in *asked, next func(*asked) *reply) *reply {
			doc := parse(in.body)
			if _, ok := doc["id"]; !ok && doc["method"] == method {
				doc["id"] = "x"
				in = &asked{body: write(doc), header: in.header}
			}
			return next(in)
		}},
	}
}

// dialectMutants are those of a role on the wrappings of messages and on methods, which
// are tried on a type.
func dialectMutants(role, t string) []mutant {
	return []mutant{
		{check: role + ".dialect.envelope", serve: refuses(methodIs("league.handle"))},
		{check: role + ".dialect.tool", serve: refuses(func(_ *memory, in *asked) bool { return bodyHas(`"arguments"`)(in) })},
		{check: role + ".dialect.tool-io", serve: refuses(func(_ *memory, in *asked) bool { return bodyHas(`"input"`)(in) })},
		{check: role + ".dialect.bare", serve: answering(func(_ *memory, in *asked, r *reply) *reply {
			if doc := parse(in.body); doc["jsonrpc"] == nil && doc["message_type"] != nil {
				r.body = write(object{"jsonrpc": "2.0", "id": nil, "result": parse(r.body)})
			}
			return r
		})},
		{check: role + ".dialect.type", serve: refuses(methodIs(t))},
		{check: role + ".dialect.unknown", serve: refuses(methodIs("unknown"))},
		{check: role + ".fields.unknown", halts: true, serve: func(_ *memory, in *asked, next func(*asked) *reply) *reply {
			if bodyHas("x_weather")(in) {
				return refusal(in, -32602)
			}
			return next(in)
		}},
		{check: role + ".auth.quiet", serve: answering(func(_ *memory, in *asked, r *reply) *reply {
			if token := in.text("auth_token"); r.refused() && strings.HasSuffix(token, forged) {
				doc := parse(r.body)
				doc["error"].(object)["message"] = "bad token " + token
				r.body = write(doc)
			}
			return r
		})},
		stalling(role + ".load.stalled"),
	}
}

func burdenMutants() []mutant {
	matches := func(in *asked) int { return bytes.Count(in.body, []byte(`"match_id"`)) }
	return []mutant{
		{check: "referee.load.concurrent", halts: true, serve: func(m *memory, in *asked, next func(*asked) *reply) *reply {
			if matches(in) == 5 {
				return hears(announcement, func(o object) { o["matches"] = o["matches"].([]any)[:4] })(m, in, next)
			}
			return next(in)
		}},
		{check: "referee.load.limit", out: emits(refereeRegistration, func(o object) { o["referee_meta"].(object)["max_concurrent_matches"] = 2 })},
		{check: "referee.load.speed", halts: true, serve: func(m *memory, in *asked, next func(*asked) *reply) *reply {
			m.Lock()
			slow := m.seen["many"] == 1 && matches(in) == 1
			if slow || matches(in) > 5 {
				m.count("many")
			}
			m.Unlock()
			if slow {
				time.Sleep(m.scale.of(refereeSilence / 3)) // it is the fault
			}
			return next(in)
		}},
	}
}

// stalling serves one request after the other.
func stalling(check string) mutant {
	return mutant{check: check, halts: true, mute: true, wrap: func(m *memory, h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			m.Lock()
			defer m.Unlock()
			h.ServeHTTP(w, r)
		})
	}}
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
	take := func(name string, when func(in *asked) bool) mutant {
		return mutant{check: role + ".hostile." + name, serve: accepts(when)}
	}
	return []mutant{
		take("json", func(in *asked) bool {
			whole, _ := first(in.body)
			return !whole && len(in.body) > 0 && len(in.body) < 4000
		}),
		take("empty", func(in *asked) bool { return len(in.body) == 0 }),
		take("trailing", func(in *asked) bool { _, more := first(in.body); return more }),
		take("duplicate", bodyHas(`"message_type":"GAME_OVER","message_type"`)),
		take("utf8", bodyHas("\xff\xfe")),
		take("deep", bodyHas("[[[[[[[[[[")),
		take("batch", func(in *asked) bool { return bytes.HasPrefix(in.body, []byte("[")) }),
		take("version", bodyHas(`"jsonrpc":"1.0"`)),
		take("method", func(in *asked) bool { return in.of(t) && parse(in.body)["method"] == wrong }),
		take("long", func(in *asked) bool { return len(in.body) > 1<<20 }),
		take("media", func(in *asked) bool { return in.header.Get("Content-Type") == "text/plain" }),
		take("protocol", bodyHas("league.v9")),
		take("zone", bodyHas("+02:00")),
		{check: role + ".hostile.type", serve: breaks(bodyHas("WEATHER_REPORT"))},
		{check: role + ".hostile.form", serve: func(_ *memory, in *asked, next func(*asked) *reply) *reply {
			if !bodyHas("WEATHER_REPORT")(in) {
				return next(in)
			}
			return &reply{status: http.StatusBadRequest, media: "application/json", body: []byte(`{"detail":"no such message"}`)}
		}},
		{check: role + ".hostile.verb", wrap: func(_ *memory, h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet {
					h.ServeHTTP(w, r)
				}
			})
		}},
		{check: role + ".hostile.codes", serve: answering(func(_ *memory, _ *asked, r *reply) *reply {
			if doc := parse(r.body); r.refused() {
				if e, ok := doc["error"].(object); ok && e["code"] == json.Number("-32700") {
					e["code"] = -32000
					r.body = write(doc)
				}
			}
			return r
		})},
	}
}

// takesMatch are mutants that take a bad match in a message of a type.
func takesMatch(role, t string) []mutant {
	take := func(name string, when func(in *asked) bool) mutant {
		return mutant{check: role + ".hostile." + name, serve: accepts(when)}
	}
	return []mutant{
		take("match", func(in *asked) bool {
			m := in.message()
			if list, _ := m["matches"].([]any); len(list) == 1 {
				m = list[0].(object)
			}
			return in.of(t) && m["match_id"] == nil && m["matches"] == nil
		}),
		take("wrongtype", bodyHas(`"match_id":7`)),
		take("path", bodyHas(`"match_id":"../`)),
		take("game", bodyHas("chess")),
	}
}

func refereeHostileMutants() []mutant {
	take := func(name string, when func(in *asked) bool) mutant {
		return mutant{check: "referee.hostile." + name, serve: accepts(when)}
	}
	return []mutant{
		take("self", bodyHas(`"player_B_id":"P01"`)),
		take("twice", func(in *asked) bool {
			ids := matchID.FindAll(in.body, -1)
			return len(ids) == 2 && bytes.Equal(ids[0], ids[1])
		}),
		{check: "referee.hostile.then", halts: true, serve: answering(func(m *memory, in *asked, r *reply) *reply {
			// What was nested too deep has left something behind.
			if bodyHas("[[[[[[[[[[")(in) {
				m.count("deep")
			}
			return r
		}), out: only(over, func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			m.Lock()
			broken := m.seen["deep"] > 0
			m.Unlock()
			if broken {
				return overTaken(reading(body)), nil
			}
			return next(body)
		})},
		{check: "referee.end.ack", serve: refuses(isType(complete))},
		{check: "referee.end.again", serve: func(m *memory, in *asked, next func(*asked) *reply) *reply {
			if !in.of(complete) || strings.HasSuffix(in.text("auth_token"), forged) {
				return next(in)
			}
			m.Lock()
			defer m.Unlock()
			if m.count(complete) > 1 {
				return refusal(in, -32000)
			}
			return accepted(in) // the referee behind it would leave
		}},
	}
}
