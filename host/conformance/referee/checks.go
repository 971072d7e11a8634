package referee

import (
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

//go:embed checks.json
var table []byte

// Suite returns the checks of a referee, in the order in which they run: the
// checks that others need come first, and those that end the league last.
func Suite() kit.Suite {
	announcing := func(t *kit.T) kit.Request {
		r := with(t)
		return r.assigning(r.newMatch(nil))
	}
	return kit.Suite{Open: open, Checks: kit.Checks(kit.Referee, table,
		kit.RegistrationTests(func(*kit.T) []string { return playerIDs[:] }),
		kit.SampleTests(sample), kit.DialectTests(sample), kit.AttackTests(attacks(), announcing),
		kit.For(with, roundTests, messageTests, typeTests(), resultTests, drawTests, replyTests, postedTests, retryTests, faultTests, authTests, loadTests))}
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
	a := t.announcement(t.newMatch(nil))
	a.Matches[0].RefereeID, a.Matches[0].RefereeEndpoint = kit.Other(t.ID, kit.OtherReferee, kit.OwnReferee), t.Endpoint.URL
	return a
}

// attacks are those on all agents with matches, and announcements of a match against itself or twice.
func attacks() []kit.Attack {
	return append(kit.MatchAttacks(),
		kit.Attack{Name: "self", Edit: kit.EditMatch(func(match map[string]any) { match["player_B_id"] = match["player_A_id"] })},
		kit.Attack{Name: "twice", Edit: func(m map[string]any) {
			if list, ok := m["matches"].([]any); ok {
				m["matches"] = append(list, list[0])
			}
		}},
	)
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
		t.Accepted(t.Tell(m), m.Head().MessageType.Answer())
	}
}

// once asks that nobody was sent a type again.
func once(typ protocol.Type, why string) step {
	return func(t *T) {
		for _, s := range t.messages() {
			if s.typ == typ && s.n > 1 {
				t.failOn(s, "%s: %s was sent %s of match %s again", why, nameOf(s.who), typ, t.id)
			}
		}
	}
}

// awaits asks that an agent is sent n messages.
func awaits(at spot, n int, otherwise string, args ...any) step {
	return func(t *T) {
		if !t.soon(func() bool { return t.count(at) >= n }) {
			t.show(t.messages()...)
			t.Fail("%s within %v", fmt.Sprintf(otherwise, args...), t.patience())
		}
	}
}

// sentAgain asks that an agent is sent what it has answered with HTTP 503.
func sentAgain(at spot) step {
	return awaits(at, 2, "%s answered %s with HTTP 503, and was not sent it again", nameOf(at.who), at.typ)
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
		for _, s := range t.messages() {
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
		var messages []*kit.Message
		look := func(t *T) {
			messages = append(messages, &kit.Message{Exchange: &trace.Exchange{
				Agent: "manager", Sent: true, Peer: t.T.Session.URL, Type: protocol.TypeRoundAnnouncement,
				Sender: kit.ManagerName, Request: t.announcement(t.match), Status: http.StatusOK,
			}})
			for _, s := range t.messages() {
				if slices.Contains(results, s.Type) || s.Type != protocol.TypeGameOver && s.Type != protocol.TypeMatchResultReport {
					messages = append(messages, &s.Message)
				}
			}
		}
		if scenarios != nil {
			look = in(scenarios, look)
		}
		look(t)
		if missing := t.Judge(messages, results[0], all, rule); missing != "" {
			t.Skip("it cannot be judged: nothing says %s", missing)
		}
	}
}

var roundTests = map[string]step{
	"round.plays": kit.Script(func(t *T) {
		t.NeedsRegistration(t.T)
		t.T.Evidence = append(t.T.Evidence, t.assignment().evidence...)
	}, one("win", func(t *T) {
		for _, at := range []spot{joinA, joinB, chooseA, chooseB} {
			t.first(at)
		}
	})),
	"round.announced": func(t *T) {
		w := t.assignment()
		t.T.Evidence = append(t.T.Evidence, w.evidence...)
		if w.name != "" {
			t.Fail("after ROUND_ANNOUNCEMENT it plays nothing; it plays after %s", w.name)
		}
		if t.T.Session.Peer.Speaks().Has(dialect.TraitManagerID) {
			t.Fail("it plays only when the manager signs as league_manager:LM01")
		}
	},
	"round.ack":     acks(func(t *T) protocol.Message { return t.announcement(t.newMatch(nil)) }),
	"standings.ack": acks(standings),
	"roundend.ack":  acks(roundEnd),
	"round.others":  kit.Script(func(t *T) { t.Tell(t.foreignRound()) }, ignores),
	"round.again": kit.Script(plays(nil), func(t *T) { t.assign(t.match) }, meanwhile,
		once(protocol.TypeGameInvitation, "it was announced again after its end")),
}

// meanwhile has another match played.
func meanwhile(t *T) {
	m := t.match
	t.play(nil)
	t.match = m
}

// ignores ends the check if the match is played, which it should not be. How long that
// would take is shown by a match that is announced afterwards.
func ignores(t *T) {
	evidence := t.Evidence
	meanwhile(t)
	if begun := t.messages(); len(begun) > 0 {
		t.Evidence = evidence
		t.failOn(begun[0], "match %s is played: the referee sent %s for it", t.id, begun[0].Type)
	}
}

// signed has the referee learn the manager's token.
func signed(t *T) { t.Send(sample(t.T)) }

// rejects tests that an announcement is refused, and its match is not played.
func rejects(edit kit.Edit) step {
	return kit.Script(signed, func(t *T) {
		r := t.assigning(t.newMatch(nil))
		r.Edit = edit
		t.Refused(t.Send(r))
	}, ignores)
}

var authTests = map[string]step{
	"auth.token":  rejects(kit.Set("auth_token", kit.Forged)),
	"auth.sender": rejects(kit.Set("sender", protocol.Sender(protocol.RolePlayer, playerIDs[playerA]))),
	"auth.league": rejects(kit.Set("league_id", "elsewhere")),
	"auth.completed": kit.Script(signed, func(t *T) {
		m := t.LeagueCompleted(playerIDs[:]...)
		m.AuthToken = kit.Forged
		t.Refused(t.Tell(m))
	}, plays(nil)),
}

var loadTests = map[string]step{
	"fields.unknown": func(t *T) {
		r := t.assigning(t.newMatch(nil))
		r.Edit = func(m map[string]any) {
			m["x_weather"] = "sunny"
			kit.EditMatch(kit.Set("x_list", []any{1, nil}))(m)
		}
		t.Send(r)
		t.awaitEnd()
	},
	"load.concurrent": func(t *T) {
		choices := []protocol.Choice{protocol.Even, protocol.Odd}
		all := t.newMatches(5)
		for i, m := range all {
			m.plan = plan{chooseA: edits(choosing(choices[i&1])), chooseB: edits(choosing(choices[i>>1&1]))}
		}
		t.assign(all...)
		for _, t.match = range all {
			t.awaitEnd()
			judged("choices", true, nil, protocol.TypeMatchResultReport)(t)
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
		all, most := t.newMatches(limit+2), 0
		held := plan{joinA: waits(func(*match) bool {
			open := 0 // from invitation to call: after GAME_OVER the next may begin
			for _, m := range all {
				if m.count(joinA) > 0 && m.count(chooseA) == 0 {
					open++
				}
			}
			most = max(most, open)
			return false
		})}
		for _, m := range all {
			m.plan = held
		}
		t.assign(all...)
		for _, t.match = range all {
			t.awaitEnd()
		}
		if most > limit {
			t.Fail("%s at once were in progress; it registered for %d", kit.Count(most, "match", "matches"), limit)
		}
		t.Note("%d at most", most)
	},
	"load.speed": func(t *T) {
		a := t.assign(t.newMatch(nil))
		t.awaitEnd()
		if timeout := t.T.Session.Timeout; a.Took > timeout/4 {
			t.Fail("the acknowledgement took %v of %v", a.Took.Round(time.Millisecond), timeout)
		}
		t.Note("acknowledged after %.1f ms", kit.Milliseconds(a.Took))
	},
	"hostile.then": plays(nil),
}
