package player

import (
	"context"
	"errors"
	"fmt"

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

// register takes part in the league. A manager that cannot be reached, or is
// busy, is tried until ctx ends: it may be about to start. One that says no is
// believed.
func (p *Player) register(ctx context.Context) error {
	defer p.me.Registering()()
	conversation := jsonrpc.RandomID() // one for all attempts, so that repeats are known as such
	policy := wire.Policy{Timeout: p.cfg.Timeout, Backoff: p.cfg.Backoff, Before: func(_ context.Context, a wire.Attempt) {
		p.cfg.Log.Info("the manager cannot be reached yet", "manager", p.cfg.Manager.URL, "again_in", a.Delay, "error", a.Err)
	}}
	answer, err := wire.Persist(ctx, policy, func(ctx context.Context) (*protocol.LeagueRegisterResponse, error) {
		return p.registerOnce(ctx, conversation)
	})
	if err != nil {
		return fmt.Errorf("register with %s: %w", p.cfg.Manager.URL, err)
	}
	reg := registration{ID: answer.PlayerID, Token: answer.AuthToken, League: answer.LeagueID}
	if err := p.record.registered(ctx, reg); err != nil {
		return err
	}
	p.me.Adopt(reg.ID, reg.Token, reg.League)
	p.tell(Event{Kind: Registered})
	return nil
}

func (p *Player) registerOnce(ctx context.Context, conversation string) (*protocol.LeagueRegisterResponse, error) {
	answer, err := p.cfg.Caller.Call(ctx, p.cfg.Manager, &protocol.LeagueRegisterRequest{
		Header: protocol.NewHeader(protocol.TypeLeagueRegisterRequest, p.me.Sender(), protocol.Timestamp(p.cfg.Now()), conversation),
		Meta: protocol.PlayerMeta{
			DisplayName: p.cfg.Name, Version: "1.0.0", ProtocolVersion: "2.1.0",
			GameTypes: []string{protocol.GameEvenOdd}, ContactEndpoint: p.cfg.Endpoint,
		},
	})
	if err != nil {
		return nil, err
	}
	r, ok := answer.(*protocol.LeagueRegisterResponse)
	if !ok {
		return nil, fmt.Errorf("the registration was answered by a %s", answer.Head().MessageType)
	}
	if !protocol.Accepted(r.Status) {
		return nil, &RejectedError{r.Reason.Value()}
	}
	if !protocol.ValidID(r.PlayerID) {
		return nil, fmt.Errorf("the manager gave the player id %q, which is none", r.PlayerID)
	}
	return r, nil
}

// ask sends a query and reads its data into T.
func ask[T protocol.QueryData](ctx context.Context, p *Player, query string) (T, error) {
	var none T
	h := p.me.Header(protocol.TypeLeagueQuery, protocol.Timestamp(p.cfg.Now()))
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Timeout)
	defer cancel()
	answer, err := p.cfg.Caller.Call(ctx, p.cfg.Manager, &protocol.LeagueQuery{Header: h, QueryType: query})
	if err != nil {
		if protocol.CodeOf(err) == protocol.CodeTokenInvalid {
			p.reregister()
		}
		return none, fmt.Errorf("query %s: %w", query, err)
	}
	r, ok := answer.(*protocol.LeagueQueryResponse)
	if !ok {
		return none, fmt.Errorf("query %s: answered by a %s", query, answer.Head().MessageType)
	}
	data, err := protocol.ReadData[T](r)
	if errors.Is(err, protocol.ErrNoData) {
		return none, fmt.Errorf("query %s: %w", query, err)
	}
	return data, err
}

// reregister asks Run for another registration; the manager does not know the
// token any more.
func (p *Player) reregister() {
	select {
	case p.again <- struct{}{}:
	default:
	}
}
