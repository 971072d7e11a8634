package player

import (
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
)

func sample(t *kit.T) kit.Request {
	p := with(t)
	return kit.Request{Message: p.invitation(p.begin())}
}

// dialectTests are about the wrappings and names of messages. A player that
// understands only its own can play under most managers.
func dialectTests() map[string]func(T) {
	named := func(join, choose string) func(T) {
		return func(t T) {
			m := t.begin()
			kit.Request{Message: t.call(m)}.HasMethods(t.T)
			t.Accepted(t.deliver(kit.Request{Message: t.invitation(m), Method: join}), protocol.TypeGameJoinAck)
			t.chooses(t.deliver(kit.Request{Message: t.call(m), Method: choose}))
		}
	}
	tests := map[string]func(T){
		"dialect.alias":   named("handle_game_invitation", "choose_parity"),
		"dialect.type":    named(string(protocol.TypeGameInvitation), string(protocol.TypeChooseParityCall)),
		"dialect.lower":   named("game_invitation", "choose_parity_call"),
		"dialect.unknown": named("unknown", "unknown"),
	}
	for _, d := range append(dialect.OfProtocol(), dialect.HandleMessage) {
		tests["dialect."+d.Name] = func(t T) { t.playsIn(t.OfKind(d)) }
	}
	return tests
}

func (t T) playsIn(d *dialect.Dialect) {
	m := t.begin()
	join := t.deliver(kit.Request{Message: t.invitation(m), Dialect: d})
	if !t.AnsweredIn(join, d) {
		return
	}
	t.Accepted(join, protocol.TypeGameJoinAck)
	a := t.deliver(kit.Request{Message: t.call(m), Dialect: d})
	t.chooses(a)
	t.AnsweredIn(a, d)
}

var fieldTests = map[string]func(T){
	"rpc.version": func(t T) {
		_, a := t.invited()
		if slices.Contains([]string{dialect.Bare.Name, "request"}, a.Wrapping) {
			t.Skip("its answers are not JSON-RPC responses")
		}
		if v := a.Document.Text("jsonrpc"); v != "2.0" {
			t.Fail("jsonrpc is %s", a.Document.Shown("jsonrpc"))
		}
		if _, both := a.Document["error"]; both {
			t.Fail("error stands beside result; many callers take that for a failure, even if it is null")
		}
	},
	"rpc.notification": func(t T) {
		m, err := protocol.Refuse(protocol.CodeLeagueNotStarted, "", "it is about to start").Message(t.Header(protocol.TypeLeagueError, 1))
		if err != nil {
			panic(err) // all of it can be encoded
		}
		d := t.T.Session.Peer().Speaks()
		if _, err := d.Call(m); err != nil {
			t.Skip("it is sent messages in %s, in which a LEAGUE_ERROR is not a request", d.Name)
		}
		r := kit.Request{Message: m, NoID: true}
		r.WrapsInRPC(t.T)
		if a := t.Send(r); a.Refused || !a.OK() {
			t.Fail("answered by %s", a)
		}
	},
	"fields.unknown": func(t T) {
		m := t.begin()
		more := func(m map[string]any) {
			m["x_weather"], m["x_list"], m["x_object"] = "sunny", []any{1, nil}, map[string]any{"a": true}
		}
		t.Accepted(t.send(t.invitation(m), more), protocol.TypeGameJoinAck)
		t.chooses(t.send(t.call(m), more))
	},
	"fields.time": func(t T) {
		for _, stamp := range []string{"2026-03-14T09:10:13.250Z", "2026-03-14T09:10:13.250001+00:00", "2026-03-14T09:10:13+00:00"} {
			m := t.begin()
			invitation := t.invitation(m)
			invitation.Timestamp = stamp
			t.Accepted(t.send(invitation), protocol.TypeGameJoinAck)
			call := t.call(m)
			call.Timestamp = stamp
			t.chooses(t.send(call))
		}
	},
	"fields.optional": func(t T) {
		call := t.call(t.joined())
		call.LeagueID, call.RoundID = "", protocol.Round{}
		t.chooses(t.send(call))
	},
	"fields.missing": func(t T) {
		t.readable(t.send(t.call(t.joined()), kit.Delete("context", "deadline", "game_type", "player_id", "conversation_id")))
	},
	"fields.round": func(t T) {
		m := t.begin()
		t.readable(t.send(t.invitation(m), kit.Set("round_id", fmt.Sprintf("ROUND_%d", m.round))))
	},
}

// stalled sends an invitation, and then calls.
func stalled(t *kit.T) func() *kit.Answer {
	p := with(t)
	m, invited := p.begin(), false
	return func() *kit.Answer {
		if !invited {
			invited = true
			return p.send(p.invitation(m))
		}
		a := p.send(p.call(m))
		p.chooses(a)
		return a
	}
}

// notOther ends the check if an answer is about another of the matches. A wrong id
// that is of none of them is for other checks to find.
func (t T) notOther(a *kit.Answer, m match, all []match) {
	id := a.Message.Text("match_id")
	if id != m.id && slices.ContainsFunc(all, func(other match) bool { return other.id == id }) {
		t.Fail("asked about match %s, it answers for %s", m.id, id)
	}
}

// all does something for every match at once, and ends the check like the first that failed.
func (t T) all(matches []match, do func(t T, m match)) {
	for _, m := range matches {
		defer t.Go(func(own *kit.T) { do(with(own), m) })()
	}
}

// attacks are those of all roles, and bad invitations.
func attacks() []kit.Attack {
	return append(kit.Attacks("notify_match_result"),
		kit.Attack{Name: "match", Edit: kit.Delete("match_id")},
		kit.Attack{Name: "wrongtype", Edit: kit.Set("match_id", []int{7})},
		kit.Attack{Name: "path", Edit: kit.Set("match_id", "../../R1M1")},
		kit.Attack{Name: "game", Edit: kit.Set("game_type", "chess")},
	)
}
