package player

import (
	"cmp"
	"context"
	"errors"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

func (p *Player) handlers() map[protocol.Type]wire.Handler {
	return map[protocol.Type]wire.Handler{
		protocol.TypeRoundAnnouncement:     p.alive(p.forgiving(p.roundAnnounced)),
		protocol.TypeLeagueStandingsUpdate: p.alive(p.forgiving(p.standingsUpdated)),
		protocol.TypeRoundCompleted:        p.alive(p.forgiving(p.roundCompleted)),
		protocol.TypeLeagueCompleted:       p.alive(p.leagueCompleted),
		protocol.TypeGameInvitation:        p.alive(p.invited),
		protocol.TypeChooseParityCall:      p.alive(p.called),
		protocol.TypeGameOver:              p.alive(p.forgiving(p.over)),
		protocol.TypeGameError:             p.alive(p.forgiving(p.gameError)),
	}
}

// alive turns what fails because the agent is ending into a refusal that says
// so: the same agent may be back in a moment, so the message is worth
// repeating.
func (p *Player) alive(h wire.Handler) wire.Handler {
	return func(ctx context.Context, in *wire.Exchange) (protocol.Message, error) {
		answer, err := h(ctx, in)
		var refusal *protocol.Error
		if err == nil || errors.As(err, &refusal) {
			return answer, err
		}
		if p.life.Err() != nil || errors.Is(err, errLeft) || errors.Is(err, agent.ErrJournal) {
			return nil, protocol.Refuse(protocol.CodePlayerDisconnect, in.Type, "the agent is leaving; if it comes back, ask again")
		}
		return nil, err
	}
}

// forgiving acknowledges notifications that cannot be read, where the agent is
// tolerant: the manager or referee takes a refusal for a failure, and nothing
// depends on them.
func (p *Player) forgiving(h wire.Handler) wire.Handler {
	if p.cfg.Mode == protocol.Strict {
		return h
	}
	return func(ctx context.Context, in *wire.Exchange) (protocol.Message, error) {
		answer, err := h(ctx, in)
		switch protocol.CodeOf(err) {
		case protocol.CodeMissingField, protocol.CodeInvalidFieldType, protocol.CodeContextMismatch, protocol.CodeInvalidTimestamp, protocol.CodeVersionMismatch:
			p.cfg.Log.Info("a message cannot be read, and is acknowledged all the same", "type", string(in.Type), "error", err)
			return p.member.Ack(in), nil
		}
		return answer, err
	}
}

func (p *Player) roundAnnounced(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
	m, err := wire.Decode[*protocol.RoundAnnouncement](in)
	if err != nil {
		return nil, err
	}
	p.heard.Store(true)
	own := p.ID()
	p.mu.Lock()
	s, over := p.season, p.season.completed
	var news []Event
	if !over {
		news = s.announce(m, own)
	}
	p.mu.Unlock()
	for _, e := range news {
		p.tell(e)
	}
	switch {
	case over: // of the next league, perhaps
		p.member.RequestRegistration()
	case p.cfg.League != nil:
		p.sit(s)
	default:
		// A manager may be unable to answer questions before it has this
		// acknowledgement.
		p.inBackground(func() { p.sit(s) })
	}
	return p.member.Ack(in), nil
}

func (p *Player) roundCompleted(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
	if _, err := wire.Decode[*protocol.RoundCompleted](in); err != nil {
		return nil, err
	}
	p.heard.Store(true)
	p.writeHistory(p.current())
	return p.member.Ack(in), nil
}

func (p *Player) leagueCompleted(ctx context.Context, in *wire.Exchange) (protocol.Message, error) {
	m, err := wire.Decode[*protocol.LeagueCompleted](in)
	if err != nil && p.cfg.Mode == protocol.Strict {
		return nil, err
	}
	if err == nil {
		p.keepTable(m.FinalStandings)
	}
	p.complete(ctx, 0)
	return p.member.Ack(in), nil
}

// standingsUpdated keeps the table, which may be the last that is told.
func (p *Player) standingsUpdated(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
	m, err := wire.Decode[*protocol.LeagueStandingsUpdate](in)
	if err != nil {
		return nil, err
	}
	p.heard.Store(true)
	p.keepTable(m.Standings)
	return p.member.Ack(in), nil
}

func (p *Player) keepTable(table []protocol.Standing) {
	if len(table) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.season.table = table
}

// placeIn returns the agent's place in a table, 0 where it has none.
func (p *Player) placeIn(table []protocol.Standing) int {
	own := p.ID()
	for _, s := range table {
		if s.PlayerID == own {
			return s.Rank
		}
	}
	return 0
}

// complete ends the league, once. The place is 0 where it is not known.
func (p *Player) complete(ctx context.Context, place int) { p.conclude(ctx, Completed, place) }

// conclude ends the league, once, for the reason that the event names.
func (p *Player) conclude(ctx context.Context, why EventKind, place int) {
	p.mu.Lock()
	s := p.season
	e := Event{Kind: why, Place: place, Standing: s.stand, Table: s.table}
	first := !s.completed
	s.completed = true
	p.mu.Unlock()
	if !first {
		return
	}
	e.Place = cmp.Or(place, p.placeIn(e.Table))
	if err := p.member.Journal.Append(ctx, eventCompleted, nil); err != nil {
		p.cfg.Log.Error("the end of the league could not be recorded", "error", err)
	}
	p.writeHistory(s)
	p.tell(e)
	select {
	case p.done <- struct{}{}:
	default: // Run has ended
	}
}
