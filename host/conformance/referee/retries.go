package referee

import (
	"slices"
	"strconv"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

const retries = 3

var retryTests = map[string]func(T){
	"retry.join":   func(t T) { t.retried(protocol.TypeGameInvitation, playerA) },
	"retry.choice": func(t T) { t.retried(protocol.TypeChooseParityCall, playerB) },
	"retry.ids": func(t T) {
		list := t.messages(t.scenario("busy"), protocol.TypeGameInvitation, playerA)
		first, second := kit.Object(list[0].Raw), kit.Object(list[1].Raw)
		t.show(list[0])
		t.show(list[1])
		if first.HasID() && string(first["id"]) == string(second["id"]) {
			t.Fail("two attempts have the id %s", first["id"])
		}
		if list[0].fields.Text("conversation_id") != list[1].fields.Text("conversation_id") {
			t.Fail("two attempts belong to different conversations")
		}
	},
	"retry.spent": func(t T) {
		m := t.scenario("always busy")
		list := t.messages(m, protocol.TypeGameInvitation, playerA)
		t.show(list[len(list)-1])
		if len(list) != 1+retries {
			t.Fail("%s, which always answered HTTP 503, was invited %s, want %d", nameOf(playerA), kit.Times(len(list)), 1+retries)
		}
		t.lost(m)
	},
	// It compares the shortest pauses of several tries: a busy machine makes
	// pauses longer, never shorter.
	"retry.backoff": func(t T) {
		const tries = 4
		var first, last time.Duration
		for try, m := 1, t.scenario("always busy"); ; try++ {
			list := t.messages(m, protocol.TypeGameInvitation, playerA)
			if len(list) <= retries {
				t.Skip("there were not %d retries", retries)
			}
			f, l := list[1].At.Sub(list[0].answered), list[retries].At.Sub(list[retries-1].answered)
			if first, last = min(first, f), min(last, l); try == 1 {
				first, last = f, l
			}
			if last > first+first/2 {
				t.Note("the first pause was %v, the last %v", first.Round(time.Millisecond), last.Round(time.Millisecond))
				return
			}
			if try == tries {
				t.failOn(list[retries], "the first pause was %v, and the last %v; it should be longer, four times by the protocol", first.Round(time.Millisecond), last.Round(time.Millisecond))
			}
			t.play(plan{}) // a referee may ask a player only once that has not answered in the last matches
			m = t.play(plan{join: [2]reaction{busy}})
		}
	},
	// It accepts a GAME_ERROR that the retry overtook: it only has to
	// arrive before the retry after that one.
	"error.announced": func(t T) {
		m := t.scenario("always busy")
		tries := t.messages(m, protocol.TypeGameInvitation, playerA)
		for n := 1; n <= retries; n++ {
			var late *sent
			found := func() bool {
				invited := 0
				for _, s := range m.sent {
					if s.who == playerA && s.Type == protocol.TypeGameInvitation {
						invited++
					}
					if s.fields.Count("retry_count") == n && s.who == playerA && s.Type == protocol.TypeGameError {
						if invited > n+1 {
							late = s
						}
						return true
					}
				}
				return false
			}
			if !t.Until(t.T.Session.Timeout, found) {
				t.failOn(tries[n], "no GAME_ERROR with retry_count %d was sent to %s, which was invited again", n, nameOf(playerA))
			}
			if late != nil {
				t.failOn(late, "GAME_ERROR with retry_count %d came after retry %d", n, n+1)
			}
		}
	},
	"error.retry": func(t T) {
		t.Says(t.firstError().fields, map[string]string{"action_required": string(protocol.TypeGameJoinAck), "retryable": "true", "max_retries": strconv.Itoa(retries)})
	},
	"error.last": func(t T) {
		m := t.scenario("always busy")
		final := func(s *sent) bool {
			info := s.fields.Object("retry_info")
			return s.who == playerA && s.Type == protocol.TypeGameError && string(s.fields["retryable"]) == "false" && !info.Has("next_retry_at")
		}
		if !t.Until(t.patience(), func() bool { return slices.ContainsFunc(m.sent, final) }) {
			if list := t.messages(m, protocol.TypeGameError, playerA); len(list) > 0 {
				t.show(list[len(list)-1])
			}
			t.Fail("no GAME_ERROR has retryable false and no next_retry_at")
		}
	},
}

// retried ends the check unless a player was sent a message again and the match was played.
func (t T) retried(typ protocol.Type, who int) {
	m := t.scenario("busy")
	list := t.messages(m, typ, who)
	for _, s := range list {
		t.show(s)
	}
	if len(list) < 2 {
		t.Fail("%s answered %s with HTTP 503 and was not sent it again", nameOf(who), typ)
	}
	if typ == protocol.TypeChooseParityCall {
		if o := t.ended(t.message(m, protocol.TypeGameOver, who)); o.Choices[playerIDs[who]] == "" {
			t.Fail("the choice of %s did not count: choices are %v", nameOf(who), o.Choices)
		}
	}
}

func (t T) firstError() *sent {
	for _, s := range t.messages(t.scenario("always busy"), protocol.TypeGameError, playerA) {
		if s.fields.Count("retry_count") == 1 {
			t.show(s)
			return s
		}
	}
	t.Fail("there is no GAME_ERROR with retry_count 1")
	return nil
}

// pauses returns the first and the last of the pauses between the attempts.
var faultTests = map[string]func(T){
	"fault.declined": func(t T) { t.losesAtOnce("declined", protocol.TypeGameInvitation) },
	"fault.invalid":  func(t T) { t.losesAtOnce("invalid", protocol.TypeChooseParityCall) },
	"fault.score":    judged("scoring", true, []string{"declined", "both declined"}, protocol.TypeGameOver, protocol.TypeMatchResultReport),
	"fault.nodraw": declined(func(t T, s *sent, o protocol.GameResult) {
		if _, drawn := o.DrawnNumber.Get(); drawn || o.NumberParity.Value() != "" || len(o.Choices) > 0 {
			t.failOn(s, "%s has the number %d, %q, with the choices %v", s.Type, o.DrawnNumber.Value(), o.NumberParity.Value(), o.Choices)
		}
	}),
	"fault.names": declined(func(t T, s *sent, o protocol.GameResult) {
		if !slices.Equal(o.TechnicalLossPlayerIDs, playerIDs[:1]) {
			t.failOn(s, "technical_loss_player_ids of %s is %v, want %v", s.Type, o.TechnicalLossPlayerIDs, playerIDs[:1])
		}
	}),
	"fault.join":   func(t T) { t.losesByTimeout("no join", protocol.TypeGameInvitation) },
	"fault.choice": func(t T) { t.losesByTimeout("no choice", protocol.TypeChooseParityCall) },
}

// declined looks at what is said of a match that a player has declined.
func declined(look func(t T, s *sent, o protocol.GameResult)) func(t T) {
	return func(t T) {
		for _, s := range []*sent{t.message(t.scenario("declined"), protocol.TypeGameOver, playerB), t.report("declined")} {
			look(t, s, t.ended(s))
		}
	}
}

// losesAtOnce ends the check unless the first player has lost without a retry.
func (t T) losesAtOnce(scenario string, asked protocol.Type) {
	m := t.scenario(scenario)
	if list := t.messages(m, asked, playerA); len(list) > 1 {
		t.show(list[0])
		t.failOn(list[1], "%s was sent %s %s", nameOf(playerA), asked, kit.Times(len(list)))
	}
	t.lost(m)
}

func (t T) losesByTimeout(scenario string, asked protocol.Type) {
	m := t.start(scenario)
	t.awaitProgress(func() bool { return m.count(asked, playerA) > 1 || m.count(protocol.TypeGameOver, playerB) > 0 })
	if list := t.messages(m, asked, playerA); len(list) > 1 && list[1].At.Sub(list[0].At) > t.patience() {
		t.skipSlow() // the match began long ago
	}
	t.awaitEnd(m)
	t.lost(m)
}

func (t T) lost(m *match) {
	if !t.technical(m) {
		t.Fail("status is not %s", protocol.StatusTechnicalLoss)
	}
}
