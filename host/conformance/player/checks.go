package player

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/protocol"
)

//go:embed checks.json
var table []byte

// Suite returns the checks of a player, in the order in which they run: those that others
// need come first, and those that may disturb or end the player last.
func Suite() kit.Suite {
	sample := func(t *kit.T) kit.Request {
		p := with(t)
		p.begin()
		return kit.Request{Message: invitation(p)}
	}
	return kit.Suite{Open: open, Checks: kit.Checks(kit.Player, table,
		kit.RegistrationTests(func(t *kit.T) []string { return with(t).players() }),
		kit.SampleTests(sample), kit.AttackTests(kit.MatchAttacks(), sample),
		kit.For(with, matchTests, noticeTests, drawTests, dialectTests(), fieldTests, authTests))}
}

// A step is a part of a check: what the player is sent, and what is asked of its answer.
type step = func(t T)

func times(n int, next step) step { return kit.Script(slices.Repeat([]step{next}, n)...) }

// invites has the player join the match, and begins one if none is in progress.
func invites(how ...kit.Request) step {
	return func(t T) {
		t.begin()
		if t.Accepted(t.send(invitation, how...), protocol.TypeGameJoinAck); !joins(t.last) {
			t.Fail("the answer does not accept the invitation")
		}
	}
}

// calls has the player choose.
func calls(how ...kit.Request) step {
	return func(t T) {
		t.Accepted(t.send(calling, how...), protocol.TypeChooseParityResponse)
		c := choiceIn(t.last)
		if !c.Valid() {
			t.Fail("the answer has no choice: neither parity_choice nor choice is even or odd")
		}
		t.chosen = cmp.Or(t.chosen, c)
	}
}

// same ends the check if the last answer has another choice than the first.
func same(t T) {
	if c := choiceIn(t.last); c != "" && c != t.chosen {
		t.Fail("it chose %s at first and %s when asked again in match %s", t.chosen, c, t.id)
	}
}

var invite, call = invites(), calls()

// tells sends what it is not judged by.
func tells(what message, how ...kit.Request) step { return func(t T) { t.send(what, how...) } }

// acks sends what is to be acknowledged.
func acks(what message) step {
	return func(t T) { t.Accepted(t.send(what), what(t).Head().MessageType.Answer()) }
}

func refuses(what message, how ...kit.Request) step {
	return func(t T) { t.Refused(t.send(what, how...)) }
}

// tolerates sends what is accepted, or refused in a way that can be read.
func tolerates(what message, how ...kit.Request) step {
	return func(t T) {
		t.begin()
		if t.send(what, how...); t.last.Refused {
			t.Note("%s", t.last)
			return
		}
		t.Accepted(t.last, "")
	}
}

// silent ends the check if the last answer shows the choice.
func silent(t T) {
	if c := choiceIn(t.last); c != "" {
		t.Fail("%s reveals the choice %q", t.last, c)
	}
}

// valid tests the last answer by the table of its type.
func valid(typ protocol.Type) step { return func(t T) { t.Valid(t.last.Message, typ, true) } }

// both looks at the two answers that matter.
func both(look step) step { return kit.Script(invite, look, call, look) }

// edited is a message with other members.
func edited(edit kit.Edit) kit.Request { return kit.Request{Edit: edit} }

// repeats is how often a player is sent the same call. A player that chooses
// at random each time goes undetected once in 2^repeats.
const repeats = 7

var matchTests = map[string]step{
	"join.answer": kit.Script(invite, func(t T) {
		if id := t.last.Message.Text("player_id"); !t.Registered() && protocol.ValidID(id) {
			t.Do(func() { t.ID = id }) // another manager has assigned it
		}
		// A player may conclude from a match that never continues that its answers
		// are not understood, and change them.
		t.Aside().Send(kit.Request{Message: calling(t)})
	}),
	"join.fields":   kit.Script(invite, valid(protocol.TypeGameJoinAck)),
	"join.again":    times(3, invite),
	"choice.answer": kit.Script(invite, call),
	"choice.fields": kit.Script(invite, call, valid(protocol.TypeChooseParityResponse)),
	"choice.same":   kit.Script(invite, call, times(repeats, kit.Script(call, same))),
	"choice.past": kit.Script(invite, calls(kit.Request{Fault: func(m protocol.Message) {
		m.(*protocol.ChooseParityCall).Deadline = "2020-01-01T00:00:00Z"
	}})),
	"choice.other": kit.Script(needsRegistration, invite, refuses(calling, kit.Request{Fault: func(m protocol.Message) {
		m.(*protocol.ChooseParityCall).PlayerID = "P77"
	}})),
	"choice.secret": kit.Script(invite, silent, call, tells(invitation), silent, tells(gameError), silent, tells(standings), silent),
	"answer.match": both(func(t T) {
		t.Agrees(t.last.Message, map[string]string{"match_id": t.id, "player_id": t.ID, "sender": protocol.Sender(protocol.RolePlayer, t.ID)})
	}),
	"answer.seconds": both(func(t T) { t.Holds(kit.WholeSeconds(t.last.Message)) }),
	"answer.conversation": both(func(t T) {
		if d := t.T.Session.Peer.Speaks(); slices.Contains(d.Omit, "conversation_id") {
			t.Skip("it is sent messages in %s, which leaves conversation_id out", d.Name)
		}
		t.Equal(t.last, "conversation_id", t.conversation)
	}),
	"answer.token": kit.Script(needsKeys, both(func(t T) {
		if m := t.last.Message; !t.keys().AcceptsPlayer(m.Text("auth_token"), kit.League, t.id, t.referee) {
			t.Fail("auth_token is %s, which is neither the player's token nor the key of match %s", m.Shown("auth_token"), t.id)
		}
	})),
	"answer.media": both(func(t T) {
		if given := t.last.Header.Get("Content-Type"); !kit.IsJSON(given) {
			t.Fail("Content-Type is %q", given)
		}
	}),
	"state.others": kit.Script(needsRegistration, func(t T) {
		t.makeUp()
		t.opponent = "P98"
	}, acks(func(t T) protocol.Message {
		round := announcement(t).(*protocol.RoundAnnouncement)
		round.Matches[0].PlayerAID = "P97"
		return round
	}), refuses(invitation)),
	"state.uninvited": kit.Script(tolerates(calling), func(t T) {
		if id := t.last.Message.Text("match_id"); !t.last.Refused && id != "" && id != t.id {
			t.Fail("asked about match %s, it answers for %s", t.id, id)
		}
	}),
	"state.late": kit.Script(invite, call, tells(over), times(repeats, kit.Script(tolerates(calling), same))),
	"load.concurrent": func(t T) {
		all := make([]*match, 8)
		for i := range all {
			all[i] = new(match)
			T{t.T, t.peers, all[i]}.begin()
		}
		atOnce := func(next step) {
			for _, m := range all {
				defer t.Go(func(own *kit.T) {
					t := T{own, t.peers, m}
					next(t)
					// A wrong id that is of none of them is for other checks to find.
					if id := t.last.Message.Text("match_id"); id != m.id && slices.ContainsFunc(all, func(other *match) bool { return other.id == id }) {
						t.Fail("asked about match %s, it answers for %s", m.id, id)
					}
				})()
			}
		}
		atOnce(invite)
		atOnce(call)
	},
	"load.speed": func(t T) {
		var took []time.Duration
		timed := func(t T) {
			if took = append(took, t.last.Took); t.last.Took > t.T.Session.Timeout/4 {
				t.Fail("%s took %.0f ms of the %.0f ms until its deadline", t.last, kit.Milliseconds(t.last.Took), kit.Milliseconds(t.T.Session.Timeout))
			}
		}
		times(5, kit.Script(next, invite, timed, call, timed, acks(over), timed))(t)
		slices.Sort(took)
		t.Note("%d answers took %.1f ms in the median and %.1f ms at most", len(took), kit.Milliseconds(took[len(took)/2]), kit.Milliseconds(took[len(took)-1]))
	},
	"hostile.then": kit.Script(invite, call),
}

// needsRegistration skips a check of a player that has another manager.
func needsRegistration(t T) { t.NeedsRegistration(t.T) }

// needsKeys skips a check of a player to which the suite cannot prove who it is.
func needsKeys(t T) {
	needsRegistration(t)
	if !t.Signs() {
		t.Skip("it is sent messages in %s, which has no place for a sender", t.T.Session.Peer.Speaks().Name)
	}
}

var forged = edited(kit.Set("auth_token", kit.Forged))

// refusesCall tests that an edited call is refused.
func refusesCall(edit kit.Edit) step {
	return kit.Script(needsKeys, invite, refuses(calling, edited(edit)))
}

var authTests = map[string]step{
	"auth.token":   refusesCall(kit.Set("auth_token", kit.Forged)),
	"auth.missing": refusesCall(kit.Delete("auth_token")),
	"auth.referee": refusesCall(kit.Set("sender", protocol.Sender(protocol.RoleReferee, kit.OtherReferee))),
	"auth.player":  refusesCall(kit.Set("sender", protocol.Sender(protocol.RolePlayer, "P02"))),
	"auth.manager": kit.Script(needsKeys, acks(standings), refuses(standings, forged)),
	"auth.then":    kit.Script(invite, tells(calling, forged), call),
	"auth.completed": kit.Script(needsKeys, invite, refuses(func(t T) protocol.Message {
		end := t.LeagueCompleted(t.players()...)
		end.Sender, end.AuthToken = protocol.Sender(protocol.RoleReferee, t.referee), t.keys().Send
		return end
	}), call),
}

var noticeTests = map[string]step{
	"round.ack":     kit.Script(T.makeUp, acks(announcement)),
	"standings.ack": acks(standings),
	"roundend.ack":  acks(roundEnd),
	"over.ack":      kit.Script(invite, call, acks(over)),
	"over.forms": kit.Script(invite, call, acks(overAs(func(t T, r *protocol.GameResult) {
		r.Status, r.WinnerPlayerID, r.Choices[t.opponent] = protocol.StatusDraw, protocol.Null[string](), t.chosen
	})), next, invite, call, acks(overAs(func(t T, r *protocol.GameResult) {
		*r = protocol.GameResult{
			Status: protocol.StatusTechnicalLoss, WinnerPlayerID: protocol.Null[string](), ResultDetails: protocol.ResultDetails{
				DrawnNumber: protocol.Null[int](), NumberParity: protocol.Null[string](),
				Choices: map[string]protocol.Choice{}, TechnicalLossPlayerIDs: t.players(), Reason: "neither player chose in time",
			}}
	}))),
	"over.again": kit.Script(invite, call, acks(over), acks(over)),
	"error.ack":  kit.Script(invite, acks(gameError)),
	"error.then": kit.Script(invite, tells(gameError), call),
	"ack.fields": kit.Script(tells(standings), func(t T) {
		t.Says(t.last.Message, map[string]string{"status": protocol.StatusAcknowledged, "player_id": t.ID})
	}),
}

// dialectTests are about the wrappings and names of messages. A player that
// understands only its own can play under most managers.
func dialectTests() map[string]step {
	named := func(join, choose string) step {
		return kit.Script(T.begin, func(t T) { kit.Request{Message: calling(t)}.HasMethods(t.T) },
			invites(kit.Request{Method: join}), calls(kit.Request{Method: choose}))
	}
	tests := map[string]step{
		"dialect.alias":   named("handle_game_invitation", "choose_parity"),
		"dialect.type":    named(string(protocol.TypeGameInvitation), string(protocol.TypeChooseParityCall)),
		"dialect.lower":   named("game_invitation", "choose_parity_call"),
		"dialect.unknown": named("unknown", "unknown"),
	}
	for _, d := range append(dialect.OfProtocol(), dialect.HandleMessage) {
		tests["dialect."+d.Name] = func(t T) {
			spoken := kit.Request{Dialect: d}
			t.begin()
			if t.send(invitation, spoken); t.AnsweredIn(t.last, d) {
				calls(spoken)(t)
				t.AnsweredIn(t.last, d)
			}
		}
	}
	return tests
}

var unknown = edited(func(m map[string]any) {
	m["x_weather"], m["x_list"], m["x_object"] = "sunny", []any{1, nil}, map[string]any{"a": true}
})

var fieldTests = map[string]step{
	"rpc.version": kit.Script(invite, func(t T) {
		if slices.Contains([]string{dialect.Bare.Name, "request"}, t.last.Wrapping) {
			t.Skip("its answers are not JSON-RPC responses")
		}
		if doc := t.last.Document; doc.Text("jsonrpc") != "2.0" {
			t.Fail("jsonrpc is %s", doc.Shown("jsonrpc"))
		} else if doc.Get("error") != nil {
			t.Fail("error stands beside result; many callers take that for a failure, even if it is null")
		}
	}),
	"rpc.notification": func(t T) {
		m, err := protocol.Refuse(protocol.CodeLeagueNotStarted, "", "it is about to start").Message(t.Header(protocol.TypeLeagueError, 1))
		if err != nil {
			panic(err) // all of it can be encoded
		}
		r := kit.Request{Message: m, Body: kit.WithoutID} // in some dialects it is no request
		r.WrapsInRPC(t.T)
		if a := t.Send(r); a.Refused || !a.OK() {
			t.Fail("answered by %s", a)
		}
	},
	"fields.unknown": kit.Script(invites(unknown), calls(unknown)),
	"fields.time": func(t T) {
		for _, stamp := range []string{"2026-03-14T09:10:13.250Z", "2026-03-14T09:10:13.250001+00:00", "2026-03-14T09:10:13+00:00"} {
			stamped := edited(kit.Set("timestamp", stamp))
			kit.Script(next, invites(stamped), calls(stamped))(t)
		}
	},
	"fields.optional": kit.Script(invite, calls(edited(kit.Delete("league_id", "round_id")))),
	"fields.missing":  kit.Script(invite, tolerates(calling, edited(kit.Delete("context", "deadline", "game_type", "player_id", "conversation_id")))),
	"fields.round": tolerates(invitation, edited(func(m map[string]any) {
		if round := m["round_id"]; round != nil {
			m["round_id"] = fmt.Sprintf("ROUND_%v", round)
		}
	})),
}

// promise commits to a key in the call for a choice, and skips the check of a player
// that does not say that it understands verifiable draws.
func promise(t T) {
	kit.Script(needsKeys, invite)(t)
	if t.last.Message.Text("draw_scheme") != draws.Scheme {
		t.Skip("not offered: GAME_JOIN_ACK does not say draw_scheme %s", draws.Scheme)
	}
	if t.key == "" {
		t.key = draws.NewKey()
	}
	call(t)
	t.nonce = t.last.Message.Text("draw_nonce")
}

// reveals ends the match with a number so much off what follows from its key. The
// acknowledgement says whether the number could be verified.
func reveals(off int, verified string) step {
	return kit.Script(acks(drawn(off)), saysVerified(verified))
}

func saysVerified(verified string) step {
	return func(t T) { t.Says(t.last.Message, map[string]string{"draw_verified": verified}) }
}

var drawTests = map[string]step{
	"draws.nonce": kit.Script(promise, func(t T) {
		if !draws.ValidNonce(t.nonce) {
			t.Fail("draw_nonce is %q", t.nonce)
		}
		if again := t.send(calling).Message; again.Text("draw_nonce") != t.nonce {
			t.Fail("draw_nonce is %s when it is asked again, and was %q", again.Shown("draw_nonce"), t.nonce)
		}
	}),
	"draws.fresh": kit.Script(promise, func(t T) {
		first := *t.match
		kit.Script(next, promise)(t)
		if first.nonce != "" && first.nonce == t.nonce {
			t.Fail("draw_nonce is %q in the matches %s and %s", t.nonce, first.id, t.id)
		}
	}),
	"draws.verified": kit.Script(promise, reveals(0, "true")),
	"draws.number":   kit.Script(promise, reveals(2, "false")),
	"draws.swapped":  kit.Script(promise, func(t T) { t.key = draws.NewKey() }, tells(calling), reveals(0, "false")),
	"draws.reused": func(t T) {
		kit.Script(promise, acks(drawn(0)))(t)
		key := t.key
		kit.Script(next, func(t T) { t.key = key }, promise, reveals(0, "false"))(t)
	},
	"draws.round": kit.Script(promise, acks(drawn(0)), acks(func(t T) protocol.Message {
		end := t.RoundCompleted()
		end.RoundID = protocol.RoundNumber(t.round)
		return end
	}), saysVerified("true")),
}
