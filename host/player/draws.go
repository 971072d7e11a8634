package player

import (
	"errors"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies"
)

// Draws counts the draws of a league in which a referee committed to keys. A match
// without a commitment counts as not verified: otherwise the referee could leave it
// out where it wants to choose the number.
type Draws struct {
	Verified int `json:"verified"`
	Drawn    int `json:"drawn"`
	// Undrawn counts matches in which the agent has chosen after a commitment and no
	// number was drawn: the opponent failed, or the referee broke off.
	Undrawn int `json:"undrawn"`
}

// The verdicts on a number that a referee committed to, in Event.Draw.
const (
	DrawVerified = "verified" // it keeps the referee's commitment
	DrawBroken   = "broken"   // it does not
)

// promise is a match's part in verifiable draws. It is settled with the first call
// for a choice: a referee that commits to another key later, when it may know
// choices, cannot open the first commitment.
type promise struct {
	Commitment string `json:"commitment"`
	Nonce      string `json:"nonce"`
}

// offerDraws offers to take part in verifiable draws. Only a referee with the match key is sent the
// additional member, since others may be strict about members that they do not know.
func (p *Player) offerDraws(m *match, join *protocol.GameJoinAck) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.Keyed {
		join.DrawScheme = draws.Scheme
	}
}

// commit takes the commitment of the first call for a choice and returns the
// agent's nonce, empty without a commitment.
func (p *Player) commit(m *match, call *protocol.ChooseParityCall) (nonce string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.promise == (promise{}) && call.DrawCommitment != "" && !m.asked {
		p.mu.Lock()
		m.promise = promise{call.DrawCommitment, draws.NewNonce()}
		p.mu.Unlock()
	}
	return m.promise.Nonce
}

// judgeDraw judges how the number of a match keeps the referee's commitment. What
// the match is bound to is what the agent knows itself, as far as it does. The
// verdict is empty without a commitment or a number. The match's lock is held.
func (p *Player) judgeDraw(m *match, msg *protocol.GameOver, o *strategies.Outcome) (verdict string, why error) {
	if m.promise.Commitment == "" || !o.Drew {
		return "", nil
	}
	own := p.calledIn(m)
	about := draws.Match{League: p.member.Me.League(), ID: m.Match, Round: o.Round, Players: [2]draws.Player{
		{ID: own, Choice: m.answer.Choice.String(), Nonce: m.promise.Nonce},
		{ID: o.Opponent, Choice: o.OpponentChoice.String(), Nonce: msg.DrawNonces[o.Opponent]},
	}}
	why = about.Verify(m.promise.Commitment, msg.DrawKey, o.Number)
	if msg.DrawKey != "" && msg.DrawNonces[own] != m.promise.Nonce && (why == nil || errors.Is(why, draws.ErrNumber)) {
		why = draws.ErrNonce
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keys[msg.DrawKey] {
		why = draws.ErrReused
	}
	if why != nil {
		return DrawBroken, why
	}
	return DrawVerified, nil
}

// noteEnd keeps how a match ended. The player's lock is held.
func (p *Player) noteEnd(m *match, e *ended) {
	m.ended, m.endedBy, m.drew, m.draw = true, e.Referee, e.Drew, e.Draw
	if m.counts != nil {
		m.counts.Ended, m.counts.Points = m.counts.Ended+1, m.counts.Points+e.Points
	}
	if e.Key != "" {
		p.keys[e.Key] = true
	}
}

// ackOver acknowledges the result of a match. The match's lock is held.
func (p *Player) ackOver(in *wire.Exchange, m *match) protocol.Message {
	answer := p.member.Ack(in)
	if ack, ok := answer.(*protocol.Ack); ok && m.draw != "" {
		ack.DrawVerified = protocol.Some(m.draw == DrawVerified)
	}
	return answer
}

// ackRound acknowledges the end of a round and says whether the number of the
// agent's match in it could be verified. So the manager hears it from the players,
// not from the referee. A match without a commitment says nothing. A manager of this
// program also hears which version of an edited strategy chose, and why the strategy
// failed: a referee learns only that there is no choice.
func (p *Player) ackRound(in *wire.Exchange, s *leagueState) protocol.Message {
	answer := p.member.Ack(in)
	ack, ok := answer.(*protocol.Ack)
	if !ok {
		return answer
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range s.rounds[in.Header.RoundID.Number()] {
		if m.draw != "" {
			before, said := ack.DrawVerified.Get()
			ack.DrawVerified = protocol.Some(m.draw == DrawVerified && (before || !said))
		}
		if !p.member.Me.ManagerProved() {
			continue
		}
		ack.StrategyError = m.failure
		if p.cfg.Versions != nil {
			ack.StrategyVersion = m.version
		}
	}
	return answer
}

// draws counts the draws of a league, nil without any commitment. The player's lock is held.
func (s *leagueState) draws() *Draws {
	var d Draws
	committed := false
	for _, m := range s.matches {
		promised := m.promise != (promise{})
		committed = committed || promised
		switch {
		case m.drew:
			d.Drawn++
			if m.draw == DrawVerified {
				d.Verified++
			}
		case promised && m.answer.Choice != game.NoParity:
			d.Undrawn++
		}
	}
	if !committed {
		return nil
	}
	return &d
}

// troubleDraw reports a number that does not keep the referee's commitment.
func (p *Player) troubleDraw(s *leagueState, m *match, o *strategies.Outcome, why error) {
	p.trouble(s, m.Match, Event{
		Cause: CauseDraw, Match: m.Match, Round: o.Round, Opponent: o.Opponent, Number: &o.Number,
		Error:  "the number cannot be verified: " + agent.Brief(why),
		Advice: "a referee that lost its data begins a match again with another key; otherwise show the organizer a recording (--record), which 'strategylab trace audit' judges",
	})
}
