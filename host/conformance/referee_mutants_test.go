package conformance_test

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

func refereeMutants() []mutant {
	return slices.Concat(registeringMutants("referee", refereeRegistration, "referee_meta"), roundMutants(), askingMutants(), turnMutants(), resultMutants(), reportMutants(), refereeDrawMutants(),
		replyMutants(), postedMutants(), retryMutants(), faultMutants(), trustMutants(), framing("referee", "update_standings"), dialectMutants("referee", standings), burdenMutants(),
		attackedMutants("referee", announcement, "notify_match_result"), takesMatch("referee", announcement), refereeHostileMutants())
}

const refereeRegistration = "REFEREE_REGISTER_REQUEST"

func roundMutants() []mutant {
	var last []byte
	return []mutant{
		{check: "referee.register.retry", busy: true, out: instead(refereeRegistration, isBusy, acceptsReferee)}, // it never looks at the status
		{check: "referee.register.fields", out: emits(refereeRegistration, func(o object) { delete(o["referee_meta"].(object), "max_concurrent_matches") })},
		{check: "referee.round.plays", halts: true, out: only(invitation, func(_ *memory, body []byte, _ onward) (*jsonrpc.Reply, error) { return declining(reading(body)), nil })},
		{check: "referee.round.announced", halts: true, serve: hears(announcement, set("matches", []any{}))},
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
		{check: "referee.invitation.fields", out: emits(invitation, drop("timestamp"))},
		{check: "referee.call.fields", out: emits(call, drop("protocol"))},
		{check: "referee.over.match", halts: true, out: emits(over, set("sender", "referee:REF99"))},
		{check: "referee.invitation.token", out: emits(invitation, set("auth_token", "another"))},
		{check: "referee.call.token", out: emits(call, drop("auth_token"))},
		{check: "referee.over.fields", out: emits(over, func(o object) { delete(o["game_result"].(object), "reason") })},
		{check: "referee.over.token", halts: true, out: emits(over, set("auth_token", "another"))},
		{check: "referee.invitation.match", out: emits(invitation, set("league_id", "another"))},
		{check: "referee.call.match", out: emits(call, set("game_type", "chess"))},
		{check: "referee.over.match", out: emits(over, set("round_id", 99))},
		{check: "referee.invitation.fields", out: emits(invitation, drop("role_in_match"))},
		{check: "referee.invitation.fields", out: emits(invitation, drop("opponent_id"))},
		{check: "referee.call.fields", out: emits(call, drop("player_id"))},
		{check: "referee.call.fields", out: emits(call, within("context", drop("opponent_id")))},
		{check: "referee.call.standings", out: emits(call, within("context", within("your_standings", set("wins", 0))))},
		{check: "referee.call.deadline", out: emits(call, set("deadline", "2026-03-14T09:10:13Z"))},
		{check: "referee.invitation.fields", halts: true, out: emits(invitation, set("timestamp", "2026-03-14T11:10:13+02:00"))},
		{check: "referee.message.seconds", out: emits(over, set("timestamp", "2026-03-14T09:10:13.5Z"))},
		{check: "referee.message.conversation", out: emits(call, set("conversation_id", "another"))},
		{check: "referee.message.rpc", out: only(call, func(_ *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			return next(bytes.Replace(body, []byte(`"jsonrpc":"2.0"`), []byte(`"jsonrpc":"1.0"`), 1))
		})},
		{check: "referee.message.media", media: "text/plain"},
		{check: "referee.message.secret", out: then(
			receives(refereeRegistration, func(_ *sent, o object) { token, _ = o["auth_token"].(string) }),
			emits(over, func(o object) { o["x_signed"] = token }))},
	}
}

// oneAfterTheOther sends a type to the second player only when the first has
// answered.
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
			<-done
		}
		return next(body)
	})
}

// callsEarly calls the first player before the second has joined, in the matches
// of one check: the second is invited once the first was called.
func callsEarly(check string) mutant {
	called, early := map[string]chan struct{}{}, map[string]*jsonrpc.Reply{}
	return mutant{check: check, out: func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
		s := reading(body)
		match := s.text("match_id")
		m.Lock()
		if m.check == check && called[match] == nil && s.of(invitation) && m.seen[match] == 0 {
			called[match] = make(chan struct{})
		}
		if s.of(invitation) {
			m.count(match)
		}
		done, before := called[match], early[match]
		first := m.count(s.key()) == 1
		m.Unlock()
		switch {
		case done == nil:
		case s.of(invitation) && s.text("role_in_match") == "PLAYER_B":
			<-done
		case s.of(invitation) && first:
			defer close(done)
			r, err := next(body)
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
	}}
}

func turnMutants() []mutant {
	return []mutant{
		{check: "referee.invitation.parallel", out: oneAfterTheOther(invitation, func(s *sent) bool { return s.text("role_in_match") == "PLAYER_A" })},
		{check: "referee.call.parallel", out: oneAfterTheOther(call, func(s *sent) bool { return s.text("player_id") == "P01" })},
		callsEarly("referee.call.after"),
		{check: "referee.call.secret", out: sends(call, func(m *memory, s *sent) {
			if m.count(s.key()) > 1 {
				s.message["context"].(object)["opponent_choice"] = "even"
			}
		})},
	}
}
