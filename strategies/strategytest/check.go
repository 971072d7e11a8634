// Package strategytest checks whatever chooses moves, from a program or from
// a test. It holds two lists.
//
// CheckRuntime is what every runtime must do, whether it runs Lua, JavaScript,
// Go or another process: equal seeds give equal moves, deadlines are kept,
// failures name file, line and operation, the host's memory is out of reach,
// nothing survives from league to league. The runtime under test says in a
// Subject how a handful of behaviours are written in its language.
//
// Check is what can be told of one strategy without knowing how it is written:
// whether it gets through small leagues of every shape it may meet, whether it
// is deterministic, how long it takes.
//
// Both return findings, written for the strategy's author. RunRuntime and Run
// turn them into subtests; the package itself does not import testing, so that
// the program can use it too.
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

// Config say how Check goes about it. The zero value is fine.
type Config struct {
	// Seed makes the leagues that the strategy is taken through: the same seed
	// finds the same, but for times.
	Seed uint64
	// Now is the clock that calls are timed by. Nil leaves times out.
	Now func() time.Time
	// Memory tells how many bytes the process holds on to; see budget.Live. Nil
	// leaves memory out.
	Memory func() uint64
	// Limits are those that the factory was made with; times are compared
	// with them.
	Limits budget.Limits
}

// Check takes a strategy through small leagues against assorted opponents and
// tells what its author should know. A failure that is met in several leagues
// is an error or a warning of the first of them; the others are told under the
// id "again". When ctx is done, the findings end with an Error that says so.
func Check(ctx context.Context, f strategies.Factory, o Config) []Finding {
	var findings []Finding // the goroutine's until it has returned
	err := strategies.RunAbandonable(ctx, func(ctx context.Context) error {
		findings = runChecks(ctx, f, o)
		return nil
	})
	if err != nil {
		return []Finding{{ID: "stuck", Level: Error, Where: sourceOf(f.Info()),
			What: fmt.Sprintf("a call %v: in an experiment it loses that league and all that follow", err),
			Hint: "look for a built-in function that is given far too much to do"}}
	}
	return findings
}

func runChecks(ctx context.Context, f strategies.Factory, o Config) []Finding {
	c := &checker{factory: f, options: o, seen: make(map[string]*repeated)}
	c.run(ctx)
	if ctx.Err() != nil {
		c.add(Finding{ID: "stopped", Level: Error,
			What: fmt.Sprintf("the check was stopped before it was finished: %v", context.Cause(ctx))})
	}
	return c.findings
}

// Run checks a strategy in a test: errors fail it, all else is logged.
func Run[T TB[T]](t T, f strategies.Factory, o Config) {
	t.Helper()
	report(t, Check(t.Context(), f, o))
}

// report turns findings into what a test says of them.
func report[T TB[T]](t T, findings []Finding) {
	t.Helper()
	for _, f := range findings {
		if f.Level == Error {
			t.Errorf("%v", f)
		} else {
			t.Logf("%v", f)
		}
	}
}

// TB is what Run needs of a test; *testing.T is a TB of itself.
type TB[T any] interface {
	Context() context.Context
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Skip(args ...any)
	Run(name string, f func(T)) bool
}

// checker is one run of Check.
type checker struct {
	factory  strategies.Factory
	options  Config
	findings []Finding
	seen     map[string]*repeated // by kind of failure
	order    []string             // of the kinds
}

// repeated is a failure that has been told, and where it was met again.
type repeated struct {
	op    strategies.Op
	where string
	again []string // ids of scenarios
}

func (c *checker) add(f Finding) { c.findings = append(c.findings, f) }

// key is the randomness of the seat under test; other keys give other runs.
func (c *checker) key(n int) game.Key { return game.StrategyKey(c.options.Seed, n, me) }

func (c *checker) newPlaythrough(ctx context.Context, sc scenario, key game.Key, m *measurements) *playthrough {
	return newPlaythrough(ctx, c.factory, sc, c.options.Seed, key, m)
}

func (c *checker) run(ctx context.Context) {
	list := scenarios()
	league := list[0]
	short := newMeasurements(c.options.Now)
	first := c.newPlaythrough(ctx, league, c.key(0), short).finish(ctx)
	c.judge(ctx, first)
	c.quarantine(first)
	if first.seat == nil || ctx.Err() != nil {
		return // nothing else would be learnt
	}
	c.answers(first)
	if !first.overran() && c.deterministic(ctx, league, first) {
		c.independent(ctx, league, first)
		c.seeded(ctx, league, first)
	}
	long := newMeasurements(c.options.Now)
	for _, sc := range list[1:] {
		if ctx.Err() != nil {
			return
		}
		var m *measurements
		if sc.id == "long" {
			m = long
			long.memory = c.options.Memory
		}
		c.judge(ctx, c.newPlaythrough(ctx, sc, c.key(0), m).finish(ctx))
	}
	c.repeats()
	c.costs(short, long)
	c.memory(long)
}

// overran reports whether a call exceeded its time limit, after which nothing that
// the seat did can be expected to happen again.
func (r *playthrough) overran() bool {
	return slices.ContainsFunc(r.failures, func(f failure) bool {
		return !strategies.FaultOf(f.err).Reproducible()
	})
}

// judge reports how a scenario went: one finding for each different failure,
// or one that all is well.
func (c *checker) judge(ctx context.Context, r *playthrough) {
	if ctx.Err() != nil {
		return // what failed then was not the strategy's fault
	}
	if len(r.failures) == 0 {
		c.add(Finding{ID: r.sc.id, Level: OK,
			What: fmt.Sprintf("%s: %s without a fault", r.sc.title, matches(len(r.decisions)))})
		return
	}
	counted := make(map[string]int)
	for _, f := range r.failures {
		counted[r.kind(f)]++
	}
	for _, f := range r.failures {
		kind := r.kind(f)
		n := counted[kind]
		if n == 0 {
			continue // told with the first of its kind
		}
		delete(counted, kind)
		if known := c.seen[kind]; known != nil {
			known.again = append(known.again, r.sc.id)
			continue
		}
		out := c.describe(r, f, n)
		c.add(out)
		c.seen[kind] = &repeated{op: f.op, where: out.Where}
		c.order = append(c.order, kind)
	}
}

// repeats tells where failures were met again: that is not another flaw to
// mend, but it shows how far one reaches.
func (c *checker) repeats() {
	for _, kind := range c.order {
		if k := c.seen[kind]; len(k.again) > 0 {
			c.add(Finding{ID: "again", Level: Info, Where: k.where,
				What: fmt.Sprintf("%s fails in the same way in other leagues: %s", k.op, strings.Join(k.again, ", "))})
		}
	}
}

// kind tells failures apart by their place and cause, not by their match.
func (r *playthrough) kind(f failure) string {
	where, cause, _ := r.place(f)
	return fmt.Sprintf("%s\x00%s\x00%s", f.op, where, cause)
}

// place takes an error apart into where it happened, why, and what to do.
func (r *playthrough) place(f failure) (where, cause, hint string) {
	var se *strategies.Error
	if errors.As(f.err, &se) {
		return se.Where(), se.Err.Error(), se.Hint
	}
	return r.source, f.err.Error(), ""
}

func (c *checker) describe(r *playthrough, f failure, n int) Finding {
	where, cause, hint := r.place(f)
	out := Finding{ID: r.sc.id, Level: Error, Where: where, Hint: hint}
	if r.sc.live {
		out.Level = Warning
	}
	fault := strategies.FaultOf(f.err)
	switch {
	case out.Hint != "":
	case fault == game.FaultTimeout, fault == game.FaultBudget:
		out.Hint = "look for a loop that never ends, or do less in one call"
	default:
		out.Hint = r.sc.hint
	}
	switch {
	case f.op == opClose:
		out.What = fmt.Sprintf("the seat's Close fails: %s", cause)
		return out
	case f.match == "":
		out.What = fmt.Sprintf("%s fails: %s", f.op, cause)
	case n == 1:
		out.What = fmt.Sprintf("%s fails in match %s: %s", f.op, f.match, cause)
	default:
		out.What = fmt.Sprintf("%s fails in %d of %s, first in %s: %s", f.op, n, matches(len(r.decisions)), f.match, cause)
	}
	switch {
	case strategies.EndsSeat(f.op, fault):
		out.What += "; this costs it the rest of the league"
	case n == 1:
		out.What += "; this costs it the match"
	default:
		out.What += "; each time costs it the match"
	}
	return out
}

func matches(n int) string {
	if n == 1 {
		return "1 match"
	}
	return fmt.Sprintf("%d matches", n)
}

// quarantine says what an overrun means for a run of many leagues.
func (c *checker) quarantine(r *playthrough) {
	overran := slices.ContainsFunc(r.failures, func(f failure) bool {
		switch strategies.FaultOf(f.err) {
		case game.FaultTimeout, game.FaultBudget, game.FaultCrash:
			return true
		}
		return false
	})
	if overran {
		c.add(Finding{ID: "put-aside", Level: Info,
			What: "a strategy that overruns in half of 64 leagues in a row is not called any more for the rest of the run"})
	}
}
