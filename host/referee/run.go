package referee

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

// Run registers and plays what is assigned until ctx ends, the league is
// complete and everything reported, or Config.IdleExit says so. It is called once, and waits for all it
// has begun. The error says why the agent could not take part; the end of ctx
// is none.
//
// An agent that goes on where an earlier process was plays at once, and
// registers again with the token it has, so that the manager knows where it is
// to be reached now. A report that the manager has not taken within
// Config.Timeout after the end of the league stays in the journal.
func (r *Referee) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, r.journal.close()) }()
	ctx, stop := context.WithCancel(ctx)
	defer r.finish(stop)
	recovered := r.me.ID() != ""
	if !recovered {
		if err := r.register(ctx); err != nil {
			return ended(ctx, err)
		}
	}
	r.start(ctx)
	if recovered {
		if err := r.register(ctx); err != nil && ctx.Err() == nil && r.league.Err() == nil {
			r.wind(stop)
			return fmt.Errorf("the manager does not renew the registration: %w", err)
		}
	}
	idle, rest := r.idling()
	defer rest()
	for {
		select {
		case <-idle:
			if r.deserted() {
				r.wind(stop)
				return r.quit()
			}
		case <-ctx.Done():
			return nil
		case err := <-r.journal.failed():
			return err
		case <-r.league.Done():
			r.wind(stop)
			return nil
		case <-r.again:
			if err := r.register(ctx); err != nil {
				return ended(ctx, err)
			}
		}
	}
}

// wind lets what is under way be reported, which may take Config.Timeout, and
// begins nothing more.
func (r *Referee) wind(stop context.CancelFunc) {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	grace := time.AfterFunc(r.cfg.Timeout, stop)
	defer grace.Stop()
	r.plays.Wait()
}

// finish ends what Run has begun.
func (r *Referee) finish(stop context.CancelFunc) {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	stop()
	r.plays.Wait()
	r.rest()
	r.background.Wait()
	r.complete()
}

// start begins what was assigned already, and from now on what is assigned.
func (r *Referee) start(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin = func(b *bout) {
		r.plays.Go(func() { r.play(ctx, b) })
	}
	for _, b := range r.inbox {
		r.begin(b)
	}
	r.inbox = nil
}

func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// register takes part in the league. A manager that cannot be reached, or is
// busy, is tried until ctx or the league ends: it may be about to start. One
// that says no is believed.
func (r *Referee) register(ctx context.Context) error {
	defer r.me.Registering()()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.league, cancel)()
	conversation, id := jsonrpc.RandomID(), jsonrpc.RandomID() // for all attempts, so that repeats are known as such
	// What answers, but not as a manager does, will not become one.
	again := func(err error) bool { return wire.Retryable(err) && wire.CodeOf(err) != protocol.CodeInvalidMove }
	policy := agent.RetryPolicy{Timeout: r.cfg.Timeout, Backoff: r.cfg.Backoff, Again: again, Before: func(_ context.Context, a agent.Attempt) {
		r.cfg.Log.Info("the manager cannot be reached yet", "manager", r.cfg.Manager.URL, "again_in", a.Delay, "error", a.Err)
		if a.Retry == 1 {
			r.tell(Event{Kind: Waiting, Error: brief(a.Err)})
		}
	}}
	answer, err := agent.Persist(ctx, policy, func(ctx context.Context) (protocol.Message, error) {
		h := protocol.NewHeader(protocol.TypeRefereeRegisterRequest, r.me.Sender(), protocol.Timestamp(r.cfg.Now()), conversation)
		h.AuthToken = r.me.Token()
		request := &protocol.RefereeRegisterRequest{
			Header: h,
			Meta: protocol.RefereeMeta{
				DisplayName: r.cfg.Name, Version: "1.0.0", ProtocolVersion: "2.1.0", GameTypes: []string{protocol.GameEvenOdd},
				ContactEndpoint: r.cfg.Endpoint, MaxConcurrentMatches: protocol.Some(r.cfg.Concurrent), MatchKeys: protocol.Some(true),
			},
		}
		return r.registrar.Register(ctx, agent.Application{Message: request, ID: id, Name: r.cfg.Name, Endpoint: r.cfg.Endpoint})
	})
	if err != nil {
		return fmt.Errorf("register with %s: %w", r.cfg.Manager.URL, err)
	}
	a, ok := answer.(*protocol.RefereeRegisterResponse)
	switch {
	case !ok:
		return fmt.Errorf("register with %s: answered by a %s", r.cfg.Manager.URL, answer.Head().MessageType)
	case !protocol.Accepted(a.Status):
		return fmt.Errorf("register with %s: the manager turned the registration away: %s", r.cfg.Manager.URL, a.Reason.Value())
	case a.RefereeID == "": // it has taken the agent on, and left it its name
		a.RefereeID = cmp.Or(r.me.ID(), r.folder())
	case !protocol.ValidID(a.RefereeID):
		return fmt.Errorf("register with %s: the manager gave the referee id %q, which is none", r.cfg.Manager.URL, a.RefereeID)
	}
	return r.adopt(ctx, a)
}

// adopt takes on a registration. Matches of another league are none of this
// one's.
func (r *Referee) adopt(ctx context.Context, a *protocol.RefereeRegisterResponse) error {
	reg := registration{ID: a.RefereeID, Token: a.AuthToken, League: a.LeagueID}
	if reg.ID == r.me.ID() { // a renewal need not show the token again
		reg.Token, reg.League = cmp.Or(reg.Token, r.me.Token()), cmp.Or(reg.League, r.me.League())
	}
	if reg != (registration{ID: r.me.ID(), Token: r.me.Token(), League: r.me.League()}) {
		if err := r.journal.append(ctx, eventRegistered, reg); err != nil {
			return err
		}
		r.apply(reg)
	}
	r.mu.Lock()
	close(r.adopted)
	r.adopted = make(chan struct{})
	r.mu.Unlock()
	r.tell(Event{Kind: Registered, Dialect: r.cfg.Manager.Speaks().Name})
	return nil
}

// apply makes a registration the agent's own.
func (r *Referee) apply(reg registration) {
	r.me.Adopt(reg.ID, reg.Token, reg.League)
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, b := range r.matches {
		if b.League != reg.League {
			delete(r.matches, id)
		}
	}
}

// registered returns what is closed by the next registration.
func (r *Referee) registered() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.adopted
}

// renew asks for another registration, unless there has been one since known
// was asked for, and waits for it.
func (r *Referee) renew(ctx context.Context, known <-chan struct{}) error {
	select {
	case <-known:
		return nil
	default:
	}
	select {
	case r.again <- struct{}{}:
	default:
	}
	select {
	case <-known:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
