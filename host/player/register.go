package player

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// RejectedError is a registration that the manager turned away for good.
type RejectedError struct{ Reason string }

// Error says why.
func (e *RejectedError) Error() string {
	return "the manager turned the registration away: " + e.Reason
}

// join takes part in the league, unless the agent does already. One that was
// started again where others reach it by another URL says so to the manager.
func (p *Player) join(ctx context.Context) error {
	if p.ID() == "" || p.told == "" {
		return p.register(ctx, "")
	}
	if p.told == p.cfg.Endpoint {
		return nil
	}
	err := p.register(ctx, p.me.Token())
	if protocol.CodeOf(err) == protocol.CodeTokenInvalid {
		err = p.register(ctx, "") // a manager that does not know the agent any more
	}
	return err
}

// register registers with the manager, under a token if the agent is to be
// known by it. A manager that cannot be reached, or is busy, is tried until ctx
// ends: it may be about to start. One that says no is believed.
func (p *Player) register(ctx context.Context, token string) error {
	// One conversation and one id for all attempts: by them the manager knows
	// a request whose answer was lost.
	conversation, id := jsonrpc.RandomID(), jsonrpc.RandomID()
	// What answers, but not as a manager does, will not become one.
	again := func(err error) bool { return wire.Retryable(err) && wire.CodeOf(err) != protocol.CodeInvalidMove }
	policy := agent.RetryPolicy{Timeout: p.cfg.Timeout, Backoff: p.cfg.Backoff, Again: again, Before: func(_ context.Context, a agent.Attempt) {
		p.cfg.Log.Info("the manager cannot be reached yet", "manager", p.cfg.Manager.URL, "again_in", a.Delay, "error", a.Err)
		if a.Retry == 1 {
			p.tell(Event{Kind: Waiting, Error: a.Err.Error()})
		}
	}}
	_, err := agent.Persist(ctx, policy, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, p.registerOnce(ctx, token, conversation, id)
	})
	if err != nil {
		return fmt.Errorf("register with %s: %w", p.cfg.Manager.URL, err)
	}
	p.heard.Store(true)
	p.tell(Event{Kind: Registered, League: p.me.League(), Dialect: p.cfg.Manager.Speaks().Name})
	return nil
}

// registerOnce is one attempt. While it lasts nobody else is listened to: a
// manager may speak to the agent before the agent has read its answer.
func (p *Player) registerOnce(ctx context.Context, token, conversation, id string) error {
	defer p.me.Registering()()
	request := &protocol.LeagueRegisterRequest{
		Header: protocol.NewHeader(protocol.TypeLeagueRegisterRequest, p.me.Sender(), protocol.Timestamp(p.cfg.Now()), conversation),
		Meta: protocol.PlayerMeta{
			DisplayName: p.cfg.Name, Version: "1.0.0", ProtocolVersion: "2.1.0",
			GameTypes: []string{protocol.GameEvenOdd}, ContactEndpoint: p.cfg.Endpoint,
		},
	}
	request.AuthToken = token
	answer, err := p.registrar.Register(ctx, agent.Application{Message: request, ID: id, Name: p.cfg.Name, Endpoint: p.cfg.Endpoint})
	if broken := (*protocol.Error)(nil); errors.As(err, &broken) {
		return fmt.Errorf("the answer cannot be used: %v", err) // and will not be another one next time
	}
	if err != nil {
		return err
	}
	r, ok := answer.(*protocol.LeagueRegisterResponse)
	switch {
	case !ok:
		return fmt.Errorf("the registration was answered by a %s", answer.Head().MessageType)
	case !protocol.Accepted(r.Status):
		return &RejectedError{r.Reason.Value()}
	case r.PlayerID != "" && !protocol.ValidID(r.PlayerID):
		return fmt.Errorf("the manager gave the player id %q, which is none", r.PlayerID)
	}
	reg := registration{ID: r.PlayerID, Token: r.AuthToken, League: r.LeagueID, Endpoint: p.cfg.Endpoint}
	if reg.ID == "" { // it has taken the agent on, and left it its name
		reg.ID = cmp.Or(p.ID(), folder(p.cfg))
	}
	if p.cfg.Manager.Speaks().Has(protocol.TraitRequests) {
		p.manners.Begin(protocol.TraitRequests)
	}
	reg.Same = p.sameLeague(ctx, reg, token != "")
	if err := p.record.registered(ctx, reg); err != nil {
		return err
	}
	p.told = reg.Endpoint
	if !reg.Same {
		p.begin()
	}
	p.me.Adopt(reg.ID, reg.Token, reg.League)
	return nil
}

// sameLeague reports whether a registration belongs to the league that the
// agent is in. A manager that has lost its memory may begin another one under
// the same name, with the same ids and the same matches; but then it has not
// begun to play.
func (p *Player) sameLeague(ctx context.Context, reg registration, known bool) bool {
	p.mu.Lock()
	played := len(p.season.matches) > 0 && !p.season.completed
	p.mu.Unlock()
	if !played || p.me.ID() != reg.ID || p.me.League() != reg.League {
		return false
	}
	if known {
		return true
	}
	h := protocol.NewHeader(protocol.TypeLeagueQuery, protocol.Sender(protocol.RolePlayer, reg.ID), protocol.Timestamp(p.cfg.Now()), jsonrpc.RandomID())
	h.AuthToken, h.LeagueID = reg.Token, reg.League
	status, err := query[protocol.StatusData](ctx, p, h, protocol.QueryStatus)
	return err == nil && status.CurrentRound.Value() > 0
}

// ask sends a query and reads its data into T. A manager that does not know
// the agent's token any more is registered with again; but not one that has
// never shown to know it, which may answer every question like that: the agent
// would be there twice.
func ask[T protocol.QueryData](ctx context.Context, p *Player, what string) (T, error) {
	h := p.me.Header(protocol.TypeLeagueQuery, protocol.Timestamp(p.cfg.Now()))
	data, err := query[T](ctx, p, h, what)
	switch {
	case err == nil:
		p.knows.Store(true)
	case protocol.CodeOf(err) != protocol.CodeTokenInvalid || h.AuthToken != p.me.Token():
	case p.cfg.Mode == protocol.Strict || p.me.Proved() || p.knows.Load():
		p.registerAgain()
	}
	return data, err
}

func query[T protocol.QueryData](ctx context.Context, p *Player, h protocol.Header, what string) (T, error) {
	var none T
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Timeout)
	defer cancel()
	answer, err := p.cfg.Caller.Call(ctx, p.cfg.Manager, &protocol.LeagueQuery{Header: h, QueryType: what})
	if err != nil {
		return none, fmt.Errorf("query %s: %w", what, err)
	}
	r, ok := answer.(*protocol.LeagueQueryResponse)
	if !ok {
		return none, fmt.Errorf("query %s: answered by a %s", what, answer.Head().MessageType)
	}
	data, err := protocol.ReadData[T](r)
	if errors.Is(err, protocol.ErrNoData) {
		return none, fmt.Errorf("query %s: %w", what, err)
	}
	return data, err
}

// registerAgain asks Run for another registration.
func (p *Player) registerAgain() {
	select {
	case p.again <- struct{}{}:
	default: // it is asked for already
	}
}

// stay plays until ctx ends or, with Once, until the league is complete. It
// asks after the manager where that has not been heard of for a while, and
// when a league is over looks for the next one. The error says that it cannot
// keep a record.
func (p *Player) stay(ctx context.Context) error {
	var look <-chan time.Time
	if p.cfg.Watch > 0 {
		ticker := time.NewTicker(p.cfg.Watch)
		defer ticker.Stop()
		look = ticker.C
	}
	idle, rest := p.idling()
	defer rest()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-idle:
			if p.deserted(ctx) {
				return nil
			}
		case err := <-p.record.failed():
			return err
		case <-p.done:
			if p.cfg.Once {
				return nil
			}
		case <-p.again:
			p.reenter(ctx)
		case <-look:
			p.lookAfter(ctx)
		}
	}
}

// reenter registers once more. A manager that does not want that loses
// nothing: what the agent is in goes on.
func (p *Player) reenter(ctx context.Context) {
	if err := p.register(ctx, ""); err != nil && ctx.Err() == nil {
		p.cfg.Log.Info("the agent could not register again", "error", err)
	}
}

// lookAfter finds out how the league stands for an agent that hears nothing.
func (p *Player) lookAfter(ctx context.Context) {
	p.mu.Lock()
	over := p.season.completed
	p.mu.Unlock()
	if over {
		p.reenter(ctx)
		return
	}
	if p.heard.Swap(false) {
		return
	}
	status, err := ask[protocol.StatusData](ctx, p, protocol.QueryStatus)
	if err != nil {
		p.cfg.Log.Info("the manager does not tell how the league stands", "error", err)
		return
	}
	if status.Status == statusCompleted {
		p.complete(ctx, 0)
	}
}

// statusCompleted is what GET_STATUS says of a league that is over.
const statusCompleted = "completed"
