package conformance_test

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// What mutants are made of that change what an agent sends.

const (
	announcement = "ROUND_ANNOUNCEMENT"
	report       = "MATCH_RESULT_REPORT"
	choice       = "CHOOSE_PARITY_RESPONSE"
	technical    = "TECHNICAL_LOSS"
)

// sent is a message on its way from an agent.
type sent struct {
	doc, message object
	body         []byte
}

func reading(body []byte) *sent {
	s := &sent{doc: parse(body), message: object{}, body: body}
	walk(s.doc, func(o object) { s.message = o })
	return s
}

func (s *sent) text(name string) string {
	t, _ := s.message[name].(string)
	return t
}

func (s *sent) of(t string) bool { return s.text("message_type") == t }

// key is the match and who plays in it.
func (s *sent) key() string {
	return s.text("match_id") + s.text("role_in_match") + s.text("player_id")
}

type onward = func([]byte) (*jsonrpc.Reply, error)

// sends changes messages of a type before they leave, under the mutant's lock.
func sends(t string, edit func(m *memory, s *sent)) out {
	return only(t, func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
		s := reading(body)
		m.Lock()
		edit(m, s)
		m.Unlock()
		return next(write(s.doc))
	})
}

// emits is sends for what needs no memory.
func emits(t string, edit func(object)) out {
	return sends(t, func(_ *memory, s *sent) { edit(s.message) })
}

// then has what one leaves changed by another.
func then(first, second out) out {
	return func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
		return first(m, body, func(body []byte) (*jsonrpc.Reply, error) { return second(m, body, next) })
	}
}

// hears changes requests of a type before they arrive.
func hears(t string, edit func(object)) serve {
	return func(_ *memory, in *asked, next func(*asked) *reply) *reply {
		if in.of(t) {
			in = in.changed(edit)
		}
		return next(in)
	}
}

// inFirst does something to a message of the first match only.
func inFirst(edit func(object)) func(object) {
	return func(o object) {
		if o["match_id"] == "R1M1" {
			edit(o)
		}
	}
}

// results changes how a match ended, as the players are told it and as the
// manager is: the result itself and its details, which are one for players.
func results(edit func(o, result, details object)) out {
	return func(_ *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
		s := reading(body)
		switch {
		case s.of(over):
			r := s.message["game_result"].(object)
			edit(s.message, r, r)
		case s.of(report):
			r := s.message["result"].(object)
			edit(s.message, r, r["details"].(object))
		default:
			return next(body)
		}
		return next(write(s.doc))
	}
}

// reported is results for the manager only.
func reported(edit func(o, result, details object)) out {
	return only(report, results(edit))
}

func only(t string, do out) out {
	return func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
		if !of(body, t) {
			return next(body)
		}
		return do(m, body, next)
	}
}

// receives changes the answers to messages of a type, where they are no
// refusals.
func receives(t string, edit func(s *sent, answer object)) out {
	return only(t, func(_ *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
		r, err := next(body)
		if err != nil || r.Status != http.StatusOK {
			return r, err
		}
		doc := parse(r.Body)
		s := reading(body)
		walk(doc, func(o object) { edit(s, o) })
		return &jsonrpc.Reply{Status: r.Status, Header: r.Header, Body: write(doc)}, nil
	})
}

// instead replaces the answers to messages of a type, where a condition holds.
func instead(t string, when func(s *sent, r *jsonrpc.Reply, err error) bool, with func(s *sent) *jsonrpc.Reply) out {
	return only(t, func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
		r, err := next(body)
		m.Lock()
		defer m.Unlock()
		if s := reading(body); when(s, r, err) {
			return with(s), nil
		}
		return r, err
	})
}

func isBusy(_ *sent, r *jsonrpc.Reply, err error) bool {
	return err == nil && r.Status == http.StatusServiceUnavailable
}

func brokenOff(_ *sent, _ *jsonrpc.Reply, err error) bool { return err != nil }

func holds(text string) func(*sent, *jsonrpc.Reply, error) bool {
	return func(_ *sent, r *jsonrpc.Reply, err error) bool {
		return err == nil && bytes.Contains(r.Body, []byte(text))
	}
}

// unavailable is what a busy peer answers.
func unavailable(s *sent) *jsonrpc.Reply {
	return &jsonrpc.Reply{Status: http.StatusServiceUnavailable, Body: refusal(&asked{body: s.body}, 48).body}
}

func refusing(s *sent) *jsonrpc.Reply {
	return &jsonrpc.Reply{Status: http.StatusOK, Body: refusal(&asked{body: s.body}, -32000).body}
}

// said makes up the answer to a message, with some members.
func said(t string, more object) func(s *sent) *jsonrpc.Reply {
	return func(s *sent) *jsonrpc.Reply {
		m := object{"protocol": "league.v2", "message_type": t, "timestamp": "2026-03-14T09:10:13Z", "match_id": s.text("match_id")}
		for k, v := range more {
			m[k] = v
		}
		return &jsonrpc.Reply{Status: http.StatusOK, Body: write(object{"jsonrpc": "2.0", "id": s.doc["id"], "result": m})}
	}
}

var (
	accepting      = said("GAME_JOIN_ACK", object{"accept": true})
	declining      = said("GAME_JOIN_ACK", object{"accept": false})
	evenly         = said(choice, object{"parity_choice": "even"})
	recorded       = said("MATCH_RESULT_ACK", object{"status": "ACCEPTED", "recorded": true})
	acceptsPlayer  = said("LEAGUE_REGISTER_RESPONSE", object{"status": "ACCEPTED", "player_id": "P01"})
	acceptsReferee = said("REFEREE_REGISTER_RESPONSE", object{"status": "ACCEPTED", "referee_id": "REF01", "auth_token": "tok-REF01-elsewhere", "league_id": "conformance"})
	overTaken      = said("GAME_OVER_ACK", object{"status": "ACKNOWLEDGED"})
)

// matchKeys are the keys that players sign with, by those of their referees.
type matchKeys map[any]any

// learn is a mutant.serve that reads them in announcements.
func (k matchKeys) learn(m *memory, in *asked, next func(*asked) *reply) *reply {
	m.Lock()
	params, _ := parse(in.body)["params"].(object)
	matches, _ := params["matches"].([]any)
	for _, one := range matches {
		for _, name := range []string{"player_A_keys", "player_B_keys"} {
			if keys, ok := one.(object)[name].(object); ok {
				k[keys["send"]] = keys["expect"]
			}
		}
	}
	m.Unlock()
	return next(in)
}

// signed makes up an answer that bears the player's key.
func (k matchKeys) signed(answer func(s *sent) *jsonrpc.Reply) func(s *sent) *jsonrpc.Reply {
	return func(s *sent) *jsonrpc.Reply {
		r := answer(s)
		doc := parse(r.Body)
		doc["result"].(object)["auth_token"] = k[s.text("auth_token")]
		return &jsonrpc.Reply{Status: r.Status, Body: write(doc)}
	}
}

var errGone = errors.New("gone")

func of(body []byte, t string) bool { return (&asked{body: body}).of(t) }
