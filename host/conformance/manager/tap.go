package manager

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// send carries what an agent sends: to agents of the suite directly, and to the manager with what
// the suite adds.
func (p *peers) send(ctx context.Context, a *member, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error) {
	if i := slices.IndexFunc(p.agents, func(other *member) bool { return other.endpoint.URL == out.URL }); i >= 0 {
		r := kit.Handle(p.life, p.agents[i].handler, out.Body, a.name, out.Header)
		return &jsonrpc.Reply{Status: r.Status, Body: r.Body}, nil
	}
	in := trace.ReadRequest(out.Body)
	switch {
	case in.Type == protocol.TypeMatchResultReport:
		return p.reports(ctx, a, in, out)
	case in.Type == protocol.TypeLeagueRegisterRequest && a == p.lastPlayer() && a.first() == nil:
		p.turn.Lock()
		adopted := T{p.playing.Aside(), p}.attempt(enrolling, nil)
		p.turn.Unlock()
		if adopted != nil { // another would be one too many for its league
			p.applied(a, adopted)
			return &jsonrpc.Reply{Status: adopted.Status, Header: adopted.Header, Body: adopted.Body}, nil
		}
	}
	r := (&kit.T{Session: p.session}).Record()
	reply, err := r.RoundTrip(ctx, out)
	if in.Type == protocol.TypeLeagueRegisterRequest || in.Type == protocol.TypeRefereeRegisterRequest {
		if m, ok := in.Request.(*protocol.LeagueRegisterRequest); ok && p.application == nil {
			p.application = m
		}
		p.applied(a, r.Last())
	}
	return reply, err
}

// maxMessages bounds how many messages of a manager are kept.
const maxMessages = 20_000

// receive records a message of the manager, and has the agent answer it unless it is to misbehave.
func (p *peers) receive(to *member, in *trace.Exchange, header http.Header) kit.Response {
	m := &message{Exchange: in, to: to, typ: in.Type, doc: kit.Object(in.Raw), n: 1}
	m.fields = m.doc.Inner()
	m.round = m.fields.Round("round_id")
	if req, _, err := kit.OpenRequest(in.Raw); err == nil && req.Type == protocol.TypeRoundAnnouncement {
		m.typ, m.matches, m.assigned = req.Type, kit.Object(json.RawMessage(req.Raw)).List("matches"), req.IsAssignment()
		m.round = req.Header.RoundID.Number()
	}
	if m.typ == protocol.TypeGameInvitation || m.typ == protocol.TypeChooseParityCall {
		// A league may begin before the last registration is answered.
		p.Until(p.session.Timeout, func() bool { return to.id != "" })
	}
	p.Lock()
	if own := p.withID(m.fields.Text("player_id")); own != nil && to.role == protocol.RolePlayer {
		m.to = own // it was called by its id, at the port of another
	}
	p.record(m)
	misbehave := p.misbehavior(m)
	p.Notify()
	p.Unlock()
	var response *kit.Response
	if misbehave != nil {
		response = misbehave()
	}
	if response == nil {
		given := kit.Handle(p.life, m.to.handler, in.Raw, in.Peer, header)
		response = &given
	}
	p.Do(func() {
		p.events++
		m.reply, m.answered = p.events, true
		m.refused = m.refused || !kit.ReadAnswer(kit.Reply{Status: response.Status, Body: response.Body}).Taken()
	})
	return *response
}

// record keeps a message, and the matches that it assigns to a referee. The lock is held.
func (p *peers) record(m *message) {
	p.events++
	m.arrival = p.events
	if len(p.messages) == maxMessages {
		return
	}
	m.n += count(p.messages, func(other *message) bool { return other.to == m.to && other.typ == m.typ && other.round == m.round })
	p.messages = append(p.messages, m)
	if m.typ == protocol.TypeGameInvitation || m.typ == protocol.TypeChooseParityCall { // by another referee
		id := m.Match
		switch known := p.match(id); {
		case id == "":
		case known == nil:
			p.matches = append(p.matches, &match{id: id, round: m.round, by: m, players: [2]string{m.to.id}})
		case known.players[0] != m.to.id && known.players[1] == "":
			known.players[1] = m.to.id
		}
	}
	for _, f := range m.matches {
		found := &match{id: f.Text("match_id"), round: m.round, by: m, players: [2]string{f.Text("player_A_id"), f.Text("player_B_id")}}
		named := slices.IndexFunc(p.referees(), func(a *member) bool {
			return f.Text("referee_id") == a.id && a.id != "" || agent.SameEndpoint(f.Text("referee_endpoint"), a.endpoint.URL)
		})
		switch {
		case m.to.role == protocol.RoleReferee && (m.assigned || named >= 0 && p.referees()[named] == m.to):
			found.referee = m.to
		case m.to.role == protocol.RoleReferee || named >= 0 || !f.Has("referee_id") && !f.Has("referee_endpoint"):
			continue // for its referee to be sent
		}
		switch known := p.match(found.id); {
		case found.id == "":
		case known == nil:
			p.matches = append(p.matches, found)
		case known.referee == nil && found.referee != nil:
			known.referee, known.by = found.referee, m
		}
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

// misbehavior returns what is done with a message before the agent is given it, or nil. If that
// returns a response, the agent is not given it. The lock is held.
func (p *peers) misbehavior(m *message) func() *kit.Response {
	after := func(holds func() bool) func() *kit.Response {
		return func() *kit.Response {
			p.Until(3*p.shortDelay(), holds)
			return nil
		}
	}
	loses := func(player int, check string) bool {
		m.refused = m.to == p.players()[player] && p.session.Selected(check)
		return m.refused
	}
	switch {
	case m.n > 1:
	case m.typ == protocol.TypeLeagueCompleted && m.to == p.agents[len(p.agents)-1]:
		return after(func() bool { return p.finished })
	case m.typ != protocol.TypeRoundAnnouncement:
	case m.round == 1 && m.to == p.players()[slowPlayer]:
		return after(func() bool { return p.assigned(1) > 0 })
	case m.round != faultyRound:
	case loses(busyPlayer, "manager.notify.busy"):
		busy := kit.RespondBusy(m.Raw)
		return func() *kit.Response { return &busy }
	case loses(brokenPlayer, "manager.notify.broken"):
		return func() *kit.Response { return &kit.Response{Hangup: true} }
	case loses(silentPlayer, "manager.notify.silent"):
		return func() *kit.Response {
			p.keepBusy(1)
			p.Until(longestWait+p.session.Timeout/2, func() bool { return p.assigned(m.round) > 0 })
			p.keepBusy(-1)
			return &kit.Response{Hangup: true}
		}
	}
	return nil
}

// keepBusy counts messages that are not answered yet on purpose.
func (p *peers) keepBusy(n int) {
	p.Do(func() {
		p.busy += n
		p.events++
	})
}

// assigned counts the matches of a round, or with 0 of all rounds, that
// referees have been assigned. The lock is held.
func (p *peers) assigned(round int) int {
	return count(p.matches, func(m *match) bool { return m.referee != nil && (m.round == round || round == 0) })
}

// sent counts the messages of a type. The lock is held.
func (p *peers) sent(typ protocol.Type) int {
	return count(p.messages, func(m *message) bool { return m.typ == typ })
}

func count[T any](all []T, is func(T) bool) int {
	return len(slices.DeleteFunc(slices.Clone(all), func(x T) bool { return !is(x) }))
}

// sentToAll reports whether every agent was sent a message of a type, and
// answered it, since an event. The lock is held.
func (p *peers) sentToAll(typ protocol.Type, since int) bool {
	return !slices.ContainsFunc(p.registered(), func(to *member) bool {
		return !slices.ContainsFunc(p.messages, func(m *message) bool { return m.to == to && m.typ == typ && m.arrival > since && m.answered })
	})
}

// endSent reports whether every agent was sent LEAGUE_COMPLETED. The lock is held.
func (p *peers) endSent() bool {
	return !slices.ContainsFunc(p.registered(), func(to *member) bool {
		return !slices.ContainsFunc(p.messages, func(m *message) bool { return m.to == to && m.typ == protocol.TypeLeagueCompleted })
	})
}

// sentAgain reports whether a message that an agent did not accept was sent
// again. The lock is held.
func (p *peers) sentAgain(lost *message) bool {
	return slices.ContainsFunc(p.messages, func(m *message) bool {
		return m.to == lost.to && m.typ == lost.typ && m.round == lost.round && m.n == lost.n+1 && m.answered
	})
}
