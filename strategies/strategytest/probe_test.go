package strategytest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// roomy limits leave the context's deadline as the only bound, so that an
// honest call is not interrupted on a busy machine.
var roomy = budget.Limits{Time: time.Hour, Instructions: 1 << 40}

// probe gathers what one check of a runtime finds.
type probe struct {
	subject  Subject
	id       string
	tried    int
	findings []Finding
}

func (p *probe) add(l Level, where, hint, what string) {
	p.findings = append(p.findings, Finding{ID: p.id, Level: l, What: what, Where: where, Hint: hint})
}

func (p *probe) fail(name, format string, args ...any) {
	p.add(Error, "", "", name+": "+fmt.Sprintf(format, args...))
}

// with compiles a behaviour, hands it to f and closes it. A behaviour that
// cannot be expressed is noted and passed over.
func (p *probe) with(name string, m Maker, l budget.Limits, f func(strategies.Factory)) {
	if m == nil {
		p.add(Info, "", "", name+": not checked, this runtime cannot express it")
		return
	}
	p.tried++
	fac, returned, err := p.compile(name, m, l)
	for returned && strategies.FaultOf(err) == game.FaultTimeout && p.longer(&l.Time) {
		fac, returned, err = p.compile(name, m, l)
	}
	if !returned {
		return
	}
	if err != nil {
		p.fail(name, "does not load: %v", err)
		return
	}
	f(fac)
	if err := fac.Close(); err != nil {
		p.fail(name, "Factory.Close = %v, want nil", err)
	}
}

// longer makes a limit several times as long, for a machine that is too slow
// for it. It returns false if the limit is unset or near the patience.
func (p *probe) longer(limit *time.Duration) bool {
	const times = 8
	if *limit <= 0 || times**limit > p.subject.patience() {
		return false
	}
	*limit *= times
	return true
}

// insist runs a check that stops calls after a short time. While the check
// fails, it is run again with a longer one: on a slow machine a call that ends
// by itself may need that.
func (p *probe) insist(run func(p *probe, limit time.Duration)) {
	for limit := soon; ; {
		trial := &probe{subject: p.subject, id: p.id}
		run(trial, limit)
		if Worst(trial.findings) < Error || !p.longer(&limit) {
			p.tried += trial.tried
			p.findings = append(p.findings, trial.findings...)
			return
		}
	}
}

// compile calls a Maker, which has to return: the top level of a script runs
// under a budget, too.
func (p *probe) compile(name string, m Maker, l budget.Limits) (f strategies.Factory, returned bool, err error) {
	var made strategies.Factory // the goroutine's alone until it has returned
	returned, err = p.await(name+", to load", func() (err error) {
		made, err = m(l)
		return err
	})
	if !returned {
		return nil, false, nil
	}
	return made, true, err
}

// seated is with, for one seat of the setup that all checks of runtimes use.
func (p *probe) seated(ctx context.Context, name string, m Maker, l budget.Limits, f func(*player)) {
	p.with(name, m, l, func(fac strategies.Factory) {
		s, err := sit(ctx, fac, setup(), game.Key{1, 2})
		if err != nil {
			p.fail(name, "New = %v, want a seat", err)
			return
		}
		f(s)
		p.leave(name, s)
	})
}

func (p *probe) leave(name string, s *player) {
	if err := s.Close(); err != nil {
		p.fail(name, "Close of a seat = %v, want nil", err)
	}
}

// await runs a call that has to return by itself. It reports one that does not
// and returns false: then the call's goroutine is lost, and with it everything
// that it uses.
func (p *probe) await(name string, call func() error) (returned bool, err error) {
	result := make(chan error, 1)
	go func() { result <- call() }()
	patience, stop := context.WithTimeout(context.Background(), p.subject.patience())
	defer stop()
	select {
	case err := <-result:
		return true, err
	case <-patience.Done():
		p.fail(name, "it did not return within %v", p.subject.patience())
		return false, nil
	}
}

// bounded is await for a call that e has to stop.
func (p *probe) bounded(ctx context.Context, e ending, name string, call func(context.Context) error) (returned bool, err error) {
	ctx, cancel := e.enter(ctx)
	defer cancel()
	return p.await(name, func() error { return call(ctx) })
}

// wantError checks that an error has what the author of a strategy needs.
func (p *probe) wantError(name string, err error, source string, op strategies.Op, line bool, faults ...game.Fault) {
	if err == nil {
		p.fail(name, "no error, want a fault of kind %v", faults)
		return
	}
	if fault := strategies.FaultOf(err); len(faults) > 0 && !slices.Contains(faults, fault) {
		p.fail(name, "error %q is a fault of kind %v, want %v", err, fault, faults)
	}
	var se *strategies.Error
	if !errors.As(err, &se) {
		p.fail(name, "error %q (%T) is no *strategies.Error", err, err)
		return
	}
	if se.Op != op {
		p.fail(name, "error %q names the operation %q, want %q", err, se.Op, op)
	}
	if se.Source == "" || (source != "" && se.Source != source) {
		p.fail(name, "error %q names the source %q, want %q", err, se.Source, source)
	}
	if line && se.Line < 1 {
		p.fail(name, "error %q names no line", err)
	}
	if text := err.Error(); strings.ContainsAny(text, "\n\r") || len(text) > 1000 {
		p.fail(name, "error %q is not one readable line", text)
	}
}

// setup is a league of three in which the seat under test is the second.
func setup() strategies.Setup {
	return strategies.Setup{ID: "P02", Name: "Ada", Field: []string{"P01", "P02", "P03"}, Rounds: 96, Legs: 32}
}

// turn is the n-th match of the seat under test, counted from 0.
func turn(n int) strategies.Turn {
	return strategies.Turn{
		Match: uint64(n), MatchID: fmt.Sprintf("R%dM1", n+1), Round: n + 1,
		Opponent: []string{"P01", "P03"}[n%2], Role: []game.Role{game.RoleA, game.RoleB}[n/2%2],
	}
}

// play takes a seat through the matches from lo to hi, in which opponents and
// draws are always the same, and returns its choices.
func play(ctx context.Context, s *player, lo, hi int) ([]strategies.Choice, error) {
	var choices []strategies.Choice
	for n := lo; n < hi; n++ {
		c, err := s.choose(ctx, turn(n))
		if err != nil {
			return choices, err
		}
		choices = append(choices, c)
		if err := s.observe(ctx, result(n, c)); err != nil {
			return choices, err
		}
	}
	return choices, nil
}

// result is how the n-th match ends for a seat that has made a choice.
func result(n int, c strategies.Choice) strategies.Outcome {
	mine, theirs := game.Side{Choice: game.Even}, game.Side{Choice: game.ParityOf(n / 3)}
	if c < 0.5 {
		mine.Choice = game.Odd
	}
	return judged(turn(n), mine, theirs, n*7%10+1)
}

// moves plays the first n matches of a new seat.
func moves(ctx context.Context, f strategies.Factory, key game.Key, n int) ([]strategies.Choice, error) {
	s, err := sit(ctx, f, setup(), key)
	if err != nil {
		return nil, err
	}
	choices, err := play(ctx, s, 0, n)
	return choices, errors.Join(err, s.Close())
}
