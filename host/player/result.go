package player

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies"
)

// over takes the result of a match and tells the strategy, before it is
// acknowledged: so the next round's choice comes after it.
func (p *Player) over(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
	msg, err := wire.Decode[*protocol.GameOver](in)
	if err != nil {
		return nil, err
	}
	s := p.current()
	m := p.find(s, in.Header.MatchID)
	if m == nil {
		if p.cfg.Mode == protocol.Strict {
			return nil, protocol.Refuse(protocol.CodeMatchNotFound, in.Type, fmt.Sprintf("this agent is in no match %q", in.Header.MatchID))
		}
		return p.member.Ack(in), nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.told {
		return p.member.Ack(in), nil
	}
	own := p.sit(s)
	if own == nil {
		return p.member.Ack(in), nil // it comes too late to matter to anybody
	}
	t := p.turn(s, m)
	if t.Opponent == "" { // neither invitation nor announcement have named one
		t.Opponent = cmp.Or(msg.Opponent(p.ID()), nobody)
	}
	result, err := msg.Outcome(p.ID(), t.Opponent)
	if err != nil {
		var broken *protocol.Error
		if errors.As(err, &broken) && p.cfg.Mode == protocol.Strict {
			return nil, err
		}
		p.cfg.Log.Warn("a result cannot be read", "match", m.id, "error", err)
		return p.member.Ack(in), nil
	}
	o := p.outcome(t, m.answer.Choice, result)
	if err := p.member.Journal.Append(p.life, eventEnded, &o); err != nil {
		return nil, err
	}
	m.told = true
	if o.Result == game.TechnicalLoss {
		p.wasMissed(m)
	}
	ctx, cancel := context.WithTimeout(p.life, p.cfg.ChoiceTimeout)
	defer cancel()
	if err := own.observe(ctx, &o); err != nil {
		p.tell(Event{Kind: Failed, Match: m.id, Fault: strategies.FaultOf(err).String(), Error: err.Error()})
	}
	p.mu.Lock()
	s.stand.Add(o.Result, o.Points)
	if p.member.Journal != nil {
		s.ended = append(s.ended, o)
	}
	p.mu.Unlock()
	e := Event{Kind: Ended, Match: m.id, Round: t.Round, Opponent: t.Opponent, Result: o.Result.String(), Points: o.Points}
	if o.Drew {
		e.Number = o.Number
	}
	if o.OpponentChoice != game.NoParity {
		e.Other = o.OpponentChoice.String()
	}
	p.tell(e)
	return p.member.Ack(in), nil
}

// nobody stands for an opponent whom nobody has named.
const nobody = "unknown"

// outcome turns a result into what the strategy is told. chosen is what the
// agent answered, for a referee that does not repeat it.
func (p *Player) outcome(t strategies.Turn, chosen game.Parity, r protocol.Outcome) strategies.Outcome {
	own := p.ID()
	o := strategies.Outcome{
		Match: t.Match, MatchID: t.MatchID, Round: t.Round, Opponent: t.Opponent, Role: t.Role,
		Choice: parity(r.Choices[own]), OpponentChoice: parity(r.Choices[t.Opponent]),
	}
	if r.Choices == nil {
		o.Choice = chosen
	}
	o.Number, o.Drew = r.Drawn.Get()
	switch {
	case r.Status == protocol.StatusDraw:
		o.Result, o.Points = game.Drawn, game.DrawPoints
	case slices.Contains(r.Offenders, own):
		o.Result = game.TechnicalLoss
	case r.Winner == own:
		o.Result, o.Points = game.Win, game.WinPoints
	default:
		o.Result = game.Loss
	}
	if points, told := r.Score[own]; told {
		o.Points = points
	}
	return o
}

func parity(c protocol.Choice) game.Parity {
	p, err := game.ParseParity(string(c))
	if err != nil {
		return game.NoParity // not told, or made in error
	}
	return p
}
