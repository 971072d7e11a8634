package conformance_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// acked returns an acknowledgement of a message.
func acked(s *sent) *jsonrpc.Reply {
	m := object{"protocol": "league.v2", "message_type": s.text("message_type") + "_ACK", "timestamp": "2026-03-14T09:10:13Z", "status": "ACKNOWLEDGED"}
	return &jsonrpc.Reply{Status: http.StatusOK, Body: write(object{"jsonrpc": "2.0", "id": s.doc["id"], "result": m})}
}

// toReferee reports whether a message goes to a referee, by the token that was
// sent with a match to conduct.
func toReferee(m *memory, s *sent) bool {
	token := s.text("auth_token")
	if s.of(announcement) && bytes.Contains(s.body, []byte("player_A_endpoint")) {
		m.tokens["referee"+token] = token
	}
	return m.tokens["referee"+token] != ""
}

// inRound reports whether a message is about a round.
func inRound(s *sent, round int) bool { return fmt.Sprint(s.message["round_id"]) == fmt.Sprint(round) }

// loses swallows the first message of a type in a round to somebody.
func loses(t string, round int) out {
	return only(t, func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
		s := reading(body)
		m.Lock()
		first := (round == 0 || inRound(s, round)) && m.count(t) == 1
		m.Unlock()
		if first {
			return acked(s), nil
		}
		return next(body)
	})
}

// toReferees changes messages of a type in a round, or with 0 in all, to
// referees.
func toReferees(t string, round int, edit func(object)) out {
	return func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
		s := reading(body)
		m.Lock()
		referee := toReferee(m, s)
		m.Unlock()
		if referee && s.of(t) && (round == 0 || inRound(s, round)) {
			edit(s.message)
			body = write(s.doc)
		}
		return next(body)
	}
}

// frames changes the JSON-RPC frame of messages of a type.
func frames(t string, edit func(doc object)) out {
	return only(t, func(_ *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
		doc := parse(body)
		id := doc["id"]
		edit(doc)
		r, err := next(write(doc))
		if err == nil {
			answer := parse(r.Body)
			answer["id"] = id
			r = &jsonrpc.Reply{Status: r.Status, Header: r.Header, Body: write(answer)}
		}
		return r, err
	})
}

// repeats sends a message of a type in a round twice to a referee.
func repeats(t string, round int) out {
	return after(t, round, func(_ *memory, s *sent) []byte { return renumbered(s.body) })
}

// renumbered is the same message under another id.
func renumbered(body []byte) []byte {
	doc := parse(body)
	doc["id"] = "again"
	return write(doc)
}

// after sends something more to the first referee, once, after a message of a type.
func after(t string, round int, more func(m *memory, s *sent) []byte) out {
	return func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
		s := reading(body)
		m.Lock()
		m.tokens[s.text("message_type")+s.text("auth_token")] = string(body) // the latest of its type
		m.Unlock()
		r, err := next(body)
		if err != nil || !s.of(t) || round != 0 && !inRound(s, round) || !bytes.Contains(r.Body, []byte(`"referee_id":"REF01"`)) {
			return r, err
		}
		m.Lock()
		first := m.count(t) == 1
		m.Unlock()
		if first {
			if _, err := next(more(m, s)); err != nil {
				return nil, err
			}
		}
		return r, nil
	}
}

// delays keeps a message of a type in a round until one of another type has gone
// to the same agent, or with "" until a referee was sent the round.
func delays(t string, round int, until string) out {
	var kept func()
	var whose string
	return func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
		s := reading(body)
		m.Lock()
		referee := toReferee(m, s)
		keep := s.of(t) && inRound(s, round) && kept == nil && referee == (until != "")
		if keep {
			whose = s.text("auth_token")
			kept = func() { _, _ = next(body) } // it is a fault anyway
		}
		due := kept != nil && !keep && (until == "" && referee || s.of(until) && s.text("auth_token") == whose)
		late := kept
		m.Unlock()
		if keep {
			return acked(s), nil
		}
		r, err := next(body)
		if due {
			m.Lock()
			if whose == "" {
				due = false
			}
			whose = ""
			m.Unlock()
			if due {
				late()
			}
		}
		return r, err
	}
}

// rows returns the lines of a table in a message.
func rows(o object, name string) []object {
	var all []object
	for _, r := range o[name].([]any) {
		all = append(all, r.(object))
	}
	return all
}

func swapsRanks(i, j int) func(object) {
	return func(o object) {
		r := rows(o, "standings")
		r[i]["rank"], r[j]["rank"] = r[j]["rank"], r[i]["rank"]
	}
}

// matches changes the matches of announcements.
func inMatches(edit func(match object)) func(object) {
	return func(o object) {
		for _, match := range rows(o, "matches") {
			edit(match)
		}
	}
}

func scheduleMutants() []mutant {
	const elsewhere = "http://127.0.0.1:1/mcp"
	given := func(name string, value any) func(object) {
		return inMatches(func(match object) {
			if match[name] != nil {
				match[name] = value
			}
		})
	}
	return []mutant{
		{check: "manager.round.given", halts: true, out: func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			s := reading(body)
			m.Lock()
			lost := toReferee(m, s) && s.of(announcement) && inRound(s, 2)
			m.Unlock()
			if lost {
				return acked(s), nil
			}
			return next(body)
		}},
		{check: "manager.round.announced", out: func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			s := reading(body)
			m.Lock()
			referee := toReferee(m, s)
			m.Unlock()
			if s.of(announcement) && referee {
				return assignsAlone(s, next)
			}
			return next(body)
		}},
		{check: "manager.round.players", out: loses(announcement, 3)},
		{check: "manager.round.first", out: delays(announcement, 1, "")},
		repaired(),
		{check: "manager.round.byes", out: emits(announcement, set("byes", []any{}))},
		{check: "manager.round.same", out: only(announcement, func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			s := reading(body)
			m.Lock()
			first := inRound(s, 3) && m.count(announcement) == 1
			m.Unlock()
			if first {
				match := rows(s.message, "matches")[0]
				match["player_A_id"], match["player_B_id"] = match["player_B_id"], match["player_A_id"]
				body = write(s.doc)
			}
			return next(body)
		})},
		{check: "manager.round.referee", out: emits(announcement, given("referee_endpoint", elsewhere))},
		{check: "manager.round.endpoints", out: emits(announcement, given("player_A_endpoint", elsewhere))},
	}
}

func privacyMutants() []mutant {
	return []mutant{
		{check: "manager.round.private", serve: remembers(application, func(m *memory, in, _ object) {
			m.last, _ = in["player_meta"].(object)["contact_endpoint"].(string)
		}), out: emitsRemembered(announcement)},
		{check: "manager.round.keys", out: emits(announcement, inMatches(func(match object) {
			if keys, ok := match["player_B_keys"].(object); ok {
				keys["expect"] = "0123456789abcdef"
			}
		}))},
		{check: "manager.round.secret", out: func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			s := reading(body)
			m.Lock()
			defer m.Unlock()
			if s.of(announcement) {
				each(s.doc, func(o object) {
					if keys, ok := o["player_A_keys"].(object); ok {
						m.last = fmt.Sprint(keys["send"])
					}
				})
			}
			if s.of(standings) {
				s.message["x_stored"] = m.last
				body = write(s.doc)
			}
			m.Unlock()
			defer m.Lock()
			return next(body)
		}},
	}
}

// remembers keeps something of requests of a type, and of their answers.
func remembers(t string, keep func(m *memory, request, answer object)) serve {
	return func(m *memory, in *asked, next func(*asked) *reply) *reply {
		r := next(in)
		if in.of(t) && !r.refused() {
			m.Lock()
			defer m.Unlock()
			walk(parse(r.body), func(o object) { keep(m, in.message(), o) })
		}
		return r
	}
}

// emitsRemembered tells everybody what was remembered last.
func emitsRemembered(t string) out {
	return func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
		m.Lock()
		stored := m.last
		m.Unlock()
		return emits(t, set("x_stored", stored))(m, body, next)
	}
}

// leagueMutants have faults in how a league is run.
func leagueMutants() []mutant {
	return slices.Concat(startMutants(), runningQueryMutants(), slowMutants(), reportTakingMutants(), badReportMutants(), scheduleMutants(), privacyMutants(), sentMutants(), tableMutants(), notifyMutants())
}
