package conformance_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// badReportMutants take reports that are to be refused.
func badReportMutants() []mutant {
	// acceptsBad accepts a report that should be refused, if a condition holds.
	acceptsBad := func(name string, when func(m *memory, in *asked, refusal object) bool) mutant {
		return mutant{check: "manager.report." + name, serve: acceptsOnce(func(m *memory, in *asked, r *reply) bool {
			refusal, _ := parse(r.body)["error"].(object)
			data, _ := refusal["data"].(object)
			return in.of(report) && when(m, in, data)
		})}
	}
	known := func(data object, same bool) bool { return data["error_code"] == "E041" && data["same_result"] == same }
	has := func(text string) func(*memory, *asked, object) bool {
		return func(_ *memory, in *asked, _ object) bool { return bodyHas(text)(in) }
	}
	return []mutant{
		acceptsBad("differs", func(m *memory, _ *asked, data object) bool { return known(data, false) && m.count("known") == 1 }),
		acceptsBad("late", func(m *memory, _ *asked, data object) bool { return known(data, false) && m.count("known") == 2 }),
		acceptsBad("unknown", func(_ *memory, in *asked, _ object) bool {
			return in.text("match_id") == "R99M99" && in.message()["round_id"] != nil
		}),
		acceptsBad("token", func(_ *memory, in *asked, _ object) bool { return strings.HasSuffix(in.text("auth_token"), forged) }),
		acceptsBad("tokenless", func(_ *memory, in *asked, _ object) bool { return in.text("auth_token") == "" }),
		acceptsBad("player", func(_ *memory, in *asked, _ object) bool { return strings.HasPrefix(in.text("sender"), "player:") }),
		acceptsBad("other", func(_ *memory, in *asked, data object) bool {
			return data["error_code"] == "E040" && in.text("match_id") != "R99M99" && strings.HasPrefix(in.text("sender"), "referee:")
		}),
		acceptsBad("context", func(_ *memory, in *asked, _ object) bool { return in.text("league_id") == "another-league" }),
		acceptsBad("empty", func(_ *memory, in *asked, _ object) bool { return in.message()["result"] == nil }),
		acceptsBad("score", func(_ *memory, in *asked, _ object) bool {
			result, _ := in.message()["result"].(object)
			return strings.Contains(fmt.Sprint(result["score"]), ":30")
		}),
		acceptsBad("number", has("1000000")),
		acceptsBad("players", has(`"winner":"P98"`)),
		acceptsBad("winner", func(_ *memory, in *asked, data object) bool {
			about, _ := data["context"].(object)
			return data["error_code"] == "E046" && about["field"] == "winner" && in.text("league_id") == "cup"
		}),
	}
}

// reportTakingMutants have faults in how they take reports and refuse them.
func reportTakingMutants() []mutant {
	refusesForm := func(name string, when func(in *asked) bool) mutant {
		return mutant{check: "manager.report." + name, serve: refuses(func(_ *memory, in *asked) bool { return in.of(report) && when(in) })}
	}
	// again refuses what is known for no reason, for the nth time.
	again := func(name string, nth int) mutant {
		return mutant{check: "manager.report." + name, serve: func(m *memory, in *asked, next func(*asked) *reply) *reply {
			r := next(in)
			m.Lock()
			defer m.Unlock()
			if in.of(report) && r.refused() && bytes.Contains(r.body, []byte(`"same_result":true`)) && m.count("again") == nth {
				return refusal(in, -32000)
			}
			return r
		}}
	}
	return []mutant{
		{check: "manager.report.ack", serve: func(_ *memory, in *asked, next func(*asked) *reply) *reply {
			r := next(in)
			if !in.of(report) || r.refused() || !strings.HasPrefix(in.text("match_id"), "R5") {
				return r
			}
			return r.edit(set("message_type", "GAME_OVER_ACK"))
		}},
		{check: "manager.report.match", serve: answers(report, drop("match_id"))},
		refusesForm("envelope", func(in *asked) bool { return methodIs("league.handle")(nil, in) }),
		refusesForm("tool", bodyHas(`"arguments"`)),
		refusesForm("tool-io", bodyHas(`"input"`)),
		{check: "manager.report.bare", serve: func(_ *memory, in *asked, next func(*asked) *reply) *reply {
			r := next(in)
			if doc := parse(in.body); doc["jsonrpc"] == nil && in.of(report) {
				r.body = write(object{"jsonrpc": "2.0", "id": nil, "result": parse(r.body)})
			}
			return r
		}},
		refusesForm("nostatus", func(in *asked) bool {
			result, _ := in.message()["result"].(object)
			details, _ := result["details"].(object)
			return details["status"] == nil
		}),
		again("again", 2),
		again("twice", 1),
		{check: "manager.report.codes", serve: func(m *memory, in *asked, next func(*asked) *reply) *reply {
			r := next(in)
			if !in.of(report) || !bytes.Contains(r.body, []byte(`"same_result":false`)) {
				return r
			}
			doc := parse(r.body)
			doc["error"].(object)["code"] = -32000
			r.body = write(doc)
			return r
		}},
	}
}

// repaired is a manager that gives two matches of the last round to the wrong
// players, and whose reports are put right before they are read.
func repaired() mutant {
	ids, endpoints := map[string]string{}, map[string]any{}
	swapped := func(tree any) {
		var first, second object
		each(tree, func(o object) {
			switch {
			case o["player_B_id"] == nil:
			case o["match_id"] == "R5M1":
				first = o
			case o["match_id"] == "R5M2":
				second = o
			}
		})
		if first == nil || second == nil {
			return
		}
		first["player_B_id"], second["player_B_id"] = second["player_B_id"], first["player_B_id"]
		ids["R5M1"] = fmt.Sprint(first["player_B_id"], " ", second["player_B_id"])
		ids["R5M2"] = fmt.Sprint(second["player_B_id"], " ", first["player_B_id"])
		for _, o := range []object{first, second} {
			delete(o, "player_B_keys")
			if o["player_B_endpoint"] != nil {
				o["player_B_endpoint"] = endpoints[fmt.Sprint(o["player_B_id"])]
			}
		}
	}
	return mutant{
		check: "manager.round.pairs",
		out: func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			if s := reading(body); s.of(announcement) {
				m.Lock()
				swapped(s.doc)
				m.Unlock()
				body = write(s.doc)
			}
			return next(body)
		},
		serve: func(m *memory, in *asked, next func(*asked) *reply) *reply {
			m.Lock()
			told, right, changed := strings.Cut(ids[in.text("match_id")], " ")
			m.Unlock()
			if in.of(report) && changed {
				in = &asked{body: bytes.ReplaceAll(in.body, []byte(`"`+told+`"`), []byte(`"`+right+`"`)), header: in.header}
			}
			r := next(in)
			if in.of(application) && !r.refused() {
				m.Lock()
				walk(parse(r.body), func(o object) {
					endpoints[fmt.Sprint(o["player_id"])] = in.message()["player_meta"].(object)["contact_endpoint"]
				})
				m.Unlock()
			}
			if in.text("query_type") == "GET_SCHEDULE" && !r.refused() {
				doc := parse(r.body)
				m.Lock()
				swapped(doc)
				m.Unlock()
				r.body = write(doc)
			}
			return r
		},
	}
}

// each calls visit for every object of a document.
func each(tree any, visit func(object)) {
	switch v := tree.(type) {
	case object:
		visit(v)
		for _, inner := range v {
			each(inner, visit)
		}
	case []any:
		for _, inner := range v {
			each(inner, visit)
		}
	}
}
