package strategytest

import (
	"context"
	"errors"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// soon is the first deadline given to calls that would never return; see insist.
const soon = 30 * time.Millisecond

func checkLoadErrors(_ context.Context, p *probe) {
	for _, u := range p.subject.Unloadable {
		p.tried++
		f, returned, err := p.compile(u.Name, u.Make, budget.Limits{Time: soon, Instructions: 1_000_000})
		if !returned {
			continue
		}
		if err == nil {
			p.fail(u.Name, "it loads, want an error")
			if err := f.Close(); err != nil {
				p.fail(u.Name, "Factory.Close = %v, want nil", err)
			}
			continue
		}
		p.wantError(u.Name, err, "", strategies.OpLoad, false,
			game.FaultError, game.FaultTimeout, game.FaultBudget)
	}
}

func checkValidAnswers(ctx context.Context, p *probe) {
	for _, a := range p.subject.Valid {
		p.seated(ctx, a.Name, a.Make, roomy, func(s *player) {
			got, err := play(ctx, s, 0, 3)
			if err != nil {
				p.fail(a.Name, "%v", err)
				return
			}
			for _, c := range got {
				if c != a.Want {
					p.fail(a.Name, "taken for %v, want %v", got, a.Want)
					return
				}
			}
		})
	}
}

func checkInvalidAnswers(ctx context.Context, p *probe) {
	for _, a := range p.subject.Invalid {
		p.seated(ctx, a.Name, a.Make, roomy, func(s *player) {
			_, err := s.choose(ctx, turn(0))
			p.wantError(a.Name, err, sourceOf(s.Factory.Info()), strategies.OpChoose, p.subject.Lines, game.FaultInvalid)
			p.goesOn(ctx, a.Name, s)
		})
	}
}

// goesOn checks that a seat answers after a match that it lost by its answer.
func (p *probe) goesOn(ctx context.Context, name string, s *player) {
	lost := judged(turn(0), game.Side{Fault: game.FaultError}, game.Side{Choice: game.Odd}, 0)
	if err := s.observe(ctx, lost); err != nil {
		p.fail(name, "observe of the lost match = %v, want nil", err)
	}
	if c, err := s.choose(ctx, turn(1)); err != nil || c != strategies.Even {
		p.fail(name, "choose of the next match = %v, %v, want %v", c, err, strategies.Even)
	}
}

func checkThrowing(ctx context.Context, p *probe) {
	p.with("ThrowStart", p.subject.ThrowStart, roomy, func(f strategies.Factory) {
		for range 2 { // a failed seat leaves the factory as it was
			s, err := sit(ctx, f, setup(), game.Key{1, 2})
			p.wantError("ThrowStart", err, sourceOf(f.Info()), strategies.OpStart, p.subject.Lines, game.FaultError)
			if err == nil {
				p.leave("ThrowStart", s)
			}
		}
	})
	p.seated(ctx, "ThrowChoose", p.subject.ThrowChoose, roomy, func(s *player) {
		_, err := s.choose(ctx, turn(0))
		p.wantError("ThrowChoose", err, sourceOf(s.Factory.Info()), strategies.OpChoose, p.subject.Lines, game.FaultError)
		p.goesOn(ctx, "ThrowChoose", s)
	})
	p.seated(ctx, "ThrowObserve", p.subject.ThrowObserve, roomy, func(s *player) {
		_, err := play(ctx, s, 0, 1)
		p.wantError("ThrowObserve", err, sourceOf(s.Factory.Info()), strategies.OpObserve, p.subject.Lines, game.FaultError)
	})
}

// ending says how a call that never returns is to be stopped: by the limits of
// its factory, or by the context that enter makes.
type ending struct {
	limits budget.Limits
	enter  func(context.Context) (context.Context, context.CancelFunc)
	faults []game.Fault // what the error may be; any if empty
}

// spin has each hook that never returns stopped.
func (p *probe) spin(ctx context.Context, e ending) {
	p.with("SpinStart", p.subject.SpinStart, e.limits, func(f strategies.Factory) {
		returned, err := p.bounded(ctx, e, "SpinStart", func(ctx context.Context) error {
			s, err := sit(ctx, f, setup(), game.Key{1, 2})
			if err == nil {
				err = s.Close()
			}
			return err
		})
		if returned {
			p.wantError("SpinStart", err, sourceOf(f.Info()), strategies.OpStart, false, e.faults...)
		}
	})
	p.spinSeat(ctx, e, "SpinChoose", p.subject.SpinChoose, strategies.OpChoose)
	p.spinSeat(ctx, e, "SpinObserve", p.subject.SpinObserve, strategies.OpObserve)
}

// spinSeat lets one seat overrun, and then has a seat beside it play: an
// interrupt must not strike anybody else.
func (p *probe) spinSeat(ctx context.Context, e ending, name string, m Maker, op strategies.Op) {
	p.with(name, m, e.limits, func(f strategies.Factory) {
		s, err := sit(ctx, f, setup(), game.Key{1, 2})
		if err != nil {
			p.fail(name, "New = %v, want a seat", err)
			return
		}
		returned, err := p.bounded(ctx, e, name, func(ctx context.Context) error {
			_, err := play(ctx, s, 0, 1)
			return err
		})
		if !returned {
			return
		}
		p.wantError(name, err, sourceOf(s.Factory.Info()), op, false, e.faults...)
		ended, again := s.Strategy(), turn(1)
		for _, when := range []string{"that overran", "that is closed"} {
			if c, err := ended.Choose(ctx, &again); err == nil {
				p.fail(name, "a seat %s chooses %v, want an error", when, c)
			}
			p.leave(name, s)
		}
		next, err := sit(ctx, f, setup(), game.Key{3, 4})
		if err != nil {
			p.fail(name, "New after another seat's overrun = %v, want a seat", err)
			return
		}
		if c, err := next.choose(ctx, turn(1)); err != nil || c != strategies.Even {
			p.fail(name, "another seat's choose = %v, %v, want %v", c, err, strategies.Even)
		}
		p.leave(name, next)
	})
}

func checkDeadline(ctx context.Context, p *probe) {
	p.insist(func(p *probe, limit time.Duration) {
		deadline := func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, limit)
		}
		p.spin(ctx, ending{roomy, deadline, []game.Fault{game.FaultTimeout}})
	})
}

// checkCancel cancels the context during the call. What kind of fault that is
// does not matter: it is the caller's doing.
func checkCancel(ctx context.Context, p *probe) {
	why := errors.New("the caller has gone")
	p.with("SpinStart", p.subject.SpinStart, roomy, func(f strategies.Factory) {
		done, cancel := context.WithCancelCause(ctx)
		cancel(why)
		returned, err := p.await("SpinStart, given up", func() error {
			_, err := sit(done, f, setup(), game.Key{1, 2})
			return err
		})
		if returned && !errors.Is(err, why) {
			p.fail("SpinStart", "New after its caller gave up = %v, want %q", err, why)
		}
	})
	p.insist(func(p *probe, limit time.Duration) {
		p.spin(ctx, ending{limits: roomy, enter: func(ctx context.Context) (context.Context, context.CancelFunc) {
			trigger, stop := context.WithTimeout(ctx, limit)
			ctx, cancel := context.WithCancel(ctx)
			context.AfterFunc(trigger, cancel) // canceled, not out of time
			return ctx, func() { stop(); cancel() }
		}})
	})
}

func checkTimeBudget(ctx context.Context, p *probe) {
	p.insist(func(p *probe, limit time.Duration) {
		limits := budget.Limits{Time: limit, Instructions: roomy.Instructions}
		p.spin(ctx, ending{limits, context.WithCancel, []game.Fault{game.FaultTimeout}})
	})
}

func checkInstructionBudget(ctx context.Context, p *probe) {
	if !p.subject.Instructions {
		p.add(Info, "", "", "not checked, this runtime does not count instructions")
		return
	}
	limits := budget.Limits{Time: roomy.Time, Instructions: 10_000}
	p.spin(ctx, ending{limits, context.WithCancel, []game.Fault{game.FaultBudget}})
}
