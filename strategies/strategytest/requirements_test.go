package strategytest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/batch"
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

// insist runs a check that stops calls after a short time. While the check fails, it is run again
// with a longer one: on a slow machine a call that ends by itself may need that.
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

// compile calls a Maker, which has to return: the top level of a script runs under a budget, too.
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

// await runs a call that has to return by itself. It reports one that does not and returns false:
// then the call's goroutine is lost, and with it everything that it uses.
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

func TestBrief(t *testing.T) {
	t.Parallel()
	for in, want := range map[time.Duration]time.Duration{
		0:                       0,
		7:                       7,
		999:                     999,
		1234:                    1230,
		12_345:                  12_300,
		670_449:                 670 * time.Microsecond,
		999_600:                 time.Millisecond,
		1_234_567_890:           1230 * time.Millisecond,
		time.Hour + time.Second: 3600 * time.Second,
		-5 * time.Nanosecond:    -5,
	} {
		if got := brief(in); got != want {
			t.Errorf("brief(%v) = %v, want %v", in, got, want)
		}
	}
}

// runtimeCheck is one thing that every runtime must do.
type runtimeCheck struct {
	id    string
	title string
	run   func(context.Context, *probe)
}

// runtimeChecks is the list, in the order in which findings are reported.
func runtimeChecks() []runtimeCheck {
	return []runtimeCheck{
		{"info", "a factory describes itself", checkInfo},
		{"load-errors", "what cannot be loaded is refused, with its place", checkLoadErrors},
		{"same-seed", "the same seed gives the same moves, another seed others", checkSeed},
		{"own-match", "randomness belongs to the match, not to what was drawn before", checkOwnMatch},
		{"unseeded", "nothing that differs between runs reaches a strategy", checkUnseeded},
		{"concurrent", "a factory may be used from many goroutines", checkConcurrent},
		{"fresh-seat", "nothing survives from seat to seat", checkFreshSeat},
		{"valid-answers", "every form of answer is understood", checkValidAnswers},
		{"invalid-answers", "an answer that is no choice is a fault of that match only", checkInvalidAnswers},
		{"throwing", "a hook that throws is reported with its place", checkThrowing},
		{"deadline", "a hook that never returns is stopped at the deadline", checkDeadline},
		{"cancel", "a hook that never returns is stopped when its caller gives up", checkCancel},
		{"time-budget", "without a deadline the time budget stops it", checkTimeBudget},
		{"instruction-budget", "the instruction budget stops it, whatever the time", checkInstructionBudget},
		{"host-memory", "the host's memory is out of reach", checkHostMemory},
		{"sandbox", "there is no way out", checkSandbox},
		{"received-setup", "start receives the setup", checkReceivedSetup},
		{"received-turn", "choose receives the turn and the standing", checkReceivedTurn},
		{"received-outcome", "observe receives the outcome", checkReceivedOutcome},
		{"received-history", "the history holds the matches with this opponent", checkReceivedHistory},
		{"received-nothing", "what is unknown is absent", checkReceivedNothing},
		{"log", "what a script prints goes to its log", checkLog},
		{"batch", "a batch gives every seat what it would have had alone", checkBatch},
	}
}

// CheckRuntime applies every check to the runtime of s. Each check yields at least one finding: OK
// if all of it was tried and found good, Info for what the subject cannot express, Error for what
// is wrong. It stops early, with an Error, when ctx is done.
func CheckRuntime(ctx context.Context, s Subject) []Finding {
	var findings []Finding
	for _, c := range runtimeChecks() {
		findings = append(findings, c.apply(ctx, s)...)
		if ctx.Err() != nil {
			break
		}
	}
	return findings
}

func (c runtimeCheck) apply(ctx context.Context, s Subject) []Finding {
	p := &probe{subject: s, id: c.id}
	c.run(ctx, p)
	if ctx.Err() != nil {
		p.add(Error, "", "", "stopped before it was finished: "+context.Cause(ctx).Error())
	}
	if p.tried > 0 && Worst(p.findings) < Warning {
		p.add(OK, "", "", c.title)
	}
	return p.findings
}

// RunRuntime applies every check to the runtime of s, one subtest each.
// Checks of which the subject can express nothing are skipped.
func RunRuntime(t *testing.T, s Subject) {
	for _, c := range runtimeChecks() {
		t.Run(c.id, func(t *testing.T) {
			tried := false
			for _, f := range c.apply(t.Context(), s) {
				tried = tried || f.Level != Info
				if f.Level == Error {
					t.Error(f)
				} else {
					t.Log(f)
				}
			}
			if !tried {
				t.Skip("this runtime cannot express it")
			}
		})
	}
}

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

// checkHostMemory hands a seat what the host goes on using, and looks at it
// afterwards. A vandal may fail; it may not be felt.
func checkHostMemory(ctx context.Context, p *probe) {
	p.with("Vandal", p.subject.Vandal, roomy, func(f strategies.Factory) {
		su := setup()
		s, err := sit(ctx, f, su, game.Key{1, 2})
		if err != nil {
			p.fail("Vandal", "New = %v, want a seat", err)
			return
		}
		if want := setup().Field; !slices.Equal(su.Field, want) {
			p.fail("Vandal", "start changed the players to %v, want %v", su.Field, want)
		}
		for n := range 4 {
			_, _ = s.choose(ctx, turn(n))
			want := turn(n)
			want.Standing = s.Standing()
			if s.turn != want {
				p.fail("Vandal", "choose changed the turn to %+v, want %+v", s.turn, want)
			}
			o := judged(turn(n), game.Side{Choice: game.Even}, game.Side{Choice: game.Odd}, 4)
			_ = s.observe(ctx, o)
			if s.outcome != o {
				p.fail("Vandal", "observe changed the outcome to %+v, want %+v", s.outcome, o)
			}
		}
		p.leave("Vandal", s)
		if want := setup().Field; !slices.Equal(su.Field, want) {
			p.fail("Vandal", "the players have become %v, want %v", su.Field, want)
		}
	})
}

func checkSandbox(ctx context.Context, p *probe) {
	p.seated(ctx, "Escape", p.subject.Escape, roomy, func(s *player) {
		if _, err := s.choose(ctx, turn(0)); err != nil {
			p.fail("Escape", "%v", err)
		}
	})
}

func checkLog(ctx context.Context, p *probe) {
	p.with("Print", p.subject.Print, roomy, func(f strategies.Factory) {
		if _, err := moves(ctx, f, game.Key{1, 2}, 1); err != nil {
			p.fail("Print", "with no log: %v", err)
		}
		var log strings.Builder
		su := setup()
		su.Log = slog.New(slog.NewTextHandler(&log, nil))
		s, err := sit(ctx, f, su, game.Key{1, 2})
		if err != nil {
			p.fail("Print", "New = %v, want a seat", err)
			return
		}
		if _, err := s.choose(ctx, turn(0)); err != nil {
			p.fail("Print", "%v", err)
		}
		p.leave("Print", s)
		if !strings.Contains(log.String(), Printed) {
			p.fail("Print", "the log has %q, want a record with %q", log.String(), Printed)
		}
	})
}

// checkBatch plays several seats together and each of them alone.
func checkBatch(ctx context.Context, p *probe) {
	for _, b := range []Named{{"Random", p.subject.Random}, {"Memory", p.subject.Memory}} {
		p.with(b.Name, b.Make, roomy, func(f strategies.Factory) {
			batcher, ok := f.(strategies.Batcher)
			if !ok {
				batcher = batch.Of(f)
			}
			const seats = 5
			together, err := batched(ctx, batcher, seats, sample)
			if err != nil {
				p.fail(b.Name, "in a batch: %v", err)
				return
			}
			for i := range seats {
				alone := p.movesOf(ctx, b.Name, f, game.Key{uint64(i), 2})
				if !slices.Equal(alone, together[i]) {
					p.fail(b.Name, "seat %d plays differently alone and in a batch:\n %v\n %v", i, alone, together[i])
				}
			}
		})
	}
}

// batched plays the first n matches of several seats in lockstep: each step
// tells the outcomes of the matches before and asks for the next choices.
func batched(ctx context.Context, f strategies.Batcher, seats, n int) (choices [][]strategies.Choice, err error) {
	b, err := f.NewBatch(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closeErr := b.Close(); err == nil {
			err = closeErr
		}
	}()
	choices = make([][]strategies.Choice, seats)
	standings := make([]strategies.Standing, seats)
	var step strategies.Step
	for i := range seats {
		key := game.Key{uint64(i), 2}
		su := setup()
		su.Key, su.Rand = key, game.NewRand(key)
		step.Open = append(step.Open, strategies.OpenSeat{Seat: strategies.SeatID(i), Setup: su})
	}
	for m := range n {
		for i := range seats {
			t := turn(m)
			t.Standing = standings[i]
			step.Choose = append(step.Choose, strategies.SeatTurn{Seat: strategies.SeatID(i), Turn: t})
		}
		if err := b.Step(ctx, &step); err != nil {
			return nil, err
		}
		if len(step.Failed) > 0 {
			return nil, fmt.Errorf("seat %d: %w", step.Failed[0].Seat, step.Failed[0].Err)
		}
		if len(step.Choices) != seats {
			return nil, fmt.Errorf("%d choices for %d seats", len(step.Choices), seats)
		}
		answers := slices.Clone(step.Choices)
		step.Reset()
		for i := range seats {
			choices[i] = append(choices[i], answers[i])
			o := result(m, answers[i])
			standings[i].Add(o.Result, o.Points)
			step.Observe = append(step.Observe, strategies.SeatOutcome{Seat: strategies.SeatID(i), Outcome: o})
		}
	}
	for i := range seats {
		step.Close = append(step.Close, strategies.SeatID(i))
	}
	return choices, b.Step(ctx, &step)
}

// sample is how many choices are compared: two random series of this length
// agree with a chance of 2^-32.
const sample = 32

// movesOf is moves; a failure is reported and yields nil.
func (p *probe) movesOf(ctx context.Context, name string, f strategies.Factory, key game.Key) []strategies.Choice {
	got, err := moves(ctx, f, key, sample)
	if err != nil {
		p.fail(name, "after %d matches: %v", len(got), err)
		return nil
	}
	return got
}

func checkInfo(_ context.Context, p *probe) {
	p.with("Random", p.subject.Random, roomy, func(f strategies.Factory) {
		info := f.Info()
		if info.Name == "" || info.Fingerprint == "" {
			p.fail("Random", "Info() = %+v, want a name and a fingerprint", info)
		}
		if p.subject.Kind != "" && info.Kind != p.subject.Kind {
			p.fail("Random", "Info().Kind = %q, want %q", info.Kind, p.subject.Kind)
		}
		if again := f.Info(); again != info {
			p.fail("Random", "Info() changes: first %+v, then %+v", info, again)
		}
	})
}

func checkSeed(ctx context.Context, p *probe) {
	p.with("Random", p.subject.Random, roomy, func(f strategies.Factory) {
		first := p.movesOf(ctx, "Random", f, game.Key{1, 2})
		again := p.movesOf(ctx, "Random", f, game.Key{1, 2})
		other := p.movesOf(ctx, "Random", f, game.Key{2, 2})
		if first == nil || again == nil || other == nil {
			return
		}
		if !slices.Equal(first, again) {
			p.fail("Random", "the same key gave two games:\n %v\n %v", first, again)
		}
		if slices.Equal(first, other) {
			p.fail("Random", "two keys gave the same %d choices: %v", sample, first)
		}
	})
}

// checkOwnMatch compares a seat that has played from the beginning with one
// that comes in halfway, as a replaced player does.
func checkOwnMatch(ctx context.Context, p *probe) {
	p.seated(ctx, "Random", p.subject.Random, roomy, func(whole *player) {
		all, err := play(ctx, whole, 0, sample)
		if err != nil {
			p.fail("Random", "%v", err)
			return
		}
		p.seated(ctx, "Random", p.subject.Random, roomy, func(late *player) {
			second, err := play(ctx, late, sample/2, sample)
			if err != nil {
				p.fail("Random", "%v", err)
			} else if !slices.Equal(second, all[sample/2:]) {
				p.fail("Random", "choices depend on earlier matches:\n %v\n %v", all[sample/2:], second)
			}
		})
	})
}

func checkUnseeded(ctx context.Context, p *probe) {
	for _, u := range p.subject.Unseeded {
		p.with(u.Name, u.Make, roomy, func(f strategies.Factory) {
			first := p.movesOf(ctx, u.Name, f, game.Key{1, 2})
			again := p.movesOf(ctx, u.Name, f, game.Key{1, 2})
			if !slices.Equal(first, again) {
				p.fail(u.Name, "the same key gave two games:\n %v\n %v", first, again)
			}
			// A second factory stands for a second run of the program.
			p.with(u.Name, u.Make, roomy, func(g strategies.Factory) {
				if other := p.movesOf(ctx, u.Name, g, game.Key{1, 2}); !slices.Equal(first, other) {
					p.fail(u.Name, "compiled twice, the same key gave two games:\n %v\n %v", first, other)
				}
			})
		})
	}
}

func checkConcurrent(ctx context.Context, p *probe) {
	p.with("Random", p.subject.Random, roomy, func(f strategies.Factory) {
		const seats = 8
		var alone, together [seats][]strategies.Choice
		for i := range seats {
			alone[i] = p.movesOf(ctx, "Random", f, game.Key{uint64(i), 7})
		}
		var errs [seats]error
		var seated, done sync.WaitGroup
		seated.Add(seats) // all are open before the first is asked
		for i := range seats {
			done.Go(func() {
				s, err := sit(ctx, f, setup(), game.Key{uint64(i), 7})
				seated.Done()
				if err != nil {
					errs[i] = err
					return
				}
				seated.Wait()
				together[i], errs[i] = play(ctx, s, 0, sample)
				errs[i] = errors.Join(errs[i], s.Close())
			})
		}
		done.Wait()
		for i := range seats {
			if errs[i] != nil {
				p.fail("Random", "beside other seats: %v", errs[i])
			} else if !slices.Equal(alone[i], together[i]) {
				p.fail("Random", "alone and beside other seats it plays differently:\n %v\n %v", alone[i], together[i])
			}
		}
	})
}

// checkFreshSeat has two seats remember at once, and a third after both.
func checkFreshSeat(ctx context.Context, p *probe) {
	want := []strategies.Choice{strategies.Even, strategies.Odd, strategies.Odd}
	p.with("Memory", p.subject.Memory, roomy, func(f strategies.Factory) {
		s, err := sit(ctx, f, setup(), game.Key{1, 2})
		if err != nil {
			p.fail("Memory", "New = %v, want a seat", err)
			return
		}
		first, err := play(ctx, s, 0, len(want))
		if err != nil || !slices.Equal(first, want) {
			p.fail("Memory", "a first seat chose %v (%v), want %v: it does not remember", first, err, want)
		}
		if beside, err := moves(ctx, f, game.Key{1, 2}, len(want)); err != nil || !slices.Equal(beside, want) {
			p.fail("Memory", "a seat beside another chose %v (%v), want %v", beside, err, want)
		}
		p.leave("Memory", s)
		if after, err := moves(ctx, f, game.Key{1, 2}, len(want)); err != nil || !slices.Equal(after, want) {
			p.fail("Memory", "a seat after another chose %v (%v), want %v", after, err, want)
		}
	})
}

// Maker compiles one behaviour in the runtime under test. The limits are to be
// those of the factory; a runtime without budgets ignores them.
type Maker func(limits budget.Limits) (strategies.Factory, error)

// Named is a behaviour with the name it has in findings.
type Named struct {
	Name string
	Make Maker
}

// Answer is a behaviour whose choose gives one fixed answer, and what the host must take it for.
type Answer struct {
	Name string
	Make Maker
	Want strategies.Choice
}

// Subject says how each behaviour is written in the runtime under test. A nil
// field means that the runtime cannot express it; what needs it is skipped.
//
// Unless a field says otherwise, a behaviour has no start and no observe, and
// its choose answers even.
type Subject struct {
	Kind strategies.Kind // what Info().Kind must be

	// Lines says that errors thrown and invalid answers are reported with the
	// line where they came about.
	Lines bool
	// Instructions says that the runtime keeps a budget of instructions, so
	// that endless loops can be told without a clock.
	Instructions bool
	// Patience is how long a call that has to be stopped may take to return;
	// default 2 min. It is far above the deadlines set, so that a busy machine
	// fails nobody: what is caught is a call that does not return at all.
	Patience time.Duration

	Random Maker    // chooses even or odd by its own randomness, and by nothing else
	Memory Maker    // even when first asked, odd ever after; remembers in every place its language has
	Vandal Maker    // overwrites and deletes all it is handed, in start, choose and observe
	Escape Maker    // tries every way out of the sandbox; choose throws, naming one that is open
	Print  Maker    // choose prints the text Printed
	Valid  []Answer // answers of every form that is allowed

	// Invalid behaviours give an answer that is no choice in round 1.
	Invalid []Named
	// Unseeded behaviours choose by something that might differ between two
	// runs though the seed is the same: a clock, an address, an order.
	Unseeded []Named
	// Unloadable behaviours cannot be compiled: the Maker must return the
	// error. Those that loop for ever at the top level belong here too.
	Unloadable []Named

	ThrowStart, ThrowObserve Maker // the hook throws whenever it is called
	ThrowChoose              Maker // throws in round 1
	SpinStart, SpinObserve   Maker // the hook never returns
	SpinChoose               Maker // does not return in round 1

	// Echo prints in choose what it was handed, on a line each: setup (as it came to start),
	// turn, outcome (as it came to the latest observe), first and last (entries of turn.history),
	// such as "turn match_id=string R1M1 round=number 1 opponent=none ...". The fields are in the
	// order of scripts/README.md, players are joined by commas, and the line of the first entry
	// begins with how many there are: "first of 2".
	Echo Maker
}

// Printed is what Subject.Print prints.
const Printed = "printed by the script"

func (s Subject) patience() time.Duration {
	if s.Patience > 0 {
		return s.Patience
	}
	return 2 * time.Minute
}
