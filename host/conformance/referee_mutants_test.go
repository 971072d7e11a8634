package conformance_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/conformance"
	"github.com/strategylab/strategylab/host/jsonrpc"
)

// TestRefereeMutants has, for every check, a referee that fails it and no
// other.
func TestRefereeMutants(t *testing.T) {
	t.Parallel()
	examineMutants(t, conformance.Referee, refereeMutants(), mutatedReferee)
}

func refereeMutants() []mutant {
	return slices.Concat(refereeRegisteringMutants(), roundMutants(), askingMutants(), turnMutants(), resultMutants(), reportMutants(),
		replyMutants(), postedMutants(), retryMutants(), faultMutants(), trustMutants(), frameMutants(), burdenMutants(),
		attackedMutants("referee", announcement, "notify_match_result"), refereeHostileMutants(), refereeEndMutants())
}

const refereeRegistration = "REFEREE_REGISTER_REQUEST"

func refereeRegisteringMutants() []mutant {
	registers := func(edit func(s *sent)) out {
		return only(refereeRegistration, func(_ *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			s := reading(body)
			edit(s)
			return next(write(s.doc))
		})
	}
	meta := func(edit func(object)) out {
		return registers(func(s *sent) { edit(s.message["referee_meta"].(object)) })
	}
	message := func(edit func(object)) out { return registers(func(s *sent) { edit(s.message) }) }
	return []mutant{
		{check: "referee.register.rpc", out: registers(func(s *sent) { s.doc["jsonrpc"] = "1.0" })},
		{check: "referee.register.header", out: message(drop("conversation_id"))},
		{check: "referee.register.timestamp", out: message(set("timestamp", "2026-03-14T11:10:13+02:00"))},
		{check: "referee.register.sender", out: message(set("sender", "rhadamanthys"))},
		{check: "referee.register.meta", out: meta(drop("display_name"))},
		{check: "referee.register.games", out: meta(set("game_types", "even_odd"))},
		{check: "referee.register.endpoint", out: meta(set("contact_endpoint", "http://127.0.0.1:1/mcp"))},
		{check: "referee.register.listens", wrap: deafUntilRegistered, out: only(refereeRegistration, func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			defer func() {
				m.Lock()
				defer m.Unlock()
				if m.count("registered") == 1 {
					close(m.done)
				}
			}()
			return next(body)
		})},
		{check: "referee.register.retry", busy: true, out: only(refereeRegistration, func(_ *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			r, err := next(body)
			if err == nil && r.Status == http.StatusServiceUnavailable {
				return refereeAcceptance(body), nil // it never looks at the status
			}
			return r, err
		})},
	}
}

func roundMutants() []mutant {
	var last []byte
	return []mutant{
		{check: "referee.round.plays", out: only(invitation, func(_ *memory, body []byte, _ onward) (*jsonrpc.Reply, error) { return declining(reading(body)), nil })},
		{check: "referee.round.ack", serve: refuses(isType(announcement))},
		{check: "referee.standings.ack", serve: refuses(isType(standings))},
		{check: "referee.roundend.ack", serve: refuses(isType("ROUND_COMPLETED"))},
		{check: "referee.round.others", serve: func(_ *memory, in *asked, next func(*asked) *reply) *reply {
			return next(&asked{body: bytes.ReplaceAll(in.body, []byte(`"referee_id":"REF02"`), []byte(`"referee_id":"REF01"`)), header: in.header})
		}},
		{check: "referee.round.again", serve: func(m *memory, in *asked, next func(*asked) *reply) *reply {
			m.Lock()
			defer m.Unlock()
			if in.of(announcement) && m.count(string(bytes.Join(matchID.FindAll(in.body, -1), nil))) == 2 {
				m.count("again")
			}
			return next(in)
		}, out: only(invitation, func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			m.Lock()
			earlier := last
			if reading(body).text("role_in_match") == "PLAYER_A" {
				last = body
			} else {
				earlier = nil
			}
			again := m.seen["again"] > 0 && earlier != nil
			if again {
				delete(m.seen, "again")
			}
			m.Unlock()
			if again {
				_, _ = next(earlier)
			}
			return next(body)
		})},
	}
}

var matchID = regexp.MustCompile(`"match_id":"[^"]*"`)

func askingMutants() []mutant {
	token := ""
	within := func(name string, edit func(object)) func(object) {
		return func(o object) { edit(o[name].(object)) }
	}
	return []mutant{
		{check: "referee.invitation.header", out: emits(invitation, drop("timestamp"))},
		{check: "referee.call.header", out: emits(call, drop("protocol"))},
		{check: "referee.over.header", out: emits(over, set("sender", "referee:REF99"))},
		{check: "referee.invitation.token", out: emits(invitation, set("auth_token", "another"))},
		{check: "referee.call.token", out: emits(call, drop("auth_token"))},
		{check: "referee.over.token", out: emits(over, set("auth_token", "another"))},
		{check: "referee.invitation.match", out: emits(invitation, set("league_id", "another"))},
		{check: "referee.call.match", out: emits(call, set("game_type", "chess"))},
		{check: "referee.over.match", out: emits(over, set("round_id", 99))},
		{check: "referee.invitation.role", out: emits(invitation, set("role_in_match", "A"))},
		{check: "referee.invitation.opponent", out: emits(invitation, drop("opponent_id"))},
		{check: "referee.call.player", out: emits(call, drop("player_id"))},
		{check: "referee.call.context", out: emits(call, within("context", drop("opponent_id")))},
		{check: "referee.call.standings", out: emits(call, within("context", within("your_standings", set("wins", 0))))},
		{check: "referee.call.deadline", out: emits(call, set("deadline", "2026-03-14T09:10:13Z"))},
		{check: "referee.message.utc", out: emits(over, set("timestamp", "2026-03-14T11:10:13+02:00"))},
		{check: "referee.message.seconds", out: emits(over, set("timestamp", "2026-03-14T09:10:13.5Z"))},
		{check: "referee.message.conversation", out: emits(call, set("conversation_id", "another"))},
		{check: "referee.message.rpc", out: only(call, func(_ *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			return next(bytes.Replace(body, []byte(`"jsonrpc":"2.0"`), []byte(`"jsonrpc":"1.0"`), 1))
		})},
		{check: "referee.message.secret", out: func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			m.Lock()
			s := reading(body)
			if s.of(over) {
				s.message["x_signed"] = token
			}
			m.Unlock()
			r, err := next(write(s.doc))
			if err == nil && s.of(refereeRegistration) {
				m.Lock()
				walk(parse(r.Body), func(o object) { token, _ = o["auth_token"].(string) })
				m.Unlock()
			}
			return r, err
		}},
	}
}

// oneAfterTheOther sends a type to the second player only when the first has
// answered, or has had time to do so.
func oneAfterTheOther(t string, isFirst func(s *sent) bool) out {
	answered := map[string]chan struct{}{}
	return only(t, func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
		s := reading(body)
		match := s.text("match_id")
		m.Lock()
		first := m.count(s.key()) == 1
		if answered[match] == nil {
			answered[match] = make(chan struct{})
		}
		done := answered[match]
		m.Unlock()
		switch {
		case first && isFirst(s):
			defer close(done)
		case first:
			select {
			case <-done:
			case <-time.After(refereeTimeout / 10): // a slow player takes half of that
			}
		}
		return next(body)
	})
}

// callsEarly calls on the first player while the second has not joined, if that
// takes its time.
func callsEarly() out {
	joined, early := map[string]chan struct{}{}, map[string]*jsonrpc.Reply{}
	return func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
		s := reading(body)
		match := s.text("match_id")
		m.Lock()
		if joined[match] == nil {
			joined[match] = make(chan struct{})
		}
		other, before := joined[match], early[match]
		m.Unlock()
		switch {
		case s.of(invitation) && s.text("role_in_match") == "PLAYER_B":
			r, err := next(body)
			m.Lock()
			defer m.Unlock()
			if m.count("joined"+match) == 1 {
				close(other)
			}
			return r, err
		case s.of(invitation):
			r, err := next(body)
			select {
			case <-other:
				return r, err
			case <-time.After(100 * time.Millisecond):
			}
			c := parse(body)
			c["method"] = "parity_choose"
			walk(c, func(o object) {
				o["message_type"], o["player_id"], o["deadline"] = call, "P01", "2027-03-14T09:10:13Z"
				o["context"] = object{"opponent_id": "P02", "your_standings": object{"wins": 0, "losses": 0, "draws": 0, "points": 0}}
			})
			if answer, err := next(write(c)); err == nil {
				m.Lock()
				early[match] = answer
				m.Unlock()
			}
			return r, err
		case s.of(call) && s.text("player_id") == "P01" && before != nil:
			doc := parse(before.Body)
			doc["id"] = s.doc["id"]
			return &jsonrpc.Reply{Status: before.Status, Header: before.Header, Body: write(doc)}, nil
		}
		return next(body)
	}
}

func turnMutants() []mutant {
	return []mutant{
		{check: "referee.invitation.parallel", out: oneAfterTheOther(invitation, func(s *sent) bool { return s.text("role_in_match") == "PLAYER_A" })},
		{check: "referee.call.parallel", out: oneAfterTheOther(call, func(s *sent) bool { return s.text("player_id") == "P01" })},
		{check: "referee.call.after", out: callsEarly()},
		{check: "referee.call.secret", out: only(call, func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			s := reading(body)
			m.Lock()
			again := m.count(s.key()) > 1
			m.Unlock()
			if again {
				s.message["context"].(object)["opponent_choice"] = "even"
			}
			return next(write(s.doc))
		})},
	}
}

func whole(v any) int64 {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return i
}

func resultMutants() []mutant {
	first := ""
	return []mutant{
		{check: "referee.over.number", out: results(func(_, _, d object) {
			if d["drawn_number"] != nil {
				d["drawn_number"] = 12 - whole(d["drawn_number"])%2
			}
		})},
		{check: "referee.over.winner", out: only(over, results(func(_, r, _ object) {
			if r["status"] == "WIN" {
				r["winner_player_id"] = map[any]string{"P01": "P02", "P02": "P01"}[r["winner_player_id"]]
			}
		}))},
		{check: "referee.over.choices", out: results(func(o, _, d object) {
			if o["match_id"] == "R1M1" {
				d["choices"] = object{"P01": "even"}
			}
		})},
		{check: "referee.over.both", out: func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			s := reading(body)
			m.Lock()
			if s.of(invitation) && s.text("match_id") == "R1M1" && s.text("role_in_match") == "PLAYER_A" {
				first = s.text("auth_token")
			}
			if s.of(over) && s.text("match_id") == "R1M1" && s.text("auth_token") != first {
				r := s.message["game_result"].(object)
				r["drawn_number"] = 1 + (whole(r["drawn_number"])+1)%10
				body = write(s.doc)
			}
			m.Unlock()
			return next(body)
		}},
		{check: "referee.over.once", out: again(over)},
	}
}

// again sends messages of a type twice that were taken.
func again(t string) out {
	return only(t, func(_ *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
		r, err := next(body)
		if err == nil && r.Status == http.StatusOK && reading(body).text("match_id") == "R1M1" {
			return next(body)
		}
		return r, err
	})
}

func reportMutants() []mutant {
	var kept []func()
	deaf := map[string]bool{}
	return []mutant{
		{check: "referee.report.header", out: emits(report, drop("conversation_id"))},
		{check: "referee.report.token", out: emits(report, set("auth_token", "another"))},
		{check: "referee.report.match", out: emits(report, drop("league_id"))},
		{check: "referee.report.score", out: reported(func(_, r, d object) {
			if d["status"] == "WIN" {
				r["score"] = object{"P01": 2, "P02": 0}
			}
		})},
		{check: "referee.report.details", out: emits(report, inFirst(func(o object) {
			delete(o["result"].(object)["details"].(object), "choices")
		}))},
		{check: "referee.report.order", out: func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			s := reading(body)
			if s.text("match_id") != "R1M1" || !s.of(over) && !s.of(report) {
				return next(body)
			}
			m.Lock()
			defer m.Unlock()
			if s.of(over) {
				kept = append(kept, func() { _, _ = next(body) })
				return overTaken(s), nil
			}
			r, err := next(body)
			for _, late := range kept {
				late()
			}
			return r, err
		}},
		{check: "referee.report.once", out: again(report)},
		{check: "referee.report.retry", out: instead(report, isBusy, recorded)},
		{check: "referee.report.duplicate", out: only(report, func(_ *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			r, err := next(body)
			if holds("5003")(nil, r, err) {
				return next(body)
			}
			return r, err
		})},
		{check: "referee.report.renew", out: instead(report, holds("E012"), recorded)},
		{check: "referee.report.deaf", out: func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			s := reading(body)
			m.Lock()
			lost := deaf[s.text("match_id")]
			m.Unlock()
			if lost && s.of(report) {
				return nil, &jsonrpc.CallError{Kind: jsonrpc.ErrConnect, Err: errGone}
			}
			r, err := next(body)
			if s.of(over) && isBusy(s, r, err) {
				m.Lock()
				deaf[s.text("match_id")] = true
				m.Unlock()
			}
			return r, err
		}},
		{check: "referee.over.retry", out: instead(over, isBusy, overTaken)},
	}
}

func replyMutants() []mutant {
	tokens := map[string]any{}
	return []mutant{
		{check: "referee.reply.match", out: receives(invitation, func(s *sent, o object) { o["match_id"] = s.text("match_id") })},
		{check: "referee.reply.player", out: receives(call, func(s *sent, o object) { o["player_id"] = s.text("player_id") })},
		{check: "referee.reply.token", out: func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			s := reading(body)
			return receives(s.text("message_type"), func(_ *sent, o object) {
				m.Lock()
				defer m.Unlock()
				token, _ := o["auth_token"].(string)
				who := s.text("match_id") + s.text("player_id")
				if s.of(invitation) {
					who += map[string]string{"PLAYER_A": "P01", "PLAYER_B": "P02"}[s.text("role_in_match")]
					tokens[who] = token
				}
				if s.of(call) && strings.HasSuffix(token, forged) {
					o["auth_token"] = tokens[who]
				}
			})(m, body, next)
		}},
		{check: "referee.reply.empty", out: receives(call, func(_ *sent, o object) {
			if o["parity_choice"] == nil && o["choice"] == nil && o["message_type"] != nil {
				o["parity_choice"] = "none"
			}
		})},
		{check: "referee.reply.raw", out: receives(call, func(_ *sent, o object) {
			if token, _ := o["auth_token"].(string); strings.HasPrefix(token, "tok-P01") {
				o["auth_token"] = "tok" + forged
			}
		})},
		{check: "referee.reply.accepted", out: receives(invitation, func(_ *sent, o object) {
			if o["accept"] == nil {
				o["accept"] = false
			}
		})},
		{check: "referee.reply.choice", out: receives(call, func(_ *sent, o object) { delete(o, "choice") })},
		{check: "referee.reply.members", out: instead(call, holds("x_weather"), refusing)},
	}
}

func postedMutants() []mutant {
	ended := map[string]bool{}
	take := func(name string, when func(in *asked) bool) mutant {
		return mutant{check: "referee.posted." + name, serve: takes(func(in *asked) bool { return in.of(choice) && when(in) })}
	}
	return []mutant{
		{check: "referee.posted.join", serve: refuses(isType("GAME_JOIN_ACK"))},
		{check: "referee.posted.choice", serve: refuses(isType(choice))},
		take("token", func(in *asked) bool { return strings.HasSuffix(in.text("auth_token"), forged) }),
		take("missing", func(in *asked) bool { return in.text("auth_token") == "" }),
		take("other", func(in *asked) bool { return in.text("sender") == "player:P02" }),
		take("match", func(in *asked) bool { return in.text("match_id") == "R0M99" }),
		{check: "referee.posted.late", serve: func(m *memory, in *asked, next func(*asked) *reply) *reply {
			m.Lock()
			late := in.of(choice) && ended[in.text("match_id")]
			m.Unlock()
			if late {
				return taken(in)
			}
			return next(in)
		}, out: only(over, func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			m.Lock()
			ended[reading(body).text("match_id")] = true
			m.Unlock()
			return next(body)
		})},
	}
}

func retryMutants() []mutant {
	busyTimes, slowed := map[string]int{}, map[string]bool{}
	return []mutant{
		{check: "referee.retry.join", out: instead(invitation, isBusy, declining)},
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
		{check: "referee.retry.spent", out: instead(invitation, func(s *sent, r *jsonrpc.Reply, err error) bool {
			if isBusy(s, r, err) {
				busyTimes[s.key()]++
			}
			return busyTimes[s.key()] == 4
		}, accepting)},
		{check: "referee.retry.backoff", out: func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
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
				time.Sleep(time.Second) // it is the fault: the first pause is the longest
			}
			r, err := next(body)
			if first && isBusy(s, r, err) {
				m.Lock()
				slowed[key] = true
				m.Unlock()
			}
			return r, err
		}},
		{check: "referee.error.told", out: only(gameError, func(_ *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			if s := reading(body); whole(s.message["retry_count"]) == 2 {
				return said("GAME_ERROR_ACK", object{"status": "ACKNOWLEDGED"})(s), nil
			}
			return next(body)
		})},
		{check: "referee.error.header", out: emits(gameError, set("auth_token", "another"))},
		{check: "referee.error.fields", out: emits(gameError, drop("error_code"))},
		{check: "referee.error.last", out: emits(gameError, set("retryable", true))},
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
	return []mutant{
		{check: "referee.fault.declined", out: instead(invitation, holds(`"accept":false`), unavailable)},
		{check: "referee.fault.invalid", out: receives(call, func(_ *sent, o object) {
			if c, ok := o["parity_choice"].(string); ok {
				o["parity_choice"] = strings.ToLower(c)
			}
		})},
		{check: "referee.fault.score", out: only(report, faulty(func(r, _ object) {
			if r["winner"] == "P02" {
				r["score"] = object{"P01": 0, "P02": 1}
			}
		}))},
		{check: "referee.fault.nodraw", out: faulty(func(_, d object) { d["drawn_number"], d["number_parity"] = 4, "even" })},
		{check: "referee.fault.names", out: faulty(func(_, d object) { delete(d, "technical_loss_player_ids") })},
		{check: "referee.fault.both", out: only(report, faulty(func(r, _ object) {
			if r["winner"] == nil {
				r["winner"] = "P01"
			}
		}))},
		{check: "referee.fault.join", out: instead(invitation, brokenOff, accepting)},
		{check: "referee.fault.choice", out: instead(call, brokenOff, evenly)},
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
		{check: "referee.auth.quiet", serve: func(_ *memory, in *asked, next func(*asked) *reply) *reply {
			r := next(in)
			if token := in.text("auth_token"); r.refused() && in.of(standings) && strings.HasSuffix(token, forged) {
				doc := parse(r.body)
				doc["error"].(object)["message"] = "bad token " + token
				r.body = write(doc)
			}
			return r
		}},
		{check: "referee.auth.completed", serve: takes(func(in *asked) bool { return in.of(complete) && strings.HasSuffix(in.text("auth_token"), forged) })},
	}
}

func frameMutants() []mutant {
	return append(framing("referee", "update_standings"),
		mutant{check: "referee.dialect.envelope", serve: refuses(methodIs("league.handle"))},
		mutant{check: "referee.dialect.tool", serve: refuses(func(_ *memory, in *asked) bool { return bodyHas(`"arguments"`)(in) })},
		mutant{check: "referee.dialect.tool-io", serve: refuses(func(_ *memory, in *asked) bool { return bodyHas(`"input"`)(in) })},
		mutant{check: "referee.dialect.bare", serve: func(_ *memory, in *asked, next func(*asked) *reply) *reply {
			r := next(in)
			if doc := parse(in.body); doc["jsonrpc"] == nil && doc["message_type"] != nil {
				r.body = write(object{"jsonrpc": "2.0", "id": nil, "result": parse(r.body)})
			}
			return r
		}},
		mutant{check: "referee.dialect.type", serve: refuses(methodIs(standings))},
		mutant{check: "referee.dialect.unknown", serve: refuses(methodIs("unknown"))},
		mutant{check: "referee.fields.unknown", serve: func(_ *memory, in *asked, next func(*asked) *reply) *reply {
			if bodyHas("x_weather")(in) {
				return refusal(in, -32602)
			}
			return next(in)
		}},
	)
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

func burdenMutants() []mutant {
	matches := func(in *asked) int { return bytes.Count(in.body, []byte(`"match_id"`)) }
	return []mutant{
		{check: "referee.load.concurrent", serve: func(_ *memory, in *asked, next func(*asked) *reply) *reply {
			if matches(in) == 5 {
				doc := parse(in.body)
				walk(doc, func(o object) { o["matches"] = o["matches"].([]any)[:4] })
				in = &asked{body: write(doc), header: in.header}
			}
			return next(in)
		}},
		{check: "referee.load.limit", out: emits(refereeRegistration, func(o object) { o["referee_meta"].(object)["max_concurrent_matches"] = 2 })},
		stalling("referee.load.stalled"),
		{check: "referee.load.speed", serve: func(m *memory, in *asked, next func(*asked) *reply) *reply {
			m.Lock()
			slow := m.seen["many"] == 1 && matches(in) == 1
			if slow || matches(in) > 5 {
				m.count("many")
			}
			m.Unlock()
			if slow {
				time.Sleep(refereeTimeout / 3) // it is the fault
			}
			return next(in)
		}},
	}
}

// stalling serves one request after the other.
func stalling(check string) mutant {
	return mutant{check: check, wrap: func(m *memory, h http.Handler) http.Handler {
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
		return mutant{check: role + ".hostile." + name, serve: takes(when)}
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
		{check: role + ".hostile.verb", wrap: func(_ *memory, h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet {
					h.ServeHTTP(w, r)
				}
			})
		}},
		{check: role + ".hostile.codes", serve: func(_ *memory, in *asked, next func(*asked) *reply) *reply {
			r := next(in)
			if doc := parse(r.body); r.refused() {
				if e, ok := doc["error"].(object); ok && e["code"] == json.Number("-32700") {
					e["code"] = -32000
					r.body = write(doc)
				}
			}
			return r
		}},
	}
}

func refereeHostileMutants() []mutant {
	take := func(name string, when func(in *asked) bool) mutant {
		return mutant{check: "referee.hostile." + name, serve: takes(when)}
	}
	return []mutant{
		take("match", func(in *asked) bool {
			list, _ := in.message()["matches"].([]any)
			return len(list) == 1 && list[0].(object)["match_id"] == nil
		}),
		take("wrongtype", bodyHas(`"match_id":7`)),
		take("path", bodyHas(`"match_id":"../`)),
		take("self", bodyHas(`"player_B_id":"P01"`)),
		take("twice", func(in *asked) bool {
			ids := matchID.FindAll(in.body, -1)
			return len(ids) == 2 && bytes.Equal(ids[0], ids[1])
		}),
		take("game", bodyHas("chess")),
		{check: "referee.hostile.then", serve: func(m *memory, in *asked, next func(*asked) *reply) *reply {
			// What was nested too deep has left something behind.
			if bodyHas("[[[[[[[[[[")(in) {
				m.Lock()
				m.count("deep")
				m.Unlock()
			}
			return next(in)
		}, out: only(over, func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			m.Lock()
			broken := m.seen["deep"] > 0
			m.Unlock()
			if broken {
				return overTaken(reading(body)), nil
			}
			return next(body)
		})},
	}
}

func refereeEndMutants() []mutant {
	return []mutant{
		{check: "referee.end.ack", serve: refuses(isType(complete))},
		{check: "referee.register.once", out: only(refereeRegistration, func(_ *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			if r, err := next(body); err != nil || r.Status != http.StatusOK {
				return r, err
			}
			return next(body)
		})},
	}
}
