package player

import (
	"context"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// join takes part in the league, unless the agent does already. One that was
// started again where others reach it by another URL says so to the manager.
func (p *Player) join(ctx context.Context) error {
	if p.ID() == "" || p.announcedEndpoint == "" {
		return p.register(ctx, "")
	}
	if p.announcedEndpoint == p.cfg.Endpoint {
		if p.cfg.Registered != nil {
			p.cfg.Registered()
		}
		return nil
	}
	err := p.register(ctx, p.member.Me.Token())
	if dialect.CodeOf(err) == protocol.CodeTokenInvalid {
		err = p.register(ctx, "") // a manager that does not know the agent any more
	}
	return err
}

// register registers with the manager, with a token if the manager is to recognize the agent.
func (p *Player) register(ctx context.Context, token string) error {
	p.spoken.Store(false)
	err := p.member.Register(ctx, agent.Application{
		Token:   token,
		Granted: func(ctx context.Context, r dialect.Acceptance) error { return p.adopt(ctx, r, token != "") },
		Waiting: func(err error) { p.emit(Event{Kind: Waiting, Error: agent.Brief(err)}) },
	})
	if err != nil {
		return err
	}
	p.heard.Store(true)
	defer p.awaitCalls(p.current())
	p.emit(Event{Kind: Registered, League: p.member.Me.League(), Endpoint: p.cfg.Endpoint, Dialect: p.cfg.Manager.Speaks().Name})
	return nil
}

// adopt takes on a registration. known says that the manager recognized the agent by its token.
func (p *Player) adopt(ctx context.Context, r dialect.Acceptance, known bool) error {
	reg := registration{ID: r.ID, Token: r.Token, League: r.League, Endpoint: p.cfg.Endpoint}
	reg.Same = p.sameLeague(ctx, reg, known)
	// Also an agent that is ending keeps its token: without it, it could not come back.
	if err := p.member.Append(context.WithoutCancel(ctx), eventRegistered, reg); err != nil {
		return err
	}
	p.announcedEndpoint = reg.Endpoint
	if !reg.Same {
		p.begin()
	}
	p.member.Me.Adopt(reg.ID, reg.Token, reg.League)
	return nil
}

// sameLeague reports whether a registration belongs to the league that the agent is in. A manager
// that has lost its memory may begin another one under the same name, with the same ids and the
// same matches; but then it has not begun to play.
func (p *Player) sameLeague(ctx context.Context, reg registration, known bool) bool {
	p.mu.Lock()
	joined, over := len(p.league.matches) > 0, p.league.completed
	p.mu.Unlock()
	if p.member.Me.ID() == "" {
		return joined // to matches that began before the manager answered
	}
	if !joined || over || p.member.Me.ID() != reg.ID || p.member.Me.League() != reg.League {
		return false
	}
	if known {
		return true
	}
	h := protocol.NewHeader(protocol.TypeLeagueQuery, protocol.Sender(protocol.RolePlayer, reg.ID), protocol.Timestamp(p.cfg.Now()), jsonrpc.RandomID())
	h.AuthToken, h.LeagueID = reg.Token, reg.League
	status, err := agent.Query[protocol.StatusData](ctx, p.member, h, protocol.QueryStatus)
	return err == nil && status.CurrentRound.Value() > 0
}

// ask sends a query and reads its data into T. If the manager does not know the agent's token any
// more, the agent registers again; but not if the manager has never shown that it knows the token:
// it may answer every question like that, and the agent would be there twice.
func ask[T protocol.QueryData](ctx context.Context, p *Player, what string) (T, error) {
	me := p.member.Me
	h := me.Header(protocol.TypeLeagueQuery, protocol.Timestamp(p.cfg.Now()))
	data, err := agent.Query[T](ctx, p.member, h, what)
	switch {
	case err == nil:
		p.knows.Store(true)
	case dialect.CodeOf(err) != protocol.CodeTokenInvalid || h.AuthToken != me.Token():
	case p.cfg.Mode == protocol.Strict || me.ManagerProved() || p.knows.Load():
		p.member.RequestRegistration()
	}
	return data, err
}

// stay plays until ctx ends or, with Once, until the league is complete. It asks after the manager
// where that has not been heard of for a while, and when a league is over looks for the next one.
// The error says that the journal cannot be written.
func (p *Player) stay(ctx context.Context) error {
	return p.member.Stay(ctx, agent.Stay{
		Over:     p.done,
		Leave:    func() (bool, error) { return p.cfg.Once, nil },
		Deserted: func() (bool, error) { return p.deserted(ctx), nil },
		Register: func(ctx context.Context) error { p.registerAgain(ctx); return nil },
		Every:    p.cfg.Watch,
		Look:     p.checkManager,
	})
}

// deserted reports whether the agent has played, so that a long silence means
// that the league is over, and ends the league then.
func (p *Player) deserted(ctx context.Context) bool {
	p.mu.Lock()
	s := p.league
	played := s.standing.Played > 0 || s.completed || len(s.announced) > 0 || s.refused > 0
	for _, m := range s.matches {
		played = played || m.asked
	}
	p.mu.Unlock()
	if played {
		p.endLeague(ctx, Deserted)
	}
	return played
}

// registerAgain registers once more. A manager that does not want that loses
// nothing: what the agent is in goes on.
func (p *Player) registerAgain(ctx context.Context) {
	if err := p.register(ctx, ""); err != nil && ctx.Err() == nil {
		p.cfg.Log.Info("registering again failed", "error", err)
	}
}

// checkManager finds out how the league stands for an agent that hears nothing.
func (p *Player) checkManager(ctx context.Context) {
	p.mu.Lock()
	over := p.league.completed
	p.mu.Unlock()
	if over {
		p.registerAgain(ctx)
		return
	}
	if p.heard.Swap(false) {
		return
	}
	status, err := ask[protocol.StatusData](ctx, p, protocol.QueryStatus)
	if err != nil {
		p.cfg.Log.Info("status of the league not available", "error", err)
		return
	}
	if status.Status == protocol.LeagueFinished {
		p.endLeague(ctx, Completed)
	}
}
