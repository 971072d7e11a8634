package manager

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// maxMessages bounds how many messages of a manager are kept.
const maxMessages = 20_000

// receive records a message of the manager and answers it.
func (p *peers) receive(to *member, in *trace.Exchange) kit.Response {
	m := &message{Exchange: in, to: to, typ: in.Type, fields: kit.Object(in.Raw).Inner(), n: 1}
	m.round = m.fields.Round("round_id")
	if req, err := kit.OpenRequest(in.Raw); err == nil && req.Type == protocol.TypeRoundAnnouncement {
		m.typ, m.matches, m.assigned = req.Type, kit.Object(json.RawMessage(req.Raw)).List("matches"), req.IsAssignment()
		m.round = req.Header.RoundID.Number()
	}
	if m.typ == protocol.TypeGameInvitation || m.typ == protocol.TypeChooseParityCall {
		// A league may begin before the last registration is answered.
		p.Until(p.session.Timeout, func() bool { return to.id != "" || p.closing })
	}
	p.Lock()
	if own := p.withID(m.fields.Text("player_id")); own != nil && to.role == protocol.RolePlayer {
		m.to = own // it was called by its id, at the port of another
	}
	p.record(m)
	misbehave := p.misbehavior(m)
	m.refused = misbehave != nil && m.typ == protocol.TypeRoundAnnouncement && m.round == faultyRound
	p.Notify()
	p.Unlock()
	var response kit.Response
	if misbehave != nil {
		response = misbehave()
	} else {
		response = p.plays(m)
	}
	p.Lock()
	defer p.Unlock()
	p.events++
	m.reply, m.answered = p.events, true
	p.Notify()
	return response
}

// record keeps a message, and the matches that it assigns to a referee. The
// lock is held.
func (p *peers) record(m *message) {
	p.events++
	m.arrival, m.id, m.token = p.events, m.to.id, m.to.token
	if len(p.messages) == maxMessages {
		return
	}
	for _, other := range p.messages {
		if other.to == m.to && other.typ == m.typ && other.round == m.round {
			m.n++
		}
	}
	p.messages = append(p.messages, m)
	if m.to.role != protocol.RoleReferee {
		return
	}
	for _, f := range m.matches {
		id := f.Text("match_id")
		if id == "" || !m.assigned && f.Text("referee_id") != m.id && !agent.SameEndpoint(f.Text("referee_endpoint"), m.to.endpoint.URL) {
			continue
		}
		if i := slices.IndexFunc(p.matches, func(known *match) bool { return known.id == id }); i >= 0 {
			p.matches[i].referee = m.to // it was reassigned
			continue
		}
		p.matches = append(p.matches, &match{
			id: id, round: m.round, referee: m.to, by: m, players: [2]string{f.Text("player_A_id"), f.Text("player_B_id")},
		})
	}
}

// The players that misbehave: when they are first sent the announcement of
// faultyRound, or, for the slow one, of the first round.
const (
	busyPlayer   = 0 // answers HTTP 503
	brokenPlayer = 1 // breaks the connection off
	silentPlayer = 2 // does not answer
	slowPlayer   = 3 // answers after a short delay

	faultyRound = 2
)

// The checks for which players misbehave.
const (
	retriesBusy    = "manager.notify.busy"
	retriesBroken  = "manager.notify.broken"
	survivesSilent = "manager.notify.silent"
)

// misbehavior returns what an agent does with a message instead of
// acknowledging it, or nil. The lock is held.
func (p *peers) misbehavior(m *message) func() kit.Response {
	if m.n > 1 {
		return nil
	}
	acknowledgeAfter := func(holds func() bool) func() kit.Response {
		return func() kit.Response {
			p.Until(3*p.shortDelay(), func() bool { return holds() || p.closing })
			return acknowledge(m)
		}
	}
	switch {
	case m.typ == protocol.TypeLeagueCompleted && m.to == p.agents[len(p.agents)-1]:
		return acknowledgeAfter(func() bool { return p.finished })
	case m.typ != protocol.TypeRoundAnnouncement:
		return nil
	case m.round == 1 && m.to == p.players()[slowPlayer]:
		return func() kit.Response {
			p.Until(p.shortDelay(), func() bool { return p.assigned(1) > 0 })
			return acknowledge(m)
		}
	case m.round != faultyRound:
		return nil
	case m.to == p.players()[busyPlayer] && p.session.Selected(retriesBusy):
		return func() kit.Response { return kit.RespondBusy(m.Raw) }
	case m.to == p.players()[brokenPlayer] && p.session.Selected(retriesBroken):
		return func() kit.Response { return kit.Response{Hangup: true} }
	case m.to == p.players()[silentPlayer] && p.session.Selected(survivesSilent):
		return func() kit.Response {
			// It gives up if the manager waits for it longer than the check does.
			p.Lock()
			p.holding++
			p.Unlock()
			p.Until(p.patience(), func() bool { return p.assigned(m.round) > 0 || p.closing })
			p.Lock()
			p.holding--
			p.Unlock()
			return kit.Response{Hangup: true}
		}
	}
	return nil
}

// assigned counts the matches of a round, or with 0 of all rounds, that
// referees have been assigned. The lock is held.
func (p *peers) assigned(round int) int {
	n := 0
	for _, m := range p.matches {
		if m.round == round || round == 0 {
			n++
		}
	}
	return n
}

// sent counts the messages of a type. The lock is held.
func (p *peers) sent(typ protocol.Type) int {
	n := 0
	for _, m := range p.messages {
		if m.typ == typ {
			n++
		}
	}
	return n
}

// sentToAll reports whether every agent was sent a message of a type, and
// answered it, since an event. The lock is held.
func (p *peers) sentToAll(typ protocol.Type, since int) bool {
	for _, to := range p.registered() {
		if !slices.ContainsFunc(p.messages, func(m *message) bool { return m.to == to && m.typ == typ && m.arrival > since && m.answered }) {
			return false
		}
	}
	return true
}

// sentAgain reports whether a message that an agent did not accept was sent
// again. The lock is held.
func (p *peers) sentAgain(lost *message) bool {
	return slices.ContainsFunc(p.messages, func(m *message) bool {
		return m.to == lost.to && m.typ == lost.typ && m.round == lost.round && m.n == lost.n+1 && m.answered
	})
}

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
	return t.Until(t.patience(), announced)
}

// leaguePlayed returns the league, and plays it the first time. It does not
// matter whether the manager leaves in the meantime: the checks read the record.
func (t T) leaguePlayed() *league {
	if t.league == nil {
		t.peers.league = &league{
			probes: map[string]*probe{}, missing: map[string]string{},
			roundEnds: []protocol.Type{protocol.TypeRoundCompleted, protocol.TypeLeagueStandingsUpdate},
		}
		t.play(T{t.Aside(), t.peers})
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

// probe sends a request of the league, and records it.
func (t T) probe(name string, send func() *kit.Answer) *kit.Answer {
	t.Evidence = nil
	a := send()
	t.league.probes[name] = &probe{a, slices.Clone(t.Evidence)}
	t.league.took = append(t.league.took, a.Took)
	return a
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
		case t.conducts():
			t.Skip(conductsMatches)
		case l.stopped != "":
			t.Skip("the league did not get that far: %s", t.whyStopped())
		default:
			t.Skip("the league has too few matches for that; use more players (--players)")
		}
	}
	for _, e := range made.evidence {
		t.Keep(e)
	}
	return made.answer
}

// refusedCheck is a check that a probe was refused.
func refusedCheck(name, probe string, level kit.Level, rule, advice string) kit.Check {
	return leagueCheck(name, level, rule, advice, func(t T) { t.Refused(t.recorded(probe)) })
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

// secret ends the check if a message contains a text that its receiver should
// not know.
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
				if r.report != nil {
					t.T.Evidence = append(t.Evidence, r.report.evidence...)
				}
				t.Fail("after the last report of round %d, %s was sent no %s", r.number, to.id, typ)
			}
		}
	}
}

func probeName(kind string, n int) string { return fmt.Sprintf("%s.%d", kind, n) }
