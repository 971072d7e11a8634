package referee

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// acked tests that a message is acknowledged.
func acked(message func(t T) protocol.Message) func(T) {
	return func(t T) {
		t.NeedsRegistration(t.T)
		m := message(t)
		t.Accepted(t.send(m), m.Head().MessageType.Answer())
	}
}

var roundTests = map[string]func(T){
	"round.plays": func(t T) {
		t.NeedsRegistration(t.T)
		t.T.Evidence = append(t.T.Evidence, t.assignment().first...)
		m := t.scenario("win")
		for _, typ := range []protocol.Type{protocol.TypeGameInvitation, protocol.TypeChooseParityCall} {
			t.message(m, typ, playerA)
			t.message(m, typ, playerB)
		}
	},
	"round.announced": func(t T) {
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
	"round.ack":     acked(func(t T) protocol.Message { return t.announcement(t.newMatch(plan{})) }),
	"standings.ack": acked(func(t T) protocol.Message { return t.standings(0) }),
	"roundend.ack":  acked(func(t T) protocol.Message { return t.RoundCompleted() }),
	"round.others": func(t T) {
		a := t.foreignRound()
		t.send(a)
		t.ignores(t.matchOf(a.Matches[0].MatchID))
	},
	"round.again": func(t T) {
		m := t.play(plan{})
		t.assign(m)
		t.play(plan{})
		for who := range playerIDs {
			if list := t.messages(m, protocol.TypeGameInvitation, who); len(list) > 1 {
				t.failOn(list[1], "match %s was announced again after its end, and %s was invited again", m.id, nameOf(who))
			}
		}
	},
}

// signed makes a test of a referee that knows the manager's token.
func signed(test func(t T)) func(T) {
	return func(t T) {
		t.Send(sample(t.T)) // it knows the manager's token then
		test(t)
	}
}

// refuses tests that an announcement is refused, and its match is not played.
func refuses(change func(t T, a *protocol.RoundAnnouncement)) func(T) {
	return signed(func(t T) {
		m := t.newMatch(plan{})
		a := t.announcement(m)
		r := t.request(t.assignment(), a)
		change(t, a)
		t.Refused(t.Send(r))
		t.ignores(m)
	})
}

var authTests = map[string]func(T){
	"auth.token": refuses(func(_ T, a *protocol.RoundAnnouncement) { a.AuthToken = kit.Forged }),
	"auth.sender": refuses(func(_ T, a *protocol.RoundAnnouncement) {
		a.Sender = protocol.Sender(protocol.RolePlayer, playerIDs[playerA])
	}),
	"auth.league": refuses(func(t T, a *protocol.RoundAnnouncement) {
		a.LeagueID, a.AuthToken = "elsewhere", t.Verifier.ManagerToken(kit.League)
	}),
	"auth.completed": signed(func(t T) {
		m := t.LeagueCompleted(playerIDs[:]...)
		m.AuthToken = kit.Forged
		t.Refused(t.send(m))
		t.play(plan{})
	}),
}

// ignores ends the check if a match is played that should not be. How long that
// would take is shown by a match that is announced afterwards.
func (t T) ignores(m *match) {
	evidence := t.Evidence
	t.play(plan{})
	if begun := t.messages(m, ""); len(begun) > 0 {
		t.Evidence = evidence
		t.failOn(begun[0], "match %s is played: the referee sent %s for it", m.id, begun[0].Type)
	}
}

// assignment is how the referee is assigned its matches.
type assignment struct {
	match  *match // that it was tried with
	plays  bool   // it plays what it is assigned
	name   string // of the message that assigns one match; empty for ROUND_ANNOUNCEMENT
	sender string // instead of the protocol's
	first  []kit.Evidence
}

// otherManager is how some managers sign; some referees know no other name.
const otherManager = "league_manager:LM01"

// request assigns a match in one way.
func (t T) request(w assignment, a *protocol.RoundAnnouncement) kit.Request {
	a.Sender = cmp.Or(w.sender, a.Sender)
	r := kit.Request{Message: a}
	if w.name != "" {
		r.Wrap = func(d *dialect.Dialect) (jsonrpc.Message, error) {
			calls, err := d.AssignmentCalls(w.name, a)
			if err != nil {
				return jsonrpc.Message{}, err
			}
			return calls[0], nil
		}
	}
	return r
}

// assigning returns the request that assigns matches in the way that the referee
// takes; if it takes them one by one, only the first.
func (t T) assigning(matches ...*match) kit.Request {
	return t.request(t.assignment(), t.announcement(matches...))
}

// assign assigns matches in the way that the referee takes, and returns the last answer.
func (t T) assign(matches ...*match) *kit.Answer {
	if t.assignment().name == "" {
		return t.Send(t.assigning(matches...))
	}
	var last *kit.Answer
	for _, m := range matches {
		last = t.Send(t.assigning(m))
	}
	return last
}

// assignment finds out once how the referee is assigned matches: it announces a
// match, and assigns others in every other known way until one is played.
func (t T) assignment() assignment {
	if t.assigned.Load() == nil {
		found := t.findAssignment()
		t.assigned.Store(&found)
	}
	return *t.assigned.Load()
}

func (t T) findAssignment() (found assignment) {
	var tried []assignment
	var first []kit.Evidence
	begun := func(within time.Duration) bool {
		return t.Until(within, func() bool {
			if i := slices.IndexFunc(tried, func(w assignment) bool { return len(w.match.sent) > 0 }); i >= 0 {
				found, t.scenarios["win"] = tried[i], tried[i].match
				found.plays = true
			}
			found.first = first
			return found.plays
		})
	}
	try := func(w assignment) (a *kit.Answer) {
		w.match = t.newMatch(plan{})
		tried = append(tried, w)
		aside := t.Aside()
		a = aside.Send(t.request(w, t.announcement(w.match)))
		if len(tried) == 1 {
			first = aside.Evidence
		}
		if len(tried) == 1 || !a.Refused && a.Err == nil {
			begun(t.assignmentDelay(a))
		}
		return a
	}
	for _, name := range t.assignmentNames() {
		a := try(assignment{name: name})
		if !begun(0) && name == "" && (a.UnknownMessage() || a.Plain) { // other ids, wrappings and tools
			m := t.newMatch(plan{})
			t.Aside().Find(t.announcement(m))
			tried = append(tried, assignment{name: t.T.Session.Peer().AssignedBy(), match: m})
			begun(t.assignmentDelay(a))
		}
		if !begun(0) && a.Refused && strings.Contains(strings.ToLower(a.Reason), "sender") {
			try(assignment{name: name, sender: otherManager})
		}
		if begun(0) {
			return found
		}
	}
	begun(t.patience())
	return found
}

// assignmentDelay is how long a match is waited for before the next way is tried.
// A slower referee is noticed later: every way has a match of its own.
func (t T) assignmentDelay(a *kit.Answer) time.Duration {
	if t.Registered() && a.Taken() && protocol.Type(a.Message.Text("message_type")) == protocol.TypeRoundAnnouncement.Answer() {
		return t.T.Session.Timeout
	}
	return min(t.T.Session.Timeout/5, time.Second)
}

// assignmentNames returns the ways to assign a match: first the announcement, then
// what the registration names, then all others.
func (t T) assignmentNames() []string {
	names := protocol.AssignmentNames()
	if all := t.Attempts(); len(all) > 0 {
		meta := jsontext.Value(fmt.Sprintf(`{"referee_meta":%s}`, all[0].Message.Shown("referee_meta")))
		if own := dialect.AssignmentNameIn(meta); own != "" {
			names = append([]string{own}, slices.DeleteFunc(names, func(name string) bool { return name == own })...)
		}
	}
	return append([]string{""}, names...)
}
