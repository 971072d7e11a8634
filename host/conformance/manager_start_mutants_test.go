package conformance_test

import (
	"bytes"
	"slices"
	"strings"
	"time"
)

const (
	starting  = "START_LEAGUE"
	completed = "LEAGUE_COMPLETED"
	roundEnd  = "ROUND_COMPLETED"
)

// begun counts how often somebody has asked to start the league who may.
func begun(m *memory, in *asked) int {
	if in.of(starting) && in.text("auth_token") == adminToken {
		m.seen[starting]++
	}
	return m.seen[starting]
}

// acceptsOnce accepts a refused request, if a condition holds of it and of
// the refusal. Others are not asked about.
func acceptsOnce(when func(m *memory, in *asked, r *reply) bool) serve {
	return func(m *memory, in *asked, next func(*asked) *reply) *reply {
		r := next(in)
		m.Lock()
		defer m.Unlock()
		if r.refused() && when(m, in, r) {
			return accepted(in)
		}
		return r
	}
}

// startMutants have faults in how the league begins, and who may join it then.
func startMutants() []mutant {
	takesStart := func(name string, when func(in *asked) bool) mutant {
		return mutant{check: "manager.start." + name, serve: accepts(func(in *asked) bool { return in.of(starting) && when(in) })}
	}
	started := func(name string, when func(started int, in *asked) bool) mutant {
		return mutant{check: "manager.start." + name, serve: acceptsOnce(func(m *memory, in *asked, _ *reply) bool { return when(begun(m, in), in) })}
	}
	late := bodyHas("127.0.0.1:1/late")
	return []mutant{
		started("early", func(n int, in *asked) bool { return n == 1 && in.text("auth_token") == adminToken }),
		started("over", func(n int, in *asked) bool { return n == 2 && in.text("auth_token") == adminToken }),
		takesStart("missing", func(in *asked) bool { return in.text("auth_token") == "" && in.header.Get("Origin") == "" }),
		takesStart("web", func(in *asked) bool { return in.header.Get("Origin") != "" }),
		takesStart("token", func(in *asked) bool { return strings.HasSuffix(in.text("auth_token"), forged) }),
		takesStart("player", func(in *asked) bool { return strings.HasPrefix(in.text("sender"), "player:") }),
		{check: "manager.start.report", serve: accepts(func(in *asked) bool {
			return in.of(report) && in.text("match_id") == "R99M99" && in.message()["round_id"] == nil
		})},
		{check: "manager.start.answer", serve: answers(starting, drop("status"))},
		{check: "manager.start.again", serve: refuses(func(m *memory, in *asked) bool { return in.of(starting) && m.count(starting) == 2 })},
		{check: "manager.late.refused", serve: accepts(late)},
		{check: "manager.late.form", serve: func(_ *memory, in *asked, next func(*asked) *reply) *reply {
			if late(in) {
				return refusal(in, 2001)
			}
			return next(in)
		}},
		{check: "manager.late.unharmed", serve: func(m *memory, in *asked, next func(*asked) *reply) *reply {
			r := next(in)
			m.Lock()
			defer m.Unlock()
			if late(in) {
				m.count("late")
			}
			if m.seen["late"] == 0 || in.text("query_type") != "GET_PLAYERS" {
				return r
			}
			return r.edit(func(o object) {
				data := o["data"].(object)
				data["players"] = append(data["players"].([]any), object{"player_id": "P06"})
			})
		}},
		{check: "manager.late.back", serve: refuses(func(_ *memory, in *asked) bool { return in.of(application) && in.text("auth_token") != "" })},
	}
}

// runningQueryMutants answer questions about the league wrongly when it runs.
func runningQueryMutants() []mutant {
	changes := func(query string, when func(m *memory, data object) bool, edit func(data object)) serve {
		return func(m *memory, in *asked, next func(*asked) *reply) *reply {
			r := next(in)
			m.Lock()
			defer m.Unlock()
			begun(m, in)
			if r.refused() || in.text("query_type") != query {
				return r
			}
			return r.edit(func(o object) {
				if data, ok := o["data"].(object); ok && when(m, data) {
					edit(data)
				}
			})
		}
	}
	status := func(wanted string) func(*memory, object) bool {
		return func(_ *memory, data object) bool { return data["status"] == wanted }
	}
	always := func(*memory, object) bool { return true }
	matches := func(data object) []object {
		var all []object
		for _, round := range data["rounds"].([]any) {
			for _, m := range round.(object)["matches"].([]any) {
				all = append(all, m.(object))
			}
		}
		return all
	}
	has := func(data object, status string) bool {
		return slices.ContainsFunc(matches(data), func(m object) bool { return m["status"] == status })
	}
	nothingNext := func(started bool) func(*memory, object) bool {
		return func(m *memory, data object) bool {
			return data["next_match"] == nil && (m.seen[starting] > 1) == started
		}
	}
	return []mutant{
		{check: "manager.query.early", serve: changes("GET_NEXT_MATCH", nothingNext(false), set("next_match", object{"match_id": "R1M1"}))},
		{check: "manager.query.over", serve: changes("GET_NEXT_MATCH", nothingNext(true), set("next_match", object{"match_id": "R1M1"}))},
		{check: "manager.query.running", serve: changes("GET_STATUS", status("running"), set("current_round", 7))},
		{check: "manager.query.schedule", serve: changes("GET_SCHEDULE", always, func(data object) {
			if rounds := data["rounds"].([]any); len(rounds) > 0 {
				data["rounds"] = rounds[:len(rounds)-1]
			}
		})},
		{check: "manager.query.progress", serve: changes("GET_SCHEDULE", func(_ *memory, data object) bool { return has(data, "PENDING") }, func(data object) {
			for _, m := range matches(data) {
				if m["status"] == "FINISHED" {
					m["status"] = "RUNNING"
				}
			}
		})},
		{check: "manager.query.next", serve: changes("GET_NEXT_MATCH", func(_ *memory, data object) bool { return data["next_match"] != nil }, func(data object) {
			data["next_match"].(object)["opponent_id"] = "P99"
		})},
		{check: "manager.standings.query", serve: changes("GET_STANDINGS", always, func(data object) {
			data["standings"].([]any)[0].(object)["draws"] = 9
		})},
		{check: "manager.load.concurrent", serve: refusesConcurrent()},
	}
}

func slowMutants() []mutant {
	return []mutant{
		{check: "manager.load.speed", halts: true, serve: func(m *memory, in *asked, next func(*asked) *reply) *reply {
			r := next(in)
			if in.text("query_type") == "GET_STATUS" && bytes.Contains(r.body, []byte(`"completed"`)) {
				time.Sleep(m.scale.of(silenceTimeout/4 + 100*time.Millisecond)) // the fault
			}
			return r
		}},
	}
}

// refusesConcurrent refuses a question for the schedule while another one comes.
func refusesConcurrent() serve {
	var waiting chan struct{} // closed when another one comes; guarded by the memory's lock
	return func(m *memory, in *asked, next func(*asked) *reply) *reply {
		if in.text("query_type") != "GET_SCHEDULE" || in.text("auth_token") == "" {
			return next(in)
		}
		m.Lock()
		if waiting != nil {
			close(waiting)
		}
		another := make(chan struct{})
		waiting = another
		m.Unlock()
		select {
		case <-another:
			return refusal(in, -32000)
		case <-time.After(m.scale.of(time.Second)): // alone
		}
		m.Lock()
		if waiting == another {
			waiting = nil
		}
		m.Unlock()
		return next(in)
	}
}
