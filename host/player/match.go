package player

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies"
)

// match is what the agent knows of one match. Its identity never changes; the
// rest is guarded by its lock, which is held while the strategy is called, so
// that a repeated call waits for the answer to the first.
type match struct {
	id       string
	round    int
	opponent string
	role     game.Role
	position uint64
	referee  string
	signed   string // what the referee signs with
	keyed    bool   // that is the key of the match
	reply    string // what the agent signs with

	mu     sync.Mutex
	asked  bool
	answer Answer // guarded by Player.mu besides, for Faults
	told   bool
}

// outcome is one line of the history.
type outcome struct {
	MatchID        string `json:"match_id"`
	Round          int    `json:"round_id,omitempty"`
	OpponentID     string `json:"opponent_id"`
	Choice         string `json:"my_choice,omitempty"`
	OpponentChoice string `json:"opponent_choice,omitempty"`
	Number         *int   `json:"drawn_number"`
	Result         string `json:"result"`
	Points         int    `json:"points"`
}

func (p *Player) invited(_ context.Context, in *wire.Inbound) (protocol.Message, error) {
	msg, err := wire.Decode[*protocol.GameInvitation](in)
	if err != nil {
		return nil, err
	}
	if msg.GameType != "" && msg.GameType != protocol.GameEvenOdd {
		return nil, protocol.Refuse(protocol.CodeUnsupportedGameType, in.Type, fmt.Sprintf("this agent plays %s, not %s", protocol.GameEvenOdd, msg.GameType))
	}
	m, err := p.enter(in, msg.OpponentID, msg.RoleInMatch)
	if err != nil {
		return nil, err
	}
	p.tell(Event{Kind: Invited, Match: m.id, Round: m.round, Opponent: m.opponent})
	join := &protocol.GameJoinAck{
		PlayerID: p.ID(), ArrivalTimestamp: protocol.Timestamp(p.cfg.Now()),
		Accept: protocol.Some(true), Accepted: protocol.Some(true), Status: protocol.StatusAccepted,
	}
	join.MessageType, join.AuthToken = protocol.TypeGameJoinAck, m.reply
	return join, nil
}

// enter finds a match or enters it. The message has been authenticated.
func (p *Player) enter(in *wire.Inbound, opponent, role string) (*match, error) {
	id := in.Header.MatchID
	if !protocol.ValidID(id) {
		return nil, protocol.Refuse(protocol.CodeInvalidFieldType, in.Type, fmt.Sprintf("match_id %q is no id", id))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.matches[id]
	if m == nil {
		m = &match{id: id, round: in.Header.RoundID.Number(), position: position(id)}
		if at, known := p.index[id]; known {
			m.position = uint64(at)
		}
		p.sign(m, in)
		p.matches[id] = m
	}
	if m.opponent == "" {
		m.opponent = opponent
	}
	switch strings.ToUpper(role) {
	case protocol.PlayerA:
		m.role = game.RoleA
	case protocol.PlayerB:
		m.role = game.RoleB
	}
	return m, nil
}

// called answers the call for a choice.
func (p *Player) called(ctx context.Context, in *wire.Inbound) (protocol.Message, error) {
	msg, err := wire.Decode[*protocol.ChooseParityCall](in)
	if err != nil {
		return nil, err
	}
	if own := p.ID(); msg.PlayerID != "" && msg.PlayerID != own {
		return nil, protocol.Refuse(protocol.CodePlayerNotRegistered, in.Type, fmt.Sprintf("this agent is %s, not %s", own, msg.PlayerID))
	}
	m := p.find(in.Header.MatchID)
	if m == nil {
		if p.cfg.Mode == protocol.Strict {
			return nil, protocol.Refuse(protocol.CodeMatchNotFound, in.Type, fmt.Sprintf("no invitation to match %q has come", in.Header.MatchID))
		}
		opponent := ""
		if msg.Context != nil {
			opponent = msg.Context.OpponentID
		}
		if m, err = p.enter(in, opponent, ""); err != nil {
			return nil, err
		}
	}
	answer, err := p.choose(ctx, m)
	if err != nil {
		return nil, err
	}
	if answer.Fault != game.NoFault {
		return nil, refusal(in.Type, answer)
	}
	choice := protocol.Choice(answer.Choice.String())
	r := &protocol.ChooseParityResponse{PlayerID: p.ID(), ParityChoice: choice, Choice: choice}
	r.MessageType, r.AuthToken = protocol.TypeChooseParityResponse, m.reply
	return r, nil
}

// refusal is the definite word that no choice will come. The reason stays with
// the agent: it is nobody's business how a strategy fails.
func refusal(t protocol.Type, a Answer) error {
	return protocol.Refuse(protocol.CodeInvalidState, t, "the player's strategy makes no choice in this match").With("fault", a.Fault.String())
}

func (p *Player) find(id string) *match {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.matches[id]
}

// choose asks the strategy, once for each match. The answer is on disk before
// anybody hears of it, so that a restart cannot change it.
func (p *Player) choose(ctx context.Context, m *match) (Answer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked {
		return m.answer, nil
	}
	// The peer may hang up and ask again; the strategy's call goes on.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.cfg.ChoiceTimeout)
	defer cancel()
	s := p.sit(ctx)
	answer := s.choose(ctx, strategies.Turn{Match: m.position, MatchID: m.id, Round: m.round, Opponent: m.opponent, Role: m.role})
	if err := p.record.chose(ctx, m, answer); err != nil {
		return Answer{}, err
	}
	p.mu.Lock()
	m.answer = answer
	p.mu.Unlock()
	m.asked = true
	e := Event{Kind: Chose, Match: m.id, Round: m.round, Opponent: m.opponent, Choice: answer.Choice.String()}
	if answer.Fault != game.NoFault {
		e.Kind, e.Fault = Failed, answer.Fault.String()
		if answer.Err != nil {
			e.Error = answer.Err.Error()
		}
	}
	p.tell(e)
	return answer, nil
}

// over takes the result of a match and tells the strategy, before it is
// acknowledged: so the next round's choice comes after it.
func (p *Player) over(ctx context.Context, in *wire.Inbound) (protocol.Message, error) {
	msg, err := wire.Decode[*protocol.GameOver](in)
	if err != nil {
		return nil, err
	}
	m := p.find(in.Header.MatchID)
	if m == nil {
		if p.cfg.Mode == protocol.Strict {
			return nil, protocol.Refuse(protocol.CodeMatchNotFound, in.Type, fmt.Sprintf("this agent is in no match %q", in.Header.MatchID))
		}
		return p.ack(in), nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.told {
		return p.ack(in), nil
	}
	result, err := msg.Outcome(p.ID(), m.opponent)
	if err != nil {
		var broken *protocol.Error
		if errors.As(err, &broken) && p.cfg.Mode == protocol.Strict {
			return nil, err
		}
		p.cfg.Log.Warn("a result cannot be read", "match", m.id, "error", err)
		return p.ack(in), nil
	}
	o := p.outcome(m, result)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.cfg.ChoiceTimeout)
	defer cancel()
	if err := p.record.ended(ctx, &o); err != nil {
		return nil, err
	}
	m.told = true
	if err := p.sit(ctx).observe(ctx, &o); err != nil {
		p.tell(Event{Kind: Failed, Match: m.id, Fault: strategies.FaultOf(err).String(), Error: err.Error()})
	}
	p.mu.Lock()
	p.stand.Add(o.Result, o.Points)
	if p.record != nil {
		p.ended = append(p.ended, o)
	}
	p.mu.Unlock()
	p.tell(Event{Kind: Ended, Match: m.id, Round: m.round, Opponent: m.opponent, Result: o.Result.String(), Points: o.Points})
	return p.ack(in), nil
}

func (p *Player) gameError(_ context.Context, in *wire.Inbound) (protocol.Message, error) {
	msg, err := wire.Decode[*protocol.GameError](in)
	if err != nil {
		return nil, err
	}
	p.cfg.Log.Warn("the referee reports an error", "match", in.Header.MatchID, "code", msg.ErrorCode, "name", msg.ErrorName, "detail", msg.Detail)
	return p.ack(in), nil
}
