package manager

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
)

// started reports whether the league has begun by itself.
func (t T) started() bool {
	announced := func() bool {
		return t.sent(protocol.TypeRoundAnnouncement) > 0 || t.sent(protocol.TypeGameInvitation) > 0
	}
	if t.Until(t.shortDelay(), announced) { // it may just be about to begin
		return true
	}
	status := ""
	if a := t.ask(protocol.QueryStatus); !a.Refused {
		status = a.Message.Object("data").Text("status")
	}
	if status != protocol.LeagueRunning && status != protocol.LeagueScheduling {
		return false
	}
	return t.Until(t.session.Patience(), announced)
}

// leaguePlayed returns the league, and has it played the first time. It does not
// matter whether the manager leaves in the meantime: the checks read the record.
func (t T) leaguePlayed() *league {
	if t.playing == nil {
		t.peers.playing = t.Aside()
		playLeague(T{t.playing, t.peers})
	}
	return t.league
}

// played returns the league. It skips the check if the league did not begin.
func (t T) played() *league {
	l := t.leaguePlayed()
	if len(l.rounds) == 0 {
		t.Skip("the league did not begin: %s", t.whyStopped())
	}
	return l
}

// whyStopped says why the league did not end, or which check says so.
func (t T) whyStopped() string {
	if t.session.Selected(assignsMatches) {
		return "see " + assignsMatches
	}
	return t.league.stopped
}

// complete returns the league. It skips the check if the league did not end.
func (t T) complete() *league {
	l := t.played()
	if l.stopped != "" {
		t.Skip("the league did not end: %s", t.whyStopped())
	}
	return l
}

// probe sends a message of the league, and records it.
func (t T) probe(name string, m protocol.Message) *kit.Answer {
	return t.probeBy(name, kit.Request{Message: m}).answer
}

// probeBy is probe for a message in a form of its own.
func (t T) probeBy(name string, r kit.Request) *probe {
	t.Evidence = nil
	a := t.Send(r)
	made := &probe{a, slices.Clone(t.Evidence)}
	t.league.probes[name] = made
	t.league.took = append(t.league.took, a.Took)
	return made
}

// recorded returns the answer to a probe, and adds it to the evidence. It skips
// the check if the probe was not made.
func (t T) recorded(name string) *kit.Answer {
	l := t.leaguePlayed()
	made := l.probes[name]
	if made == nil {
		switch why := l.missing[name]; {
		case why != "":
			t.Skip("%s", why)
		case l.selfStarted && strings.HasPrefix(name, "start"):
			t.Skip("the league began by itself after the last registration")
		case t.conducts():
			t.Skip(conductsMatches)
		case l.stopped != "":
			t.Skip("the league did not get that far: %s", t.whyStopped())
		default:
			t.Skip("the league has too few matches for that; use more players (--players)")
		}
	}
	t.blame(made)
	return made.answer
}

// blame adds the exchange of a probe to the evidence, if it was made.
func (t T) blame(made *probe) {
	if made != nil {
		for _, e := range made.evidence {
			t.Keep(e)
		}
	}
}

// probeTests test that probes were refused, or that reports in other forms were not.
func probeTests() map[string]func(T) {
	tests := map[string]func(T){}
	for id, probe := range map[string]string{"start.over": "over.start", "report.late": "over.report", "late.refused": "late"} {
		tests[id] = func(t T) { t.Refused(t.recorded(probe)) }
	}
	for _, id := range strings.Fields(`register.name register.game register.endpoint register.meta
		start.report start.missing start.token start.web start.player
		report.differs report.unknown report.token report.tokenless report.player report.other report.context report.empty
		report.winner report.score report.number report.players`) {
		tests[id] = func(t T) { t.Refused(t.recorded(id)) }
	}
	for _, d := range []*dialect.Dialect{dialect.Envelope, dialect.Tool, dialect.ToolIO, dialect.Bare} {
		tests["report."+d.Name] = func(t T) { t.AnsweredIn(t.recorded("report."+d.Name), d) }
	}
	return tests
}

func (t T) show(m *message) { t.Show("the manager to "+m.to.called(), m.Raw) }

func (t T) failOn(m *message, format string, args ...any) {
	t.show(m)
	t.Fail(format, args...)
}

// every yields all messages of a type, or with "" all messages, in the order in
// which they arrived. It skips the check if there are none.
func (t T) every(typ protocol.Type, yield func(m *message)) {
	t.played()
	t.Lock()
	all := slices.DeleteFunc(slices.Clone(t.messages), func(m *message) bool { return typ != "" && m.typ != typ })
	t.Unlock()
	if len(all) == 0 {
		t.Skip("no %s was sent", typ)
	}
	for _, m := range all {
		yield(m)
	}
}

// secret ends the check if a message contains a text that its receiver should not know.
func (t T) secret(m *message, text, format string, args ...any) {
	if text != "" && bytes.Contains(m.Raw, []byte(text)) {
		t.failOn(m, format, args...)
	}
}

// firsts returns the first announcement of a round to each agent of a role.
func (t T) firsts(role protocol.Role, round int) map[*member]*message {
	t.Lock()
	defer t.Unlock()
	first := map[*member]*message{}
	for _, m := range t.messages {
		if m.typ == protocol.TypeRoundAnnouncement && m.round == round && m.to.role == role && first[m.to] == nil {
			first[m.to] = m
		}
	}
	return first
}

// atEnd returns the last message of a type to an agent at the end of a round.
func (t T) atEnd(to *member, typ protocol.Type, r *round) *message {
	t.Lock()
	defer t.Unlock()
	var last *message
	for _, m := range t.messages {
		switch {
		case m.to != to:
		case m.typ == protocol.TypeLeagueCompleted:
			return last // what follows is for manager.end.last to find
		case m.typ == typ && m.arrival > r.last && m.arrival <= r.closed:
			last = m
		}
	}
	return last
}

// sentAfterRounds ends the check unless everybody was sent a message of a type
// at the end of every round.
func (t T) sentAfterRounds(typ protocol.Type) {
	for _, r := range t.played().rounds {
		for _, to := range t.registered() {
			if r.closed > 0 && t.atEnd(to, typ, r) == nil {
				t.blame(r.report)
				t.Fail("after the last report of round %d, %s was sent no %s", r.number, to.id, typ)
			}
		}
	}
}

func probeName(kind string, n int) string { return fmt.Sprintf("%s.%d", kind, n) }
