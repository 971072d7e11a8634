package referee

import (
	"slices"
	"strconv"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

// again tests that an answer does not count: the player is asked again, or loses.
func again(p plan, typ protocol.Type) step {
	return kit.Script(plays(p), func(t *T) {
		if asked := t.messages(typ, playerA); len(asked) < 2 && !t.technical() {
			t.failOn(asked[0], "the answer was accepted")
		}
	})
}

// counts tests that the answers of the first player count at once.
func counts(p plan) step {
	return kit.Script(plays(p), func(t *T) {
		if t.technical() || len(t.messages(protocol.TypeChooseParityCall, playerA)) > 1 {
			t.failOn(t.first(protocol.TypeChooseParityCall, playerA), "the answers of %s did not count at once: %s", nameOf(playerA), t.summary())
		}
	})
}

// wrong is a match in which the first choice of the first player is wrong.
func wrong(edit kit.Edit) plan {
	return plan{choose: [2]reaction{atFirst(choosing(protocol.Odd, edit), choosing(protocol.Even))}}
}

var replyTests = map[string]step{
	"reply.match":  again(plan{join: [2]reaction{atFirst(joining(kit.Set("match_id", "R0M0")), joining())}}, protocol.TypeGameInvitation),
	"reply.player": again(wrong(kit.Set("player_id", playerIDs[playerB])), protocol.TypeChooseParityCall),
	"reply.token":  again(wrong(kit.Set("auth_token", kit.Forged)), protocol.TypeChooseParityCall),
	"reply.empty": kit.Script(plays(wrong(kit.Delete("parity_choice", "choice"))), func(t *T) {
		if t.technical() {
			t.failOn(t.first(protocol.TypeChooseParityCall, playerA), "an answer without a choice has lost the match at once; it may have been damaged in transit")
		}
	}),
	"reply.raw": counts(plan{
		join:   [2]reaction{signingRaw(joining)},
		choose: [2]reaction{signingRaw(func(e ...kit.Edit) reaction { return choosing(protocol.Even, e...) })},
	}),
	"reply.accepted": counts(plan{join: [2]reaction{joining(kit.Delete("accept", "status"), kit.Set("accepted", true))}}),
	"reply.choice":   counts(plan{choose: [2]reaction{choosing(protocol.Even, kit.Delete("parity_choice"), kit.Set("choice", "even"))}}),
	"reply.members": counts(plan{
		join: [2]reaction{joining(kit.Set("x_weather", "sunny"))}, choose: [2]reaction{choosing(protocol.Even, kit.Set("x_weather", []any{"sunny", nil}))},
	}),
	"reply.late": func(t *T) {
		t.start("choice too late")
		if !t.soon(func() bool { return t.replied(playerA) }) || !t.late.Load() {
			t.skipSlow()
		}
		t.awaitEnd()
		asked, booked := t.messages(protocol.TypeChooseParityCall, playerA), t.booked()
		if booked == protocol.Odd {
			t.failOn(asked[0], "the choice odd of %s arrived after the time of its call, and counts", nameOf(playerA))
		}
		if len(asked) > 1 && booked == "" {
			t.failOn(asked[1], "the answer to the second call arrived in time, and does not count")
		}
		t.play(plan{})
		if booked = t.booked(); booked != protocol.Even {
			t.Fail("in the next match, %s chose even; GAME_OVER has %q", nameOf(playerA), booked)
		}
	},
	// It tries several times, with twice the moment of the last: on a busy
	// machine, an answer that is sent in time may arrive late.
	"call.whole": func(t *T) {
		const tries = 3
		t.start("just in time")
		for try, moment := 1, beforeDeadline; ; try, moment = try+1, 2*moment {
			t.awaitEnd()
			s := t.first(protocol.TypeChooseParityCall, playerA)
			left, ok := s.left()
			switch {
			case !ok:
				t.Skip("the call has no deadline, or one that is past when it arrives: %s", s.fields.Shown("deadline"))
			case left > t.T.Session.Timeout:
				t.Skip("the call gives %v: set a short deadline on the referee, or use a longer --timeout", left.Round(time.Second))
			}
			if t.booked() != "" && len(t.messages(protocol.TypeChooseParityCall, playerA)) == 1 {
				t.Note("answered %v after the call, of %v", s.answered.Sub(s.At).Round(time.Millisecond), left.Round(time.Millisecond))
				return
			}
			if try == tries {
				t.Fail("%s answered %v before its deadline, and that did not count: %s", nameOf(playerA), moment, t.summary())
			}
			t.announce(lastMoment(2 * moment))
		}
	},
}

// only has the first player only confirm what it is sent in a new match, until it posts its answer.
func only(typ protocol.Type, p plan) step {
	return kit.Script(func(t *T) { t.announce(p) }, awaits(typ, playerA, 1, nameOf(playerA)+" was sent no "+string(typ)))
}

var (
	unjoined = only(protocol.TypeGameInvitation, plan{join: [2]reaction{received}})
	unchosen = only(protocol.TypeChooseParityCall, plan{choose: [2]reaction{received}})
)

// refused tests that a posted choice is refused.
func refused(change func(m *match, msg *protocol.ChooseParityResponse)) step {
	return kit.Script(unchosen, func(t *T) {
		msg := t.chooses(playerA, protocol.Odd)
		change(t.match, msg)
		a := t.send(msg)
		evidence := t.Evidence
		t.send(t.chooses(playerA, protocol.Even))
		t.awaitEnd()
		t.Evidence = evidence
		t.Refused(a)
	})
}

var postedTests = map[string]step{
	"posted.join": kit.Script(unjoined, func(t *T) {
		t.Accepted(t.send(t.joins(playerA)), "")
		t.awaitEnd()
		t.first(protocol.TypeChooseParityCall, playerA)
	}),
	"posted.choice": kit.Script(unchosen, func(t *T) {
		t.Accepted(t.send(t.chooses(playerA, protocol.Even)), "")
		t.awaitEnd()
		if c := t.booked(); c != protocol.Even {
			t.Fail("the posted choice did not count: GAME_OVER has %q", c)
		}
	}),
	"posted.token":   refused(func(_ *match, msg *protocol.ChooseParityResponse) { msg.AuthToken = kit.Forged }),
	"posted.missing": refused(func(_ *match, msg *protocol.ChooseParityResponse) { msg.AuthToken = "" }),
	"posted.other": refused(func(m *match, msg *protocol.ChooseParityResponse) {
		msg.Sender, msg.AuthToken = protocol.Sender(protocol.RolePlayer, playerIDs[playerB]), m.keys[playerB].Expect
	}),
	"posted.match": refused(func(_ *match, msg *protocol.ChooseParityResponse) { msg.MatchID = "R0M99" }),
	"posted.late":  kit.Script(plays(plan{}), func(t *T) { t.Refused(t.send(t.chooses(playerA, protocol.Odd))) }),
}

const retries = 3

var retryTests = map[string]step{
	"retry.join": one("busy", sentAgain(protocol.TypeGameInvitation, playerA)),
	"retry.choice": one("busy", sentAgain(protocol.TypeChooseParityCall, playerB), func(t *T) {
		if choices := t.result().Choices; choices[playerIDs[playerB]] == "" {
			t.Fail("the choice of %s did not count: choices are %v", nameOf(playerB), choices)
		}
	}),
	"retry.ids": one("busy", func(t *T) {
		list := t.messages(protocol.TypeGameInvitation, playerA)
		first, second := kit.Object(list[0].Raw), kit.Object(list[1].Raw)
		t.show(list[:2]...)
		if first.HasID() && string(first["id"]) == string(second["id"]) {
			t.Fail("two attempts have the id %s", first["id"])
		}
		if list[0].fields.Text("conversation_id") != list[1].fields.Text("conversation_id") {
			t.Fail("two attempts belong to different conversations")
		}
	}),
	"retry.spent": one("always busy", func(t *T) {
		list := t.messages(protocol.TypeGameInvitation, playerA)
		if t.show(list[len(list)-1]); len(list) != 1+retries {
			t.Fail("%s, which always answered HTTP 503, was invited %s, want %d", nameOf(playerA), kit.Times(len(list)), 1+retries)
		}
	}, lost),
	// It compares the shortest pauses of several tries: a busy machine makes
	// pauses longer, never shorter.
	"retry.backoff": func(t *T) {
		const tries = 4
		first, last := time.Hour, time.Hour
		one("always busy")(t)
		for try := 1; ; try++ {
			list := t.messages(protocol.TypeGameInvitation, playerA)
			if len(list) <= retries {
				t.Skip("there were not %d retries", retries)
			}
			first = min(first, list[1].At.Sub(list[0].answered))
			last = min(last, list[retries].At.Sub(list[retries-1].answered))
			if last > first+first/2 {
				t.Note("the first pause was %v, the last %v", first.Round(time.Millisecond), last.Round(time.Millisecond))
				return
			}
			if try == tries {
				t.failOn(list[retries], "the first pause was %v, and the last %v; it should be longer, four times by the protocol", first.Round(time.Millisecond), last.Round(time.Millisecond))
			}
			t.play(plan{}) // a referee may ask a player only once that has not answered in the last matches
			t.play(plan{join: [2]reaction{busy}})
		}
	},
	// It accepts a GAME_ERROR that the retry overtook: it only has to
	// arrive before the retry after that one.
	"error.announced": one("always busy", func(t *T) {
		for n := 1; n <= retries; n++ {
			announced := func(s *sent) bool { return s.isError() && s.fields.Count("retry_count") == n }
			if !t.Until(t.T.Session.Timeout, func() bool { return slices.ContainsFunc(t.sent, announced) }) {
				t.failOn(t.messages(protocol.TypeGameInvitation, playerA)[n], "no GAME_ERROR with retry_count %d was sent to %s, which was invited again", n, nameOf(playerA))
			}
			all := t.messages("", playerA)
			i := slices.IndexFunc(all, announced)
			if slices.ContainsFunc(all[:i], func(s *sent) bool { return s.Type == protocol.TypeGameInvitation && s.n > n+1 }) {
				t.failOn(all[i], "GAME_ERROR with retry_count %d came after retry %d", n, n+1)
			}
		}
	}),
	"error.retry": one("always busy", func(t *T) {
		t.Says(t.firstError().fields, map[string]string{"action_required": string(protocol.TypeGameJoinAck), "retryable": "true", "max_retries": strconv.Itoa(retries)})
	}),
	"error.last": one("always busy", func(t *T) {
		final := func(s *sent) bool {
			return s.isError() && string(s.fields["retryable"]) == "false" && !s.fields.Object("retry_info").Has("next_retry_at")
		}
		if !t.Until(t.patience(), func() bool { return slices.ContainsFunc(t.sent, final) }) {
			t.show(t.messages(protocol.TypeGameError, playerA)...)
			t.Fail("no GAME_ERROR has retryable false and no next_retry_at")
		}
	}),
}

// isError reports whether it tells the first player of an error.
func (s *sent) isError() bool { return s.who == playerA && s.Type == protocol.TypeGameError }

func (t *T) firstError() *sent {
	list := t.messages(protocol.TypeGameError, playerA)
	i := slices.IndexFunc(list, func(s *sent) bool { return s.fields.Count("retry_count") == 1 })
	if i < 0 {
		t.Fail("there is no GAME_ERROR with retry_count 1")
	}
	t.show(list[i])
	return list[i]
}

// sentAgain asks that a busy player was sent a message again.
func sentAgain(typ protocol.Type, who int) step {
	return func(t *T) {
		list := t.messages(typ, who)
		if t.show(list...); len(list) < 2 {
			t.Fail("%s answered %s with HTTP 503 and was not sent it again", nameOf(who), typ)
		}
	}
}

var faultTests = map[string]step{
	"fault.declined": one("declined", once(protocol.TypeGameInvitation, "it was declined"), lost),
	"fault.invalid":  one("invalid", once(protocol.TypeChooseParityCall, "the choice was invalid"), lost),
	"fault.score":    judged("scoring", true, []string{"declined", "both declined"}, protocol.TypeGameOver, protocol.TypeMatchResultReport),
	"fault.result": one("declined", func(t *T) {
		for _, s := range []*sent{t.first(protocol.TypeGameOver, playerB), t.first(protocol.TypeMatchResultReport, toManager)} {
			o := t.ended(s)
			if _, drawn := o.DrawnNumber.Get(); drawn || o.NumberParity.Value() != "" || len(o.Choices) > 0 {
				t.failOn(s, "%s has the number %d, %q, with the choices %v", s.Type, o.DrawnNumber.Value(), o.NumberParity.Value(), o.Choices)
			}
			if !slices.Equal(o.TechnicalLossPlayerIDs, playerIDs[:1]) {
				t.failOn(s, "technical_loss_player_ids of %s is %v, want %v", s.Type, o.TechnicalLossPlayerIDs, playerIDs[:1])
			}
		}
	}),
	"fault.join":   timesOut("no join", protocol.TypeGameInvitation),
	"fault.choice": timesOut("no choice", protocol.TypeChooseParityCall),
}

// timesOut tests that the first player loses, who does not answer.
func timesOut(scenario string, asked protocol.Type) step {
	return func(t *T) {
		t.start(scenario)
		goesOn := t.soon(func() bool { return t.count(asked, playerA) > 1 || t.count(protocol.TypeGameOver, playerB) > 0 })
		if list := t.messages(asked, playerA); !goesOn || len(list) > 1 && list[1].At.Sub(list[0].At) > t.patience() {
			t.skipSlow() // the match began long ago
		}
		t.awaitEnd()
		lost(t)
	}
}
