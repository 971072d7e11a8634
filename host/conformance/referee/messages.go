package referee

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

var messageTests = map[string]func(T){
	"call.standings": func(t T) {
		const wins = 7
		if a := t.send(t.standings(wins)); a.Refused || a.Err != nil {
			t.Skip("it does not accept the standings: %s", a)
		}
		m := t.play(plan{})
		own := t.message(m, protocol.TypeChooseParityCall, playerA).fields.Object("context").Object("your_standings")
		if own == nil {
			t.Skip("the call has no standings")
		}
		for name, want := range map[string]int{"wins": wins, "points": 3*wins + 1} {
			if own.Count(name) != want {
				t.Fail("your_standings.%s is %s, want %d", name, own.Shown(name), want)
			}
		}
	},
	"call.deadline": func(t T) {
		f := t.message(t.scenario("win"), protocol.TypeChooseParityCall, playerA).fields
		deadline, _ := protocol.ParseTimestamp(f.Text("deadline"))
		if stamp, _ := protocol.ParseTimestamp(f.Text("timestamp")); deadline.Before(stamp) {
			t.Fail("deadline %s is before the timestamp %s", f.Shown("deadline"), f.Shown("timestamp"))
		}
	},
	"message.seconds": each(func(t T, s *sent) {
		kit.WholeSeconds.Test(t.T, string(s.Type), s.fields, func() { t.show(s) })
	}),
	"message.conversation": func(t T) {
		for who := range playerIDs {
			conversation := ""
			for _, s := range t.messages(t.scenario("win"), "", who) {
				if c := s.fields.Text("conversation_id"); conversation == "" {
					conversation = c
				} else if c != "" && c != conversation {
					t.failOn(s, "the conversation_id of %s is %q; before it was %q", s.Type, c, conversation)
				}
			}
		}
	},
	"message.rpc": each(func(t T, s *sent) {
		kit.Frame.Test(t.T, string(s.Type), kit.Object(s.Raw), func() { t.show(s) })
	}),
	"message.media": func(t T) {
		t.scenario("win")
		var wrong []*sent
		if t.Do(func() { wrong = slices.Clone(t.notJSON) }); len(wrong) > 0 {
			to := nameOf(wrong[0].who)
			t.Show("the referee to "+to, wrong[0].Raw)
			t.Fail("the Content-Type of %s to %s is %q", wrong[0].Type, to, wrong[0].media)
		}
	},
	"message.secret": each(func(t T, s *sent) {
		if s.who != toManager && strings.Contains(string(s.Raw), t.Token) {
			t.failOn(s, "%s to %s contains the referee's own token", s.Type, nameOf(s.who))
		}
	}),
	"invitation.parallel": parallel(protocol.TypeGameInvitation, joining()),
	"call.parallel":       parallel(protocol.TypeChooseParityCall, choosing(protocol.Even)),
	"call.after": func(t T) {
		delay := t.shortDelay()
		m := t.play(plan{join: [2]reaction{playerB: func(m *match, s *sent) kit.Response {
			m.peers.Until(delay, func() bool { return m.count(protocol.TypeChooseParityCall, playerA) > 0 })
			return joining()(m, s)
		}}})
		call, join := t.message(m, protocol.TypeChooseParityCall, playerA), t.message(m, protocol.TypeGameInvitation, playerB)
		if call.At.Before(join.answered) {
			t.failOn(call, "%s was called before %s had joined", nameOf(playerA), nameOf(playerB))
		}
	},
	"call.secret": func(t T) {
		delay := t.shortDelay()
		m := t.play(plan{choose: [2]reaction{playerB: atFirst(func(m *match, s *sent) kit.Response {
			m.peers.Until(delay, func() bool { return m.replied(playerA) })
			return busy(m, s)
		}, choosing(protocol.Odd))}})
		for _, s := range t.messages(m, "", playerB) {
			var tree any
			if s.Type == protocol.TypeGameOver || json.Unmarshal(s.Raw, &tree) != nil {
				continue
			}
			if holdsChoice(tree) {
				t.failOn(s, "%s reveals the other's choice to %s, before its own is known", s.Type, nameOf(playerB))
			}
		}
	},
}

// each looks at all messages of two matches without faults.
func each(look func(t T, s *sent)) func(t T) {
	return func(t T) {
		for _, name := range fair {
			for _, s := range t.messages(t.scenario(name), "") {
				look(t, s)
			}
		}
	}
}

// typeTests are those of every type of message: that it is whole, about its match and signed.
func typeTests() map[string]func(T) {
	won := func(typ protocol.Type) func(t T) []*sent {
		return func(t T) []*sent {
			m := t.scenario("win")
			return []*sent{t.message(m, typ, playerA), t.message(m, typ, playerB)}
		}
	}
	tests := map[string]func(T){}
	for name, find := range map[string]func(t T) []*sent{
		"invitation": won(protocol.TypeGameInvitation), "call": won(protocol.TypeChooseParityCall), "over": won(protocol.TypeGameOver),
		"report": func(t T) []*sent { return []*sent{t.report("win")} }, "error": func(t T) []*sent { return []*sent{t.firstError()} },
	} {
		each := func(look func(t T, m *match, s *sent)) func(t T) {
			return func(t T) {
				for _, s := range find(t) {
					t.show(s)
					look(t, t.matchOf(s.Match), s)
				}
			}
		}
		tests[name+".fields"] = each(func(t T, _ *match, s *sent) { t.Valid(s.fields, s.Type, false) })
		tests[name+".match"] = each(T.about)
		tests[name+".token"] = each(func(t T, m *match, s *sent) {
			token := t.Token
			if s.who != toManager {
				token = m.keys[s.who].Send
			}
			t.Says(s.fields, map[string]string{"auth_token": token})
		})
	}
	return tests
}

// about ends the check if a message contradicts what the referee knows of the match and
// of the receiver.
func (t T) about(m *match, s *sent) {
	want := map[string]string{
		"sender": protocol.Sender(protocol.RoleReferee, t.ID), "league_id": kit.League, "round_id": strconv.Itoa(m.round), "game_type": protocol.GameEvenOdd,
	}
	if s.who != toManager {
		self, other := playerIDs[s.who], playerIDs[1-s.who]
		want["player_id"], want["affected_player"], want["opponent_id"] = self, self, other
		want["role_in_match"] = [2]string{protocol.PlayerA, protocol.PlayerB}[s.who]
		t.Agrees(s.fields.Object("context"), map[string]string{"opponent_id": other})
	}
	t.Agrees(s.fields, want)
}

// parallel tests that both players are sent a message at the same time. It tries
// several times, because a busy machine may cause a delay.
func parallel(typ protocol.Type, answer reaction) func(t T) {
	return func(t T) {
		delay := t.shortDelay()
		slow := func(m *match, s *sent) kit.Response {
			m.peers.Until(delay, func() bool { return m.count(typ, playerB) > 0 })
			return answer(m, s)
		}
		p := plan{join: [2]reaction{slow}}
		if typ == protocol.TypeChooseParityCall {
			p = plan{choose: [2]reaction{slow}}
		}
		const tries = 3
		for try := 1; ; try++ {
			m := t.play(p)
			a, b := t.message(m, typ, playerA), t.message(m, typ, playerB)
			if !b.At.After(a.answered) {
				return
			}
			if try == tries {
				t.Fail("%s was sent its %s only after %s had answered, %v later", nameOf(playerB), typ, nameOf(playerA), b.At.Sub(a.At).Round(time.Millisecond))
			}
		}
	}
}

func holdsChoice(tree any) bool {
	switch v := tree.(type) {
	case string:
		return protocol.Choice(strings.ToLower(v)).Valid()
	case map[string]any:
		for _, inner := range v {
			if holdsChoice(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, holdsChoice)
	}
	return false
}
