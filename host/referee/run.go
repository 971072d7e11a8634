package referee

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
)

// Run registers and plays what is assigned until ctx ends, the league is complete and everything
// reported, or Config.IdleExit has passed. Call it once; it waits for all that it has begun. The
// error says why the agent could not take part; the end of ctx is not an error.
//
// A recovered agent plays at once, and registers again with the token it has, so that the manager
// knows its current endpoint. A report that the manager has not acknowledged within Config.Timeout
// after the end of the league stays in the journal.
func (r *Referee) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, r.member.Close()) }()
	ctx, stop := context.WithCancel(ctx)
	defer r.finish(stop)
	recovered := r.ID() != ""
	if !recovered {
		if err := r.register(ctx); err != nil {
			return agent.Ended(ctx, err)
		}
	}
	r.start(ctx)
	if recovered {
		if err := r.register(ctx); err != nil && ctx.Err() == nil && r.league.Err() == nil {
			r.windDown(stop)
			return fmt.Errorf("the manager does not renew the registration: %w", err)
		}
	}
	return r.member.Stay(ctx, agent.Stay{
		Over:     r.league.Done(),
		Leave:    func() (bool, error) { r.windDown(stop); return true, nil },
		Deserted: func() (bool, error) { return r.deserted(stop) },
		Register: r.register,
	})
}

// windDown lets running matches be reported, which may take Config.Timeout, and
// begins nothing more.
func (r *Referee) windDown(stop context.CancelFunc) {
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
	r.unacknowledged.Close(r.cfg.Log)
	r.complete()
}

// start begins what was assigned already, and from now on what is assigned.
func (r *Referee) start(ctx context.Context) {
	if r.cfg.Progress {
		r.inBackground(ctx, r.tellProgress)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin = func(m *match) {
		r.plays.Go(func() { r.play(ctx, m) })
	}
	for _, m := range r.inbox {
		r.begin(m)
	}
	r.inbox = nil
}

// deserted ends the stay in a league in which the agent has conducted matches and conducts none, so
// that a long silence means that it is over. The error says that the manager has not acknowledged all reports.
func (r *Referee) deserted(stop context.CancelFunc) (leave bool, err error) {
	done, _ := r.conducted()
	if done == 0 || r.conducting.Load() > 0 {
		return false, nil
	}
	r.emit(Event{Kind: Deserted, Matches: done})
	r.windDown(stop)
	if done, owed := r.conducted(); owed > 0 {
		err = fmt.Errorf("the manager at %s has been silent for %v and has not acknowledged %d of %d reports", r.cfg.Manager.URL, r.cfg.IdleExit, owed, done)
	}
	return true, err
}

// conducted returns how many matches of the league the agent has brought to an
// end, and how many of their reports the manager has not acknowledged.
func (r *Referee) conducted() (done, owed int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.matches {
		if told, reported := m.progress(); told {
			done++
			if !reported {
				owed++
			}
		}
	}
	return done, owed
}

// register registers with the manager, until ctx or the league ends.
func (r *Referee) register(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.league, cancel)()
	err := r.member.Register(ctx, agent.Application{
		Token:      r.member.Me.Token(),
		Concurrent: r.cfg.Concurrent,
		Granted:    r.adopt,
		Waiting:    func(err error) { r.emit(Event{Kind: Waiting, Error: agent.Brief(err)}) },
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	close(r.registration)
	r.registration = make(chan struct{})
	r.mu.Unlock()
	r.emit(Event{Kind: Registered, Dialect: r.cfg.Manager.Speaks().Name})
	return nil
}

// adopt takes on a registration.
func (r *Referee) adopt(ctx context.Context, granted dialect.Acceptance) error {
	me := r.member.Me
	before := registration{ID: me.ID(), Token: me.Token(), League: me.League()}
	now := registration(granted)
	if now.ID == before.ID { // a renewal need not repeat the token
		now.Token, now.League = cmp.Or(now.Token, before.Token), cmp.Or(now.League, before.League)
	}
	if now == before {
		return nil
	}
	// Also a referee that is ending keeps its token: without it, it could not come back.
	if err := r.member.Append(context.WithoutCancel(ctx), eventRegistered, now); err != nil {
		return err
	}
	return r.apply(now)
}

// apply makes a registration the agent's own. The matches of another league are dropped.
func (r *Referee) apply(reg registration) error {
	r.member.Me.Adopt(reg.ID, reg.Token, reg.League)
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, m := range r.matches {
		if m.League != reg.League {
			delete(r.matches, id)
		}
	}
	return nil
}

// registered returns what is closed by the next registration.
func (r *Referee) registered() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.registration
}

// renew requests another registration, unless there has been one since known
// was returned by registered, and waits for it.
func (r *Referee) renew(ctx context.Context, known <-chan struct{}) error {
	select {
	case <-known:
		return nil
	default:
	}
	r.member.RequestRegistration()
	select {
	case <-known:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
