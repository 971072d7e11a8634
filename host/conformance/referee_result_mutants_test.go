package conformance_test

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

func whole(v any) int64 {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return i
}

var otherParity = map[any]any{"even": "odd", "odd": "even"}

func resultMutants() []mutant {
	return []mutant{
		{check: "referee.over.number", out: only(over, results(func(_, _, d object) {
			d["number_parity"] = otherParity[d["number_parity"]]
		}))},
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
		{check: "referee.over.both", out: sends(over, func(m *memory, s *sent) {
			if s.text("match_id") == "R1M1" && m.count(over) == 2 {
				r := s.message["game_result"].(object)
				r["drawn_number"] = 1 + (whole(r["drawn_number"])+1)%10
			}
		})},
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
		{check: "referee.report.fields", out: emits(report, drop("conversation_id"))},
		{check: "referee.report.token", out: emits(report, set("auth_token", "another"))},
		{check: "referee.report.fields", out: emits(report, drop("league_id"))},
		{check: "referee.report.match", out: emits(report, set("game_type", "chess"))},
		{check: "referee.report.score", out: reported(func(_, r, d object) {
			if d["status"] == "WIN" {
				r["score"] = object{"P01": 2, "P02": 0}
			}
		})},
		{check: "referee.report.tie", out: reported(func(_, r, d object) {
			if d["status"] == "DRAW" {
				r["winner"] = "DRAW"
			}
		})},
		{check: "referee.report.fields", out: emits(report, inFirst(func(o object) {
			delete(o["result"].(object)["details"].(object), "choices")
		}))},
		{check: "referee.report.details", out: reported(func(_, _, d object) { d["number_parity"] = otherParity[d["number_parity"]] })},
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
		{check: "referee.report.retry", halts: true, out: instead(report, isBusy, recorded)},
		{check: "referee.report.duplicate", out: only(report, func(_ *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			r, err := next(body)
			if holds("5003")(nil, r, err) {
				return next(body)
			}
			return r, err
		})},
		{check: "referee.report.renew", halts: true, out: instead(report, holds("E012"), recorded)},
		{check: "referee.report.deaf", halts: true, out: func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
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
		{check: "referee.over.retry", halts: true, out: instead(over, isBusy, overTaken)},
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
				delete(o, "parity_choice") // as if it were not taken
				delete(o, "choice")
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
	take := func(name string, when func(in *asked) bool) mutant {
		return mutant{check: "referee.posted." + name, serve: accepts(func(in *asked) bool { return in.of(choice) && when(in) })}
	}
	return []mutant{
		{check: "referee.posted.join", serve: refuses(isType("GAME_JOIN_ACK"))},
		{check: "referee.posted.choice", serve: refuses(isType(choice))},
		take("token", func(in *asked) bool { return strings.HasSuffix(in.text("auth_token"), forged) }),
		take("missing", func(in *asked) bool { return in.text("auth_token") == "" }),
		take("other", func(in *asked) bool { return in.text("sender") == "player:P02" }),
		take("match", func(in *asked) bool { return in.text("match_id") == "R0M99" }),
		{check: "referee.posted.late", serve: answering(func(m *memory, in *asked, r *reply) *reply {
			if in.of(choice) && m.seen["end of "+in.text("match_id")] > 0 {
				return accepted(in)
			}
			return r
		}), out: sends(over, func(m *memory, s *sent) { m.count("end of " + s.text("match_id")) })},
	}
}
