package referee

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/judge"
	"github.com/strategylab/strategylab/host/protocol"
)

//go:embed checks.txt
var table string

// Suite returns the checks of a referee, in the order in which they run: the
// checks that others need come first, and those that end the league last.
func Suite() kit.Suite {
	announcing := func(t *kit.T) kit.Request {
		r := with(t)
		return r.assigning(r.newMatch(plan{}))
	}
	return kit.Suite{Role: kit.Referee, Open: open, Checks: kit.Checks(kit.Referee, table,
		kit.RegistrationTests(kit.Referee, nil, func(*kit.T) []string { return playerIDs[:] }),
		kit.IDTests(sample), kit.DialectTests(sample), kit.AttackTests(attacks(), announcing),
		kit.For(with, roundTests, messageTests, typeTests(), resultTests, drawTests, replyTests, postedTests, retryTests, faultTests, authTests, loadTests),
		map[string]func(*kit.T){
			"load.stalled": kit.StalledTest(func(t *kit.T) func() *kit.Answer {
				return func() *kit.Answer { return t.Send(sample(t)) }
			}),
			"auth.quiet": kit.QuietTest(func(t *kit.T) kit.Request {
				signed(with(t))
				return sample(t)
			}),
		})}
}

// sample is a message that a referee accepts; not every referee knows each.
func sample(t *kit.T) kit.Request {
	of := func(message func(t *T) protocol.Message) kit.Sample {
		return func(t *kit.T) kit.Request { return kit.Request{Message: message(with(t))} }
	}
	return kit.AnyOf(of(standings), of(roundEnd), of(func(t *T) protocol.Message { return t.foreignRound() }))(t)
}

func standings(t *T) protocol.Message { return t.standings(0) }

func roundEnd(t *T) protocol.Message { return t.RoundCompleted() }

// foreignRound announces a match of another referee.
func (t *T) foreignRound() *protocol.RoundAnnouncement {
	a := t.announcement(t.newMatch(plan{}))
	other := kit.OtherReferee
	if t.ID == other {
		other = kit.OwnReferee
	}
	a.Matches[0].RefereeID, a.Matches[0].RefereeEndpoint = other, t.Endpoint.URL
	return a
}

// attacks are those of all roles, and bad announcements.
func attacks() []kit.Attack {
	bad := func(name string, edit func(m, match map[string]any)) kit.Attack {
		return kit.Attack{Name: name, Edit: editMatch(edit)}
	}
	twice := editMatch(func(m, match map[string]any) { m["matches"] = []any{match, match} })
	return append(kit.Attacks("notify_match_result"),
		bad("match", func(_, match map[string]any) { delete(match, "match_id") }),
		bad("wrongtype", func(_, match map[string]any) { match["match_id"] = []int{7} }),
		bad("path", func(_, match map[string]any) { match["match_id"] = "../../R1M1" }),
		bad("self", func(_, match map[string]any) { match["player_B_id"] = match["player_A_id"] }),
		kit.Attack{Name: "twice", Send: func(t *kit.T, valid kit.Request) *kit.Answer {
			if with(t).assignment().name != "" {
				return nil
			}
			valid.Edit = twice
			return t.Send(valid)
		}},
		bad("game", func(_, match map[string]any) { match["game_type"] = "chess" }),
	)
}

func editMatch(edit func(m, match map[string]any)) kit.Edit {
	return func(m map[string]any) {
		if list, ok := m["matches"].([]any); ok && len(list) > 0 {
			edit(m, list[0].(map[string]any))
		} else if m["match_id"] != nil { // it assigns a single match
			edit(m, m)
		}
	}
}

// A step is a part of a check: what is done with the referee, or asked of what it has sent.
type step = func(t *T)

// in looks at the matches of scenarios, one after the other, once they are over.
func in(names []string, steps ...step) step {
	return func(t *T) {
		for _, name := range names {
			t.start(name)
			t.awaitEnd()
			kit.Script(steps...)(t)
		}
	}
}

func one(name string, steps ...step) step { return in([]string{name}, steps...) }

// plays has a match played.
func plays(p plan) step { return func(t *T) { t.play(p) } }

// acks sends what is to be acknowledged.
func acks(message func(t *T) protocol.Message) step {
	return func(t *T) {
		t.NeedsRegistration(t.T)
		m := message(t)
		t.Accepted(t.send(m), m.Head().MessageType.Answer())
	}
}

// once asks that nobody was sent a type again.
func once(typ protocol.Type, why string) step {
	return func(t *T) {
		for _, who := range []int{playerA, playerB, toManager} {
			if list := t.messages(typ, who); len(list) > 1 {
				t.show(list[0])
				t.failOn(list[1], "%s: %s was sent %s of match %s %s", why, nameOf(who), typ, t.id, kit.Times(len(list)))
			}
		}
	}
}

// both asks that both players were sent a type.
func both(typ protocol.Type) step {
	return func(t *T) {
		t.first(typ, playerA)
		t.first(typ, playerB)
	}
}

// awaits asks that an agent is sent n messages of a type.
func awaits(typ protocol.Type, who, n int, otherwise string) step {
	return func(t *T) {
		if !t.soon(func() bool { return t.count(typ, who) >= n }) {
			t.showAll()
			t.Fail("%s within %v", otherwise, t.patience())
		}
	}
}

// lost asks for a technical loss.
func lost(t *T) {
	if !t.technical() {
		t.Fail("status is not %s", protocol.StatusTechnicalLoss)
	}
}

// each asks a rule of all messages of two matches without faults, which says how one breaks it.
func each(rule func(t *T, s *sent) string) step {
	return in(fair, func(t *T) {
		for _, s := range t.messages("") {
			if breach := rule(t, s); breach != "" {
				t.failOn(s, "%s to %s: %s", s.Type, nameOf(s.who), breach)
			}
		}
	})
}

// judged asks a rule of the league about matches of scenarios, or the present one for nil, as their
// players and the manager saw them. Of the messages that tell of results, only some types are among
// the exchanges. What cannot be judged is a fault if all is needed.
func judged(rule string, all bool, scenarios []string, results ...protocol.Type) step {
	return func(t *T) {
		var exchanges []*judge.Exchange
		source := map[*judge.Exchange]*sent{}
		look := func(t *T) {
			exchanges = append(exchanges, &judge.Exchange{
				Agent: "manager", Sent: true, Peer: t.T.Session.URL, Type: protocol.TypeRoundAnnouncement,
				Sender: kit.ManagerName, Request: t.announcement(t.match), Status: http.StatusOK,
			})
			for _, s := range t.messages("") {
				if !slices.Contains(results, s.Type) && (s.Type == protocol.TypeGameOver || s.Type == protocol.TypeMatchResultReport) {
					continue
				}
				x := s.WithAnswer(max(s.response.Status, http.StatusOK), s.response.Body)
				if x.Agent = "manager"; s.who != toManager {
					x.Agent = playerIDs[s.who]
				}
				exchanges, source[&x.Exchange] = append(exchanges, &x.Exchange), s
			}
		}
		if scenarios != nil {
			look = in(scenarios, look)
		}
		look(t)
		show := func(x *judge.Exchange) {
			if s := source[x]; s != nil {
				t.show(s)
			}
		}
		switch examined, missing := t.Judge(exchanges, show, rule); {
		case len(missing) > 0 && all:
			for _, x := range exchanges {
				show(x)
			}
			t.Fail("%s cannot be found in %s", missing[0], results[0])
		case examined == 0:
			t.Skip("it cannot be judged: %s", strings.Join(missing, "; "))
		}
	}
}

var roundTests = map[string]step{
	"round.plays": kit.Script(func(t *T) {
		t.NeedsRegistration(t.T)
		t.T.Evidence = append(t.T.Evidence, t.assignment().first...)
	}, one("win", both(protocol.TypeGameInvitation), both(protocol.TypeChooseParityCall))),
	"round.announced": func(t *T) {
		w := t.assignment()
		if w.name == "" && w.sender == "" {
			return
		}
		t.T.Evidence = append(t.T.Evidence, w.first...)
		if w.name == "" {
			t.Fail("it plays only when the manager signs as %s", w.sender)
		}
		t.Fail("after ROUND_ANNOUNCEMENT it plays nothing; it plays after %s", w.name)
	},
	"round.ack":     acks(func(t *T) protocol.Message { return t.announcement(t.newMatch(plan{})) }),
	"standings.ack": acks(standings),
	"roundend.ack":  acks(roundEnd),
	"round.others":  kit.Script(func(t *T) { t.send(t.foreignRound()) }, ignores),
	"round.again": kit.Script(plays(plan{}), func(t *T) { t.assign(t.match) }, meanwhile,
		once(protocol.TypeGameInvitation, "it was announced again after its end")),
}

// meanwhile has another match played.
func meanwhile(t *T) {
	m := t.match
	t.play(plan{})
	t.match = m
}

// ignores ends the check if the match is played, which it should not be. How long that
// would take is shown by a match that is announced afterwards.
func ignores(t *T) {
	evidence := t.Evidence
	meanwhile(t)
	if begun := t.messages(""); len(begun) > 0 {
		t.Evidence = evidence
		t.failOn(begun[0], "match %s is played: the referee sent %s for it", t.id, begun[0].Type)
	}
}

// signed has the referee learn the manager's token.
func signed(t *T) { t.Send(sample(t.T)) }

// refuses tests that an announcement is refused, and its match is not played.
func refuses(change func(t *T, a *protocol.RoundAnnouncement)) step {
	return kit.Script(signed, func(t *T) {
		a := t.announcement(t.newMatch(plan{}))
		r := t.request(t.assignment(), a)
		change(t, a)
		t.Refused(t.Send(r))
	}, ignores)
}

var authTests = map[string]step{
	"auth.token": refuses(func(_ *T, a *protocol.RoundAnnouncement) { a.AuthToken = kit.Forged }),
	"auth.sender": refuses(func(_ *T, a *protocol.RoundAnnouncement) {
		a.Sender = protocol.Sender(protocol.RolePlayer, playerIDs[playerA])
	}),
	"auth.league": refuses(func(t *T, a *protocol.RoundAnnouncement) {
		a.LeagueID, a.AuthToken = "elsewhere", t.Verifier.ManagerToken(kit.League)
	}),
	"auth.completed": kit.Script(signed, func(t *T) {
		m := t.LeagueCompleted(playerIDs[:]...)
		m.AuthToken = kit.Forged
		t.Refused(t.send(m))
	}, plays(plan{})),
}

var messageTests = map[string]step{
	"call.standings": func(t *T) {
		const wins = 7
		if a := t.send(t.standings(wins)); a.Refused || a.Err != nil {
			t.Skip("it does not accept the standings: %s", a)
		}
		t.play(plan{})
		own := t.first(protocol.TypeChooseParityCall, playerA).fields.Object("context").Object("your_standings")
		if own == nil {
			t.Skip("the call has no standings")
		}
		t.Says(own, map[string]string{"wins": strconv.Itoa(wins), "points": strconv.Itoa(3*wins + 1)})
	},
	"call.deadline": each(func(_ *T, s *sent) string {
		deadline, _ := protocol.ParseTimestamp(s.fields.Text("deadline"))
		if stamp, _ := protocol.ParseTimestamp(s.fields.Text("timestamp")); s.Type == protocol.TypeChooseParityCall && deadline.Before(stamp) {
			return fmt.Sprintf("deadline %s is before the timestamp %s", s.fields.Shown("deadline"), s.fields.Shown("timestamp"))
		}
		return ""
	}),
	"message.seconds": each(func(_ *T, s *sent) string { return kit.WholeSeconds(s.fields) }),
	"message.conversation": each(func(t *T, s *sent) string {
		was, c := t.messages("", s.who)[0].fields.Text("conversation_id"), s.fields.Text("conversation_id")
		if s.who != toManager && was != "" && c != "" && c != was {
			return fmt.Sprintf("the conversation_id is %q; before it was %q", c, was)
		}
		return ""
	}),
	"message.rpc": each(func(_ *T, s *sent) string { return kit.Frame(kit.Object(s.Raw)) }),
	"message.media": one("win", func(t *T) {
		t.Do(func() {
			for _, s := range t.notJSON {
				t.Show("the referee to "+nameOf(s.who), s.Raw)
				t.Fail("the Content-Type of %s to %s is %q", s.Type, nameOf(s.who), s.media())
			}
		})
	}),
	"message.secret": each(func(t *T, s *sent) string {
		if s.who != toManager && strings.Contains(string(s.Raw), t.Token) {
			return "it contains the referee's own token"
		}
		return ""
	}),
	"invitation.parallel": parallel(protocol.TypeGameInvitation, func(r reaction) plan { return plan{join: [2]reaction{r}} }, joining()),
	"call.parallel":       parallel(protocol.TypeChooseParityCall, func(r reaction) plan { return plan{choose: [2]reaction{r}} }, choosing(protocol.Even)),
	"call.after": kit.Script(plays(plan{join: [2]reaction{playerB: waiting(called(playerA), joining())}}), func(t *T) {
		call, join := t.first(protocol.TypeChooseParityCall, playerA), t.first(protocol.TypeGameInvitation, playerB)
		if call.At.Before(join.answered) {
			t.failOn(call, "%s was called before %s had joined", nameOf(playerA), nameOf(playerB))
		}
	}),
	"call.secret": kit.Script(plays(plan{choose: [2]reaction{
		playerB: atFirst(waiting(func(m *match) bool { return m.replied(playerA) }, busy), choosing(protocol.Odd)),
	}}), func(t *T) {
		for _, s := range t.messages("", playerB) {
			var tree any
			if s.Type != protocol.TypeGameOver && json.Unmarshal(s.Raw, &tree) == nil && holdsChoice(tree) {
				t.failOn(s, "%s reveals the other's choice to %s, before its own is known", s.Type, nameOf(playerB))
			}
		}
	}),
}

func called(who int) func(m *match) bool {
	return func(m *match) bool { return m.count(protocol.TypeChooseParityCall, who) > 0 }
}

// parallel tests that both players are sent a message at the same time. It tries
// several times, because a busy machine may cause a delay.
func parallel(typ protocol.Type, with func(reaction) plan, answer reaction) step {
	slow := waiting(func(m *match) bool { return m.count(typ, playerB) > 0 }, answer)
	return func(t *T) {
		const tries = 3
		for try := 1; ; try++ {
			t.play(with(slow))
			a, b := t.first(typ, playerA), t.first(typ, playerB)
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

// typeTests are those of every type of message: that it is whole, about its match and signed.
func typeTests() map[string]step {
	won := func(typ protocol.Type) func(t *T) []*sent {
		return func(t *T) []*sent { return []*sent{t.first(typ, playerA), t.first(typ, playerB)} }
	}
	tests := map[string]step{}
	for name, of := range map[string]struct {
		scenario string
		find     func(t *T) []*sent
	}{
		"invitation": {"win", won(protocol.TypeGameInvitation)}, "call": {"win", won(protocol.TypeChooseParityCall)}, "over": {"win", won(protocol.TypeGameOver)},
		"report": {"win", func(t *T) []*sent { return []*sent{t.first(protocol.TypeMatchResultReport, toManager)} }},
		"error":  {"always busy", func(t *T) []*sent { return []*sent{t.firstError()} }},
	} {
		for rule, look := range map[string]func(t *T, s *sent){
			"fields": func(t *T, s *sent) { t.Valid(s.fields, s.Type, false) },
			"match":  (*T).about,
			"token": func(t *T, s *sent) {
				token := t.Token
				if s.who != toManager {
					token = t.match.keys[s.who].Send
				}
				t.Says(s.fields, map[string]string{"auth_token": token})
			},
		} {
			tests[name+"."+rule] = one(of.scenario, func(t *T) {
				for _, s := range of.find(t) {
					t.show(s)
					look(t, s)
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
		t.Agrees(s.fields.Object("context"), map[string]string{"opponent_id": other})
	}
	t.Agrees(s.fields, want)
}

var resultTests = map[string]step{
	"over.number":  judged("numbers", true, fair, protocol.TypeGameOver),
	"over.winner":  judged("scoring", false, fair, protocol.TypeGameOver),
	"over.choices": judged("choices", true, fair, protocol.TypeGameOver),
	"over.both":    judged("same-result", false, fair, protocol.TypeGameOver),
	"over.once":    in(fair, once(protocol.TypeGameOver, "it was acknowledged")),
	"over.retry":   kit.Script(endRefused, awaits(protocol.TypeGameOver, playerA, 2, "player P01 answered GAME_OVER with HTTP 503 and was not sent it again")),
	"report.score": judged("scoring", false, fair, protocol.TypeMatchResultReport),
	"report.tie": one("tie", func(t *T) {
		if result := t.first(protocol.TypeMatchResultReport, toManager).fields.Object("result"); result.Has("winner") {
			t.Fail("winner is %s", result.Shown("winner"))
		}
	}),
	"report.details": kit.Script(
		judged("choices", true, fair, protocol.TypeMatchResultReport), judged("numbers", true, fair, protocol.TypeMatchResultReport),
		judged("same-result", false, fair, protocol.TypeGameOver, protocol.TypeMatchResultReport)),
	"report.order": one("win", func(t *T) {
		s := t.first(protocol.TypeMatchResultReport, toManager)
		for who := range playerIDs {
			if over := t.first(protocol.TypeGameOver, who); over.At.After(s.At) {
				t.Fail("the report came before %s was sent GAME_OVER", nameOf(who))
			}
		}
	}),
	// In the meantime, it could have been.
	"report.once": kit.Script(plays(plan{}), in(fair, once(protocol.TypeMatchResultReport, "it was acknowledged"))),
	"report.retry": kit.Script(plays(plan{report: atFirst(busy, acknowledges)}),
		awaits(protocol.TypeMatchResultReport, toManager, 2, "the manager answered a report with HTTP 503, and it was not sent again"),
		judged("same-result", false, nil, protocol.TypeMatchResultReport)),
	"report.duplicate": kit.Script(
		plays(plan{report: refusing(protocol.Refuse(protocol.CodeDuplicateReport, protocol.TypeMatchResultReport, "this match has been reported").With("same_result", true))}),
		meanwhile, func(t *T) {
			t.Until(t.shortDelay(), func() bool { return t.count(protocol.TypeMatchResultReport, toManager) > 1 })
		}, once(protocol.TypeMatchResultReport, "it was refused as a duplicate")),
	"report.renew": func(t *T) {
		before := len(t.Attempts())
		t.Do(func() { t.Renewals++ })
		t.announce(plan{report: atFirst(refusing(protocol.Refuse(protocol.CodeTokenInvalid, protocol.TypeMatchResultReport, "the token is not known")), acknowledges)})
		awaits(protocol.TypeMatchResultReport, toManager, 2, "the manager refused a report with E012, and no other report came")(t)
		if len(t.Attempts()) == before {
			t.showAll()
			t.Fail("the report was repeated without another registration")
		}
	},
	"report.deaf": kit.Script(endRefused, awaits(protocol.TypeMatchResultReport, toManager, 1, "player P01 answered GAME_OVER with HTTP 503, and no report came")),
}

func endRefused(t *T) { t.start("end refused") }

var drawTests = map[string]step{
	"draws.plain": each(func(_ *T, s *sent) string {
		for _, name := range []string{"draw_commitment", "draw_key", "draw_nonces"} {
			if s.fields.Has(name) && s.who != toManager {
				return fmt.Sprintf("%s is %s", name, s.fields.Shown(name))
			}
		}
		return ""
	}),
	"draws.kept": kit.Script(committed, one("verifiable, busy", func(t *T) {
		for _, s := range t.messages(protocol.TypeChooseParityCall) {
			if first := t.commitment(s.who); s.fields.Text("draw_commitment") != first {
				t.failOn(s, "draw_commitment is %s when the call is repeated, and was %q", s.fields.Shown("draw_commitment"), first)
			}
		}
	})),
	"draws.verified": kit.Script(committed, judged("commitments", false, []string{"verifiable", "verifiable too"}, protocol.TypeGameOver)),
}

// commitment returns what a player got with the first call for a choice.
func (t *T) commitment(who int) string {
	return t.first(protocol.TypeChooseParityCall, who).fields.Text("draw_commitment")
}

// committed skips the check of a referee that commits to no draw.
var committed = one("verifiable", func(t *T) {
	if t.commitment(playerA) == "" && t.commitment(playerB) == "" {
		t.Skip("not offered: CHOOSE_PARITY_CALL has no draw_commitment for players that understand %s", draws.Scheme)
	}
})

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

var loadTests = map[string]step{
	"fields.unknown": func(t *T) {
		r := t.assigning(t.newMatch(plan{}))
		r.Edit = editMatch(func(m, match map[string]any) { m["x_weather"], match["x_list"] = "sunny", []any{1, nil} })
		t.Send(r)
		t.awaitEnd()
	},
	"load.concurrent": func(t *T) {
		const many = 5
		var plans []plan
		choices := []protocol.Choice{protocol.Even, protocol.Odd}
		for i := range many {
			plans = append(plans, plan{choose: [2]reaction{choosing(choices[i&1]), choosing(choices[i>>1&1])}})
		}
		all := t.newMatches(plans...)
		t.assign(all...)
		for i, m := range all {
			t.match = m
			t.awaitEnd()
			got := t.ended(t.first(protocol.TypeMatchResultReport, toManager)).Choices
			if got[playerIDs[playerA]] != choices[i&1] || got[playerIDs[playerB]] != choices[i>>1&1] {
				t.Fail("in match %s, one of %d at a time, %s and %s were chosen; the report has %v", m.id, many, choices[i&1], choices[i>>1&1], got)
			}
		}
	},
	"load.limit": func(t *T) {
		const mostTried = 20
		t.NeedsRegistration(t.T)
		limit := t.Attempts()[0].Meta.Count("max_concurrent_matches")
		if limit < 1 || limit > mostTried {
			t.Skip("it registered for %s at once; up to %d are tried", kit.Count(limit, "match", "matches"), mostTried)
		}
		// The invitation of one match too many may follow while the others are held up.
		held := plan{join: [2]reaction{waiting(func(*match) bool { return false }, joining())}}
		all, most := t.newMatches(slices.Repeat([]plan{held}, limit+2)...), 0
		t.assign(all...)
		var open [][2]time.Time // from invitation to call: after GAME_OVER the next may begin
		for _, t.match = range all {
			t.awaitEnd()
			open = append(open, [2]time.Time{t.first(protocol.TypeGameInvitation, playerA).At, t.first(protocol.TypeChooseParityCall, playerA).At})
		}
		for _, one := range open {
			begun := slices.DeleteFunc(slices.Clone(open), func(other [2]time.Time) bool { return other[0].After(one[0]) || !other[1].After(one[0]) })
			most = max(most, len(begun))
		}
		if most > limit {
			t.Fail("%s at once were in progress; it registered for %d", kit.Count(most, "match", "matches"), limit)
		}
		t.Note("%d at most", most)
	},
	"load.speed": func(t *T) {
		a := t.assign(t.newMatch(plan{}))
		t.awaitEnd()
		if timeout := t.T.Session.Timeout; a.Took > timeout/4 {
			t.Fail("the acknowledgement took %v of %v", a.Took.Round(time.Millisecond), timeout)
		}
		t.Note("acknowledged after %.1f ms", kit.Milliseconds(a.Took))
	},
	"hostile.then": plays(plan{}),
}
