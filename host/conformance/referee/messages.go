package referee

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/protocol"
)

var messageTests = map[string]step{
	"call.standings": func(t *T) {
		const wins = 7
		if a := t.Tell(t.standings(wins)); a.Refused || a.Err != nil {
			t.Skip("it does not accept the standings: %s", a)
		}
		t.play(nil)
		own := t.first(chooseA).Fields.Object("context").Object("your_standings")
		if own == nil {
			t.Skip("the call has no standings")
		}
		t.Says(own, map[string]string{"wins": strconv.Itoa(wins), "points": strconv.Itoa(3*wins + 1)})
	},
	"call.deadline": each(func(_ *T, s *sent) string {
		deadline, _ := protocol.ParseTimestamp(s.Fields.Text("deadline"))
		if stamp, _ := protocol.ParseTimestamp(s.Fields.Text("timestamp")); s.Type == protocol.TypeChooseParityCall && deadline.Before(stamp) {
			return fmt.Sprintf("deadline %s is before the timestamp %s", s.Fields.Shown("deadline"), s.Fields.Shown("timestamp"))
		}
		return ""
	}),
	"message.seconds": each(func(_ *T, s *sent) string { return kit.WholeSeconds(s.Fields) }),
	"message.conversation": each(func(t *T, s *sent) string {
		was, c := t.messages(spot{who: s.who})[0].Fields.Text("conversation_id"), s.Fields.Text("conversation_id")
		if s.who != toManager && was != "" && c != "" && c != was {
			return fmt.Sprintf("the conversation_id is %q; before it was %q", c, was)
		}
		return ""
	}),
	"message.rpc": each(func(_ *T, s *sent) string { return kit.Frame(s.Doc) }),
	"message.media": one("win", func(t *T) {
		t.Do(func() {
			for _, s := range t.all {
				if media := s.Header.Get("Content-Type"); !kit.IsJSON(media) {
					t.show(s)
					t.Fail("the Content-Type of %s to %s is %q", s.Type, nameOf(s.who), media)
				}
			}
		})
	}),
	"message.secret": each(func(t *T, s *sent) string {
		if s.who != toManager && strings.Contains(string(s.Raw), t.Token) {
			return "it contains the referee's own token"
		}
		return ""
	}),
	"invitation.parallel": parallel(joinA, joinB),
	"call.parallel":       parallel(chooseA, chooseB),
	"call.after": kit.Script(plays(plan{joinB: waits(func(m *match) bool { return m.count(chooseA) > 0 })}), func(t *T) {
		call, join := t.first(chooseA), t.first(joinB)
		if call.At.Before(join.End()) {
			t.failOn(call, "%s was called before %s had joined", nameOf(playerA), nameOf(playerB))
		}
	}),
	"call.secret": kit.Script(plays(plan{chooseB: turns(func(m *match, s *sent, usual kit.Response) kit.Response {
		waits(replied)(m, s, usual)
		return busy(m, s, usual)
	})}), func(t *T) {
		for _, s := range t.messages(spot{who: playerB}) {
			if s.Type != protocol.TypeGameOver && choiceAsValue.Match(s.Raw) {
				t.failOn(s, "%s reveals the other's choice to %s, before its own is known", s.Type, nameOf(playerB))
			}
		}
	}),
}

// parallel tests that both players are sent a message at the same time. It tries
// several times, because a busy machine may cause a delay.
func parallel(first, second spot) step {
	slow := waits(func(m *match) bool { return m.count(second) > 0 })
	return func(t *T) {
		const tries = 3
		for try := 1; ; try++ {
			t.play(plan{first: slow})
			a, b := t.first(first), t.first(second)
			if !b.At.After(a.End()) {
				return
			}
			if try == tries {
				t.Fail("%s was sent its %s only after %s had answered, %v later", nameOf(playerB), first.typ, nameOf(playerA), b.At.Sub(a.At).Round(time.Millisecond))
			}
		}
	}
}

// choiceAsValue is a choice in a document, as a member or in a list.
var choiceAsValue = regexp.MustCompile(`(?i)[\[:,]\s*"(even|odd)"\s*[,\]}]`)

// typeTests are those of every type of message: that it is whole, about its match and signed.
func typeTests() map[string]step {
	tests := map[string]step{}
	for name, of := range map[string]struct {
		scenario string
		at       []spot
	}{
		"invitation": {"win", []spot{joinA, joinB}}, "call": {"win", []spot{chooseA, chooseB}}, "over": {"win", []spot{overA, overB}},
		"report": {"win", []spot{reported}}, "error": {"always busy", []spot{errorA}},
	} {
		for rule, look := range map[string]func(t *T, s *sent){
			"fields": func(t *T, s *sent) { t.Valid(s.Fields, s.Type, false) },
			"match":  (*T).about,
			"token": func(t *T, s *sent) {
				token := t.Token
				if s.who != toManager {
					token = t.match.keys[s.who].Send
				}
				t.Says(s.Fields, map[string]string{"auth_token": token})
			},
		} {
			tests[name+"."+rule] = one(of.scenario, func(t *T) {
				for _, at := range of.at {
					look(t, t.first(at))
				}
			})
		}
	}
	return tests
}

// about ends the check if a message contradicts what the referee knows of the match and
// of the receiver.
func (t *T) about(s *sent) {
	want := map[string]string{
		"sender": protocol.Sender(protocol.RoleReferee, t.ID), "league_id": kit.League, "round_id": strconv.Itoa(t.round), "game_type": protocol.GameEvenOdd,
	}
	if s.who != toManager {
		self, other := playerIDs[s.who], playerIDs[1-s.who]
		want["player_id"], want["affected_player"], want["opponent_id"] = self, self, other
		want["role_in_match"] = [2]string{protocol.PlayerA, protocol.PlayerB}[s.who]
		t.Agrees(s.Fields.Object("context"), map[string]string{"opponent_id": other})
	}
	t.Agrees(s.Fields, want)
}

var resultTests = map[string]step{
	"over.number":  judged("numbers", true, fair, protocol.TypeGameOver),
	"over.winner":  judged("scoring", false, fair, protocol.TypeGameOver),
	"over.choices": judged("choices", true, fair, protocol.TypeGameOver),
	"over.both":    judged("same-result", false, fair, protocol.TypeGameOver),
	"over.once":    in(fair, once(protocol.TypeGameOver, "it was acknowledged")),
	"over.retry":   kit.Script(endRefused, sentAgain(overA)),
	"report.score": judged("scoring", false, fair, protocol.TypeMatchResultReport),
	"report.tie": one("tie", func(t *T) {
		if result := t.first(reported).Fields.Object("result"); result.Has("winner") {
			t.Fail("winner is %s", result.Shown("winner"))
		}
	}),
	"report.details": kit.Script(
		judged("choices", true, fair, protocol.TypeMatchResultReport), judged("numbers", true, fair, protocol.TypeMatchResultReport),
		judged("same-result", false, fair, protocol.TypeGameOver, protocol.TypeMatchResultReport)),
	"report.order": one("win", func(t *T) {
		s := t.first(reported)
		for _, at := range []spot{overA, overB} {
			if t.first(at).At.After(s.At) {
				t.Fail("the report came before %s was sent GAME_OVER", nameOf(at.who))
			}
		}
	}),
	// In the meantime, it could have been.
	"report.once": kit.Script(plays(nil), in(fair, once(protocol.TypeMatchResultReport, "it was acknowledged"))),
	"report.retry": kit.Script(plays(plan{reported: turns(busy)}),
		sentAgain(reported),
		judged("same-result", false, nil, protocol.TypeMatchResultReport)),
	"report.duplicate": kit.Script(
		plays(plan{reported: refuses(protocol.Refuse(protocol.CodeDuplicateReport, protocol.TypeMatchResultReport, "this match has been reported").With("same_result", true))}),
		meanwhile, func(t *T) {
			t.Until(t.shortDelay(), func() bool { return t.count(reported) > 1 })
		}, once(protocol.TypeMatchResultReport, "it was refused as a duplicate")),
	"report.renew": func(t *T) {
		before := len(t.Attempts())
		t.Do(func() { t.Renewals++ })
		t.announce(plan{reported: turns(refuses(protocol.Refuse(protocol.CodeTokenInvalid, protocol.TypeMatchResultReport, "the token is not known")))})
		awaits(reported, 2, "the manager refused a report with E012, and no other report came")(t)
		if len(t.Attempts()) == before {
			t.show(t.messages()...)
			t.Fail("the report was repeated without another registration")
		}
	},
	"report.deaf": kit.Script(endRefused, awaits(reported, 1, "player P01 answered GAME_OVER with HTTP 503, and no report came")),
}

func endRefused(t *T) { t.start("end refused") }

var drawTests = map[string]step{
	"draws.plain": each(func(_ *T, s *sent) string {
		for _, name := range []string{"draw_commitment", "draw_key", "draw_nonces"} {
			if s.Fields.Has(name) && s.who != toManager {
				return fmt.Sprintf("%s is %s", name, s.Fields.Shown(name))
			}
		}
		return ""
	}),
	"draws.kept": kit.Script(committed, one("verifiable, busy", func(t *T) {
		for _, s := range t.messages(chooseA, chooseB) {
			if first := t.commitment(s.who); s.Fields.Text("draw_commitment") != first {
				t.failOn(s, "draw_commitment is %s when the call is repeated, and was %q", s.Fields.Shown("draw_commitment"), first)
			}
		}
	})),
	"draws.verified": kit.Script(committed, judged("commitments", false, []string{"verifiable", "verifiable too"}, protocol.TypeGameOver)),
}

// commitment returns what a player got with the first call for a choice.
func (t *T) commitment(who int) string {
	return t.first(spot{who, protocol.TypeChooseParityCall}).Fields.Text("draw_commitment")
}

// committed skips the check of a referee that commits to no draw.
var committed = one("verifiable", func(t *T) {
	if t.commitment(playerA) == "" && t.commitment(playerB) == "" {
		t.Skip("not offered: CHOOSE_PARITY_CALL has no draw_commitment for players that understand %s", draws.Scheme)
	}
})
