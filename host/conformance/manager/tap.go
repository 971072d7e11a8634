package manager

import (
	"cmp"
	"context"
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
	if to := find(p.agents, func(other *member) bool { return other.Endpoint.URL == out.URL }); to != nil {
		r := kit.Handle(p.Alive, to.Handler, kit.NewMessage(out.Body, a.name, out.Header))
		return &jsonrpc.Reply{Status: r.Status, Body: r.Body}, nil
	}
	in := trace.ReadRequest(out.Body)
	registers := in.Type == protocol.TypeLeagueRegisterRequest || in.Type == protocol.TypeRefereeRegisterRequest
	switch {
	case in.Type == protocol.TypeMatchResultReport:
		return p.reports(ctx, a, in, out)
	case registers && a == p.lastPlayer() && a.first == nil:
		p.turn.Lock()
		adopted := T{p.playing.Aside(), p}.attempt(enrolling, nil)
		p.turn.Unlock()
		if adopted != nil { // another would be one too many for its league
			p.applied(a, adopted)
			return &adopted.Reply, nil
		}
	}
	t := &kit.T{Session: p.Session}
	reply, err := t.RoundTrip(ctx, out)
	if registers {
		p.applied(a, t.Last())
	}
	return reply, err
}

// maxMessages bounds how many messages of a manager are kept.
const maxMessages = 20_000

// receive records a message of the manager, and has the agent answer it unless it is to misbehave.
func (p *peers) receive(to *member, in *kit.Message) kit.Response {
	m := &message{Message: *in, to: to, round: in.Fields.Round("round_id"), n: 1}
	if r, ok := in.Request.(*protocol.RoundAnnouncement); ok {
		m.matches, m.round = r.Matches, r.RoundID.Number()
	}
	invited := in.Type == protocol.TypeGameInvitation || in.Type == protocol.TypeChooseParityCall
	if invited { // by another referee; a league may begin before the last registration is answered
		p.Until(p.Session.Timeout, func() bool { return to.ID != "" })
	}
	p.Do(func() {
		if own := p.withID(m.Fields.Text("player_id")); own != nil && to.role == protocol.RolePlayer {
			m.to = own // it was called by its id, at the port of another
		}
		if invited {
			m.matches = []protocol.AnnouncedMatch{{MatchID: m.Match, PlayerAID: m.to.ID}}
		}
		m.To = cmp.Or(m.to.ID, m.to.name)
		p.record(m)
	})
	response := p.misbehave(m)
	if response == nil {
		given := kit.Handle(p.Alive, m.to.Handler, in)
		response = &given
	}
	p.Do(func() {
		m.reply = len(p.log)
		m.refused = !kit.ReadAnswer(jsonrpc.Reply{Status: response.Status, Body: response.Body}).Taken()
	})
	return *response
}

// record keeps a message, and the matches that it assigns to a referee. The lock is held.
func (p *peers) record(m *message) {
	m.n += count(p.log, func(other *message) bool { return other.to == m.to && other.Type == m.Type && other.round == m.round })
	if len(p.log) < maxMessages {
		p.log = append(p.log, m)
	}
	m.arrival = len(p.log)
	if m.Type == announcement && m.to.role == protocol.RolePlayer && len(m.matches) > 0 {
		p.announced[m.round] = len(m.matches)
	}
	for _, f := range m.matches {
		found := &match{id: f.MatchID, round: m.round, by: m, players: [2]string{f.PlayerAID, f.PlayerBID}}
		named := find(p.referees(), func(a *member) bool {
			return f.RefereeID == a.ID && a.ID != "" || agent.SameEndpoint(f.RefereeEndpoint, a.Endpoint.URL)
		})
		switch {
		case m.to.role == protocol.RoleReferee && (m.Assignment || named == m.to):
			found.referee = m.to
		case m.to.role == protocol.RoleReferee || named != nil || m.Type == announcement && f.RefereeID+f.RefereeEndpoint == "":
			continue // for its referee to be sent
		}
		switch known := p.match(found.id); {
		case found.id == "":
		case known == nil:
			p.matches = append(p.matches, found)
		case known.referee == nil && found.referee != nil:
			known.referee, known.by = found.referee, m
		case known.players[1] == "" && known.players[0] != found.players[0]:
			known.players[1] = found.players[0]
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

// misbehave does what a player does before it is given a message. If that returns a response, the
// player is not given it.
func (p *peers) misbehave(m *message) *kit.Response {
	announced := func(player, round int) bool {
		return m.Type == announcement && m.to == p.players()[player] && m.round == round
	}
	faulty := func(player int, check string) bool {
		return announced(player, faultyRound) && p.Session.Selected(check)
	}
	switch {
	case m.n > 1:
	case m.Type == theEnd && m.to == p.agents[len(p.agents)-1]:
		p.Until(3*p.shortDelay(), func() bool { return p.finished })
	case announced(slowPlayer, 1):
		p.Until(3*p.shortDelay(), func() bool { return p.assigned(1) > 0 })
	case faulty(busyPlayer, "manager.notify.busy"):
		busy := kit.RespondBusy(m.Raw)
		return &busy
	case faulty(brokenPlayer, "manager.notify.broken"):
		return &kit.Response{Hangup: true}
	case faulty(silentPlayer, "manager.notify.silent"):
		p.keepBusy(1)
		p.Until(longestWait+p.Session.Timeout/2, func() bool { return p.assigned(m.round) > 0 })
		p.keepBusy(-1)
		return &kit.Response{Hangup: true}
	}
	return nil
}

// keepBusy counts messages that are not answered yet on purpose.
func (p *peers) keepBusy(n int) { p.Do(func() { p.busy += n }) }

// assigned counts the matches of a round, or with 0 of all rounds, that
// referees have been assigned. The lock is held.
func (p *peers) assigned(round int) int {
	return count(p.matches, func(m *match) bool { return m.referee != nil && (m.round == round || round == 0) })
}

// wasSent reports whether a message of a type was sent. The lock is held.
func (p *peers) wasSent(types ...protocol.Type) bool {
	return slices.ContainsFunc(p.log, func(m *message) bool { return slices.Contains(types, m.Type) })
}

// sentToAll reports whether every agent was sent a message of a type since an event. The lock is held.
func (p *peers) sentToAll(typ protocol.Type, since int) bool {
	return !slices.ContainsFunc(p.registered(), func(to *member) bool {
		return !slices.ContainsFunc(p.log, func(m *message) bool { return m.to == to && m.Type == typ && m.arrival > since })
	})
}

// sentAgain reports whether a message that an agent did not accept was sent
// again. The lock is held.
func (p *peers) sentAgain(lost *message) bool {
	return slices.ContainsFunc(p.log, func(m *message) bool {
		return m.to == lost.to && m.Type == lost.Type && m.round == lost.round && m.n == lost.n+1 && m.reply > 0
	})
}
