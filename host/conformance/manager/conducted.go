package manager

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// plays answers a message to one of the agents as the protocol says and, if it is
// about a match that the manager's own referee conducts, in the form that this
// referee reads, as our own player finds it out.
func (p *peers) plays(m *message) kit.Response {
	if m.to.role != protocol.RolePlayer || m.fields.Text("match_id") == "" {
		return acknowledge(m)
	}
	h := protocol.Header{Sender: protocol.Sender(protocol.RolePlayer, m.id), AuthToken: m.token, MatchID: m.fields.Text("match_id")}
	who := m.fields.Text("sender")
	p.Lock()
	defer p.Unlock()
	s := p.seats[h.MatchID+" "+m.id]
	if s == nil {
		if p.seats == nil {
			p.seats = make(map[string]*seat)
		}
		s = &seat{called: make(chan struct{})}
		p.seats[h.MatchID+" "+m.id] = s
	}
	if req, err := kit.OpenRequest(m.Raw); err == nil && req.Dialect == dialect.LowerMethod {
		p.answers.Prefer(who, dialect.TraitBoth)
	}
	in := func(d *dialect.Dialect) *dialect.Dialect { return p.answers.Dialect(who, d) }
	switch m.typ {
	case protocol.TypeGameInvitation:
		if s.joins > 1 && s.answers == 0 {
			p.answers.Missed(who, s.form, false)
		}
		s.joins++
		s.form = p.answers.Form(who)
		h.MessageType = protocol.TypeGameJoinAck
		join := &protocol.GameJoinAck{Header: h, PlayerID: m.id, ArrivalTimestamp: protocol.Timestamp(time.Now()), Accept: protocol.Some(true), Accepted: protocol.Some(true)}
		if s.joins == 1 {
			own := *join
			p.posting.Go(func() { p.post(m, s, &own) })
		}
		return kit.RespondIn(m.Raw, join, in)
	case protocol.TypeChooseParityCall:
		if s.answers > 1 {
			p.answers.Missed(who, s.form, true)
		}
		if s.answers++; s.answers == 1 {
			close(s.called)
			if s.joins > 0 {
				p.answers.Joined(who, s.posted)
			}
		}
		s.form = p.answers.Form(who)
		h.MessageType = protocol.TypeChooseParityResponse
		return kit.RespondIn(m.Raw, &protocol.ChooseParityResponse{Header: h, PlayerID: m.id, ParityChoice: protocol.Even, Choice: protocol.Even}, in)
	case protocol.TypeGameOver:
		if !s.counted && s.joins > 0 {
			s.counted = true
			p.learns(m, s, who)
		}
	}
	return acknowledge(m)
}

// learns notes what the end of a match shows of the referee: whether it has read
// the answers. The lock is held.
func (p *peers) learns(m *message, s *seat, who string) {
	result := m.fields.Object("game_result")
	if result == nil {
		result = m.fields
	}
	choices := result.Object("choices")
	if choices == nil {
		choices = result.Object("player_choices")
	}
	counted := protocol.Choice(choices.Text(m.id)).Valid() || protocol.Choice(m.fields.Text("your_choice")).Valid()
	absent := slices.Contains(result.Strings("technical_loss_player_ids"), m.id) || choices != nil && !counted
	switch {
	case counted && s.answers > 0:
		p.answers.Proven(who)
	case absent && s.posted:
		p.answers.Missed(who, s.form, s.answers > 0, dialect.TraitAsync)
	case absent:
		p.answers.Missed(who, s.form, s.answers > 0)
	}
}

// patient is how long a player waits for the call for its choice before it sends
// its join as a message of its own.
const patient = 750 * time.Millisecond

// post sends a join as a message of its own, if no call for a choice comes.
func (p *peers) post(m *message, s *seat, join *protocol.GameJoinAck) {
	endpoint := m.fields.Text("referee_endpoint")
	if u, err := url.Parse(endpoint); err != nil || u.Host == "" {
		endpoint = agent.DefaultEndpoint(p.session.URL, protocol.RoleReferee, refereeOf(m))
	}
	late := time.NewTimer(patient)
	defer late.Stop()
	select {
	case <-s.called:
		return
	case <-p.life.Done():
		return
	case <-late.C:
	}
	if endpoint == "" {
		return
	}
	ctx, cancel := context.WithTimeout(p.life, p.session.Timeout)
	defer cancel()
	p.Lock()
	s.posted = true // the call may come before the answer to this
	p.Unlock()
	join.Protocol, join.Timestamp, join.ConversationID = protocol.Version, protocol.Timestamp(time.Now()), m.fields.Text("conversation_id")
	join.Status = ""
	caller := &wire.Caller{Client: jsonrpc.NewClient((&kit.T{Session: p.session}).Record(), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)}
	d := dialect.Contracts
	if req, err := kit.OpenRequest(m.Raw); err == nil {
		d = req.Dialect
	}
	if _, err := caller.Call(ctx, wire.NewPeer(endpoint, d.With(dialect.TraitNumericIDs)), join); err != nil {
		p.Lock()
		s.posted = false
		p.Unlock()
	}
}

// refereeOf returns the id of the referee that has sent a message.
func refereeOf(m *message) string {
	_, id, err := protocol.ParseSender(m.fields.Text("sender"))
	if err != nil {
		return ""
	}
	return id
}

// acknowledge answers a message as the protocol says.
func acknowledge(m *message) kit.Response {
	ack := m.typ.Acknowledgement()
	if ack == nil {
		return kit.Respond(m.Raw, nil)
	}
	ack.Sender = protocol.Sender(m.to.role, m.id)
	if m.to.role == protocol.RolePlayer {
		ack.PlayerID = m.id
	} else {
		ack.RefereeID = m.id
	}
	return kit.Respond(m.Raw, ack)
}
