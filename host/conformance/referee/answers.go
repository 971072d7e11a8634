package referee

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

// again tests that the first answer at a spot does not count: the player is asked again, or loses.
func again(at spot, first kit.Edit) step {
	return kit.Script(plays(plan{at: turns(edits(first))}), func(t *T) {
		if asked := t.messages(at); len(asked) < 2 && !t.technical() {
			t.failOn(asked[0], "the answer was accepted")
		}
	})
}

// counts tests that the answers of the first player count at once.
func counts(p plan) step {
	return kit.Script(plays(p), func(t *T) {
		if t.technical() || len(t.messages(chooseA)) > 1 {
			t.failOn(t.first(chooseA), "the answers of %s did not count at once: %s", nameOf(playerA), t.summary())
		}
	})
}

var replyTests = map[string]step{
	"reply.match":  again(joinA, kit.Set("match_id", "R0M0")),
	"reply.player": again(chooseA, kit.Set("player_id", playerIDs[playerB])),
	"reply.token":  again(chooseA, kit.Set("auth_token", kit.Forged)),
	"reply.empty": kit.Script(plays(plan{chooseA: turns(edits(kit.Delete("parity_choice", "choice")))}), func(t *T) {
		if t.technical() {
			t.failOn(t.first(chooseA), "an answer without a choice has lost the match at once; it may have been damaged in transit")
		}
	}),
	"reply.raw":      counts(plan{joinA: signsRaw, chooseA: signsRaw}),
	"reply.accepted": counts(plan{joinA: edits(kit.Delete("accept", "status"))}),
	"reply.choice":   counts(plan{chooseA: edits(kit.Delete("parity_choice"))}),
	"reply.members": counts(plan{
		joinA: edits(kit.Set("x_weather", "sunny")), chooseA: edits(kit.Set("x_weather", []any{"sunny", nil})),
	}),
	"reply.late": func(t *T) {
		t.start("late")
		if !t.soon(t.gaveUp) {
			t.skipSlow()
		}
		t.awaitEnd()
		asked, booked := t.messages(chooseA), t.booked()
		switch {
		case booked == protocol.Odd:
			t.failOn(asked[0], "the choice odd of %s arrived after the time of its call, and counts", nameOf(playerA))
		case len(asked) > 1 && booked == "":
			t.failOn(asked[1], "the answer to the second call arrived in time, and does not count")
		case len(asked) == 1 && booked != "": // it was given up just after that
			t.skipSlow()
		}
		t.play(nil)
		if booked = t.booked(); booked != protocol.Even {
			t.Fail("in the next match, %s chose even; GAME_OVER has %q", nameOf(playerA), booked)
		}
	},
	"call.whole": kit.Script(unanswered("no choice", chooseA), func(t *T) {
		call := t.first(chooseA)
		left, ok := call.left()
		if !ok {
			t.Skip("the call has no deadline, or one that is past when it arrives: %s", call.Fields.Shown("deadline"))
		}
		all := t.messages(spot{who: playerA})
		next := all[1+slices.IndexFunc(all, func(s *sent) bool { return s.spot == chooseA })]
		waited := next.At.Sub(call.At)
		if waited < left-time.Second { // times are whole seconds
			t.failOn(next, "%s follows %v after the call, which gives %s %v", next.Type, waited, nameOf(playerA), left)
		}
		t.Note("given up %v after the call, of %v", waited.Round(time.Millisecond), left.Round(time.Millisecond))
	}),
}

// left returns how much time a call gives, counted from its arrival. Because
// clocks may differ, it also compares the deadline with the call's timestamp.
func (s *sent) left() (time.Duration, bool) {
	deadline, err := protocol.ParseTimestamp(s.Fields.Text("deadline"))
	if err != nil {
		return 0, false
	}
	left := deadline.Sub(s.At)
	if stamp, err := protocol.ParseTimestamp(s.Fields.Text("timestamp")); err == nil {
		left = min(left, deadline.Sub(stamp))
	}
	return left, left > 0
}

// only has the first player only confirm what it is sent in a new match, until it posts its answer.
func only(at spot) step {
	return kit.Script(func(t *T) { t.announce(plan{at: received}) }, awaits(at, 1, "%s was sent no %s", nameOf(at.who), at.typ))
}

// posted tests that a posted choice is refused.
func posted(change func(m *match, msg *protocol.ChooseParityResponse)) step {
	return kit.Script(only(chooseA), func(t *T) {
		msg := t.chooses(playerA)
		change(t.match, msg)
		a := t.Tell(msg)
		evidence := t.Evidence
		t.Tell(t.chooses(playerA))
		t.awaitEnd()
		t.Evidence = evidence
		t.Refused(a)
	})
}

var postedTests = map[string]step{
	"posted.join": kit.Script(only(joinA), func(t *T) {
		t.Accepted(t.Tell(t.joins(playerA)), "")
		t.awaitEnd()
		t.first(chooseA)
	}),
	"posted.choice": kit.Script(only(chooseA), func(t *T) {
		t.Accepted(t.Tell(t.chooses(playerA)), "")
		t.awaitEnd()
		if c := t.booked(); c != protocol.Even {
			t.Fail("the posted choice did not count: GAME_OVER has %q", c)
		}
	}),
	"posted.token":   posted(func(_ *match, msg *protocol.ChooseParityResponse) { msg.AuthToken = kit.Forged }),
	"posted.missing": posted(func(_ *match, msg *protocol.ChooseParityResponse) { msg.AuthToken = "" }),
	"posted.other": posted(func(m *match, msg *protocol.ChooseParityResponse) {
		msg.Sender, msg.AuthToken = protocol.Sender(protocol.RolePlayer, playerIDs[playerB]), m.keys[playerB].Expect
	}),
	"posted.match": posted(func(_ *match, msg *protocol.ChooseParityResponse) { msg.MatchID = "R0M99" }),
	"posted.late":  kit.Script(plays(nil), func(t *T) { t.Refused(t.Tell(t.chooses(playerA))) }),
}

const retries = 3

var retryTests = map[string]step{
	"retry.join":   one("busy", sentAgain(joinA)),
	"retry.choice": kit.Script(one("busy", sentAgain(chooseB)), judged("choices", true, []string{"busy"}, protocol.TypeGameOver)),
	"retry.ids": one("busy", func(t *T) {
		list := t.messages(joinA)
		first, second := kit.Object(list[0].Raw), kit.Object(list[1].Raw)
		t.show(list[:2]...)
		if first.HasID() && bytes.Equal(first.Get("id"), second.Get("id")) {
			t.Fail("two attempts have the id %s", first.Get("id"))
		}
		if list[0].Fields.Text("conversation_id") != list[1].Fields.Text("conversation_id") {
			t.Fail("two attempts belong to different conversations")
		}
	}),
	"retry.spent": one("always busy", func(t *T) {
		list := t.messages(joinA)
		if t.show(list[len(list)-1]); len(list) != 1+retries {
			t.Fail("%s, which always answered HTTP 503, was invited %s, want %d", nameOf(playerA), kit.Times(len(list)), 1+retries)
		}
	}, lost),
	// It compares the shortest pauses of several tries: a busy machine makes
	// pauses longer, never shorter.
	"retry.backoff": one("always busy", func(t *T) {
		const tries = 4
		first, last := time.Hour, time.Hour
		for try := 1; last <= first+first/2; try++ {
			if try > tries {
				t.Fail("the first pause was %v, and the last %v; it should be longer, four times by the protocol", first.Round(time.Millisecond), last.Round(time.Millisecond))
			}
			if try > 1 {
				t.play(nil) // a referee may ask a player only once that has not answered in the last matches
				t.play(plan{joinA: busy})
			}
			list := t.messages(joinA)
			if len(list) <= retries {
				t.Skip("there were not %d retries", retries)
			}
			t.show(list[retries])
			first = min(first, list[1].At.Sub(list[0].End()))
			last = min(last, list[retries].At.Sub(list[retries-1].End()))
		}
		t.Note("the first pause was %v, the last %v", first.Round(time.Millisecond), last.Round(time.Millisecond))
	}),
	// A retry may overtake its GAME_ERROR, which only has to come before the retry after that one.
	"error.announced": one("always busy", func(t *T) {
		for n := 1; n <= retries; n++ {
			s := t.told(fmt.Sprintf("a GAME_ERROR with retry_count %d", n), func(s *sent) bool { return s.Fields.Count("retry_count") == n })
			if slices.ContainsFunc(t.messages(joinA), func(i *sent) bool { return i.n > n+1 && i.At.Before(s.At) }) {
				t.Fail("GAME_ERROR with retry_count %d came after retry %d", n, n+1)
			}
			t.Says(s.Fields, map[string]string{
				"action_required": string(protocol.TypeGameJoinAck), "retryable": "true", "max_retries": strconv.Itoa(retries),
			})
		}
	}),
	"error.last": one("always busy", func(t *T) {
		t.told("a GAME_ERROR with retryable false and no next_retry_at", func(s *sent) bool {
			return s.Fields.Get("retryable").Kind() == 'f' && !s.Fields.Object("retry_info").Has("next_retry_at")
		})
	}),
}

// told waits until the first player has been sent a certain GAME_ERROR.
func (t *T) told(what string, is func(s *sent) bool) (told *sent) {
	t.Until(t.patience(), func() bool {
		i := slices.IndexFunc(t.sent, func(s *sent) bool { return s.spot == errorA && is(s) })
		if i >= 0 {
			told = new(*t.sent[i])
		}
		return i >= 0
	})
	if told == nil {
		t.show(t.messages(joinA, errorA)...)
		t.Fail("%s was not sent %s", nameOf(playerA), what)
	}
	t.show(told)
	return told
}

var faultTests = map[string]step{
	"fault.declined": one("declined", once(protocol.TypeGameInvitation, "it was declined"), lost),
	"fault.invalid":  one("invalid", once(protocol.TypeChooseParityCall, "the choice was invalid"), lost),
	"fault.score":    judged("scoring", true, []string{"declined", "both declined"}, protocol.TypeGameOver, protocol.TypeMatchResultReport),
	"fault.result": one("declined", func(t *T) {
		for _, s := range []*sent{t.first(overB), t.first(reported)} {
			o := t.ended(s)
			if _, drawn := o.DrawnNumber.Get(); drawn || o.NumberParity.Value() != "" || len(o.Choices) > 0 {
				t.failOn(s, "%s has the number %d, %q, with the choices %v", s.Type, o.DrawnNumber.Value(), o.NumberParity.Value(), o.Choices)
			}
			if !slices.Equal(o.TechnicalLossPlayerIDs, playerIDs[:1]) {
				t.failOn(s, "technical_loss_player_ids of %s is %v, want %v", s.Type, o.TechnicalLossPlayerIDs, playerIDs[:1])
			}
		}
	}),
	"fault.join":   kit.Script(unanswered("no join", joinA), lost),
	"fault.choice": kit.Script(unanswered("no choice", chooseA), lost),
}

// unanswered has the match of a scenario played in which the first player does not answer.
func unanswered(scenario string, at spot) step {
	return func(t *T) {
		t.start(scenario)
		goesOn := t.soon(func() bool { return t.count(at) > 1 || t.count(overB) > 0 })
		if list := t.messages(at); !goesOn || len(list) > 1 && list[1].At.Sub(list[0].At) > t.patience() {
			t.skipSlow() // the match began long ago
		}
		t.awaitEnd()
	}
}
