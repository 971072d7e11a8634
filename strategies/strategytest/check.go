// Package strategytest checks a strategy for its author: whether it completes small leagues of
// every shape, whether it is deterministic, and how long its calls take.
//
// The package does not import testing, so that programs can use it too. Its own tests hold every
// runtime (Lua, JavaScript, Go, plugins) to one list of requirements.
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
	"github.com/strategylab/strategylab/strategies/script"
)

// Config is the settings of a check. The zero value is fine.
type Config struct {
	// Seed determines the leagues: equal seeds give equal findings, except for times.
	Seed uint64
	// Now is the clock that times calls; nil leaves times out.
	Now func() time.Time
	// Memory returns the live memory of the process in bytes, such as
	// budget.Live; nil leaves memory out.
	Memory func() uint64
	// Limits are the limits of the factory; times are compared with them.
	Limits budget.Limits
	// Steps shows the steps of the check and collects what it leaves out for lack of
	// time; nil does neither.
	Steps *Steps
}

// Check plays a strategy in small leagues against assorted opponents and returns what its author
// should know. A failure that occurs in several leagues is an error or a warning of the first; a
// finding "again" lists the others. The league in which a strategy ends its process is the last
// one: a finding "unplayed" lists the others. If ctx is done, the findings end with an Error that
// says so, unless its cause is ErrTime: then o.Steps has what was left out.
func Check(ctx context.Context, f strategies.Factory, o Config) []Finding {
	if o.Steps == nil {
		o.Steps = new(Steps)
	}
	c := &checker{factory: f, options: o, seen: make(map[string]*repeated)}
	c.run(ctx)
	if ctx.Err() != nil && !timeIsUp(ctx) {
		c.add(Finding{ID: "stopped", Level: Error,
			What: fmt.Sprintf("the check was stopped early: %v", context.Cause(ctx))})
	}
	return c.findings
}

// checker is one run of Check.
type checker struct {
	factory  strategies.Factory
	options  Config
	findings []Finding
	seen     map[string]*repeated // by kind of failure
	order    []string             // of the kinds
	overran  bool                 // a call exceeded its limits
}

// repeated is a reported failure and the scenarios where it occurred again.
type repeated struct {
	op    strategies.Op
	where string
	again []string // ids of scenarios
}

func (c *checker) add(f Finding) { c.findings = append(c.findings, f) }

// key returns the n-th key for the randomness of the seat under test.
func (c *checker) key(n int) game.Key { return game.StrategyKey(c.options.Seed, n, me) }

func (c *checker) newPlaythrough(ctx context.Context, sc scenario, key game.Key, m *measurements) *playthrough {
	return newPlaythrough(ctx, c.factory, sc, c.options.Seed, key, m)
}

// run runs the steps of a check. What a script reads although it does not exist is found
// first: it explains failures.
func (c *checker) run(ctx context.Context) {
	step := func(name string, run func()) { c.options.Steps.Do(ctx, name, run) }
	list := scenarios()
	league := list[0]
	short, long := newMeasurements(c.options.Now), newMeasurements(c.options.Now)
	var first *playthrough
	step(league.title, func() {
		first = c.newPlaythrough(ctx, league, c.key(0), short).finish(ctx)
		c.judge(ctx, first)
		c.quarantine(first)
	})
	if _, ok := c.factory.(script.Watched); ok && !(first != nil && first.crashed()) {
		step("what it reads that does not exist", func() {
			c.findings = append(Slips(ctx, c.factory, c.options, false), c.findings...)
		})
	}
	if first != nil && first.seat == nil {
		return // no other check can succeed
	}
	if ctx.Err() == nil {
		c.answers(first)
		if first.crashed() {
			c.unplayed(list[1:])
			return
		}
		c.varies(first)
	}
	c.compare(ctx, league, first)
	for i, sc := range list[1:] {
		var r *playthrough
		step(sc.title, func() {
			var m *measurements
			if sc.id == "long" {
				m = long
				long.memory = c.options.Memory
			}
			r = c.newPlaythrough(ctx, sc, c.key(0), m).finish(ctx)
			c.judge(ctx, r)
		})
		if r != nil && r.crashed() {
			c.repeats()
			c.unplayed(list[i+2:])
			return
		}
	}
	c.repeats()
	if !c.overran {
		c.costs(short, long) // else they repeat which limit it exceeded
	}
	if ctx.Err() == nil {
		c.memory(long)
	}
}

// compare plays the first league again, in several ways.
func (c *checker) compare(ctx context.Context, league scenario, first *playthrough) {
	if first != nil && first.overran() {
		return
	}
	same := true
	for _, s := range []struct {
		name string
		run  func()
	}{
		{"equal seeds give equal choices", func() { same = c.deterministic(ctx, league, first) }},
		{"leagues played at once do not influence each other", func() { c.independent(ctx, league, first) }},
		{"another seed", func() { c.seeded(ctx, league, first) }},
	} {
		if c.options.Steps.Do(ctx, s.name, s.run); !same && ctx.Err() == nil {
			return
		}
	}
}

// has reports whether a call failed with one of some faults.
func (r *playthrough) has(faults ...game.Fault) bool {
	return slices.ContainsFunc(r.failures, func(f failure) bool { return slices.Contains(faults, strategies.FaultOf(f.err)) })
}

// overran reports whether a call exceeded its time limit. Then the playthrough is not reproducible.
func (r *playthrough) overran() bool { return r.has(game.FaultTimeout, game.FaultCrash) }

// crashed reports whether the strategy ended its process. That takes seconds and all the memory
// that it may have, and would most likely happen in each league.
func (r *playthrough) crashed() bool { return r.has(game.FaultCrash) }

// unplayed names the scenarios that are left out because the strategy ended its process.
func (c *checker) unplayed(list []scenario) {
	if len(list) == 0 {
		return
	}
	var ids []string
	for _, sc := range list {
		ids = append(ids, sc.id)
	}
	c.add(Finding{ID: "unplayed", Level: Info,
		What: fmt.Sprintf("other leagues are not played until its process survives: %s", strings.Join(ids, ", "))})
}

// judge reports the result of a scenario: one finding for each different failure,
// or one that it passed.
func (c *checker) judge(ctx context.Context, r *playthrough) {
	if ctx.Err() != nil && len(r.failures) == 0 {
		if n := len(r.decisions); n > 0 && timeIsUp(ctx) {
			c.add(Finding{ID: r.sc.id, Level: Info,
				What: fmt.Sprintf("%s: the first %d of %s without a fault", r.sc.title, n, matches(len(r.matches)))})
		}
		return
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
			continue // reported with the first of its kind
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

func (c *checker) repeats() {
	for _, kind := range c.order {
		if k := c.seen[kind]; len(k.again) > 0 {
			c.add(Finding{ID: "again", Level: Info, Where: k.where,
				What: fmt.Sprintf("%s fails in the same way in other leagues: %s", k.op, strings.Join(k.again, ", "))})
		}
	}
}

// kind identifies a failure by its place and cause, not by its match. An exceeded
// limit strikes at any line of a loop.
func (r *playthrough) kind(f failure) string {
	where, cause, _ := r.place(f)
	switch strategies.FaultOf(f.err) {
	case game.FaultTimeout, game.FaultBudget:
		where = ""
	case game.FaultInvalid:
		cause = "" // the place says enough: true and false are one mistake
	}
	return fmt.Sprintf("%s\x00%s\x00%s", f.op, where, cause)
}

// place returns where an error happened, why, and what to do.
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
		out.Hint = "look for an endless loop, or do less in one call"
	default:
		out.Hint = r.sc.hint
	}
	switch {
	case f.op == opClose:
		out.What = fmt.Sprintf("closing the seat fails: %s", cause)
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
		out.What += "; it forfeits the rest of the league"
	case n == 1:
		out.What += "; it loses the match"
	default:
		out.What += "; it loses each of these matches"
	}
	return out
}

func matches(n int) string {
	if n == 1 {
		return "1 match"
	}
	return fmt.Sprintf("%d matches", n)
}

// quarantine explains what exceeded limits mean for a run of many leagues.
func (c *checker) quarantine(r *playthrough) {
	if c.overran = r.has(game.FaultTimeout, game.FaultBudget, game.FaultCrash); c.overran {
		c.add(Finding{ID: "quarantine", Level: Info,
			What: "an experiment soon quarantines a strategy that exceeds its limits in several leagues"})
	}
}

// Slips plays a script in one small league and returns what it reads although it does not exist,
// each once: an Error, or a Warning if it may be intended. With failures, it also returns how its
// calls fail there. A factory that is not script.Watched has no findings.
func Slips(ctx context.Context, f strategies.Factory, o Config, failures bool) []Finding {
	watched, ok := f.(script.Watched)
	if !ok {
		return nil
	}
	w := &watching{Watched: watched, known: make(map[script.Slip]bool)}
	c := &checker{factory: w, options: o, seen: make(map[string]*repeated)}
	r := c.newPlaythrough(ctx, scenarios()[0], c.key(0), nil).finish(ctx)
	if failures && len(r.failures) > 0 {
		c.judge(ctx, r)
	}
	return append(w.found, c.findings...)
}

// watching is a factory whose seats report slips.
type watching struct {
	script.Watched
	found []Finding
	known map[script.Slip]bool
}

// New implements strategies.Factory.
func (w *watching) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	s.Totals = budget.NewestTotals // who waits for the findings has set no time
	return w.NewWatched(ctx, s, func(slip script.Slip) {
		if !w.known[slip] {
			w.known[slip] = true
			level := Error
			if slip.Doubtful {
				level = Warning
			}
			w.found = append(w.found, Finding{ID: idSlip, Level: level,
				Where: fmt.Sprintf("%s:%d", sourceOf(w.Info()), slip.Line), What: slip.What, Hint: slip.Hint})
		}
	})
}

// varies points out a script that reads how matches ended and answers the same whatever that was.
func (c *checker) varies(r *playthrough) {
	watched, ok := c.factory.(script.Watched)
	if !ok || len(r.failures) > 0 {
		return
	}
	for _, d := range r.decisions {
		if d.choice != r.decisions[0].choice {
			return
		}
	}
	for _, read := range []string{"opponent_choice", "history", "observe"} {
		if line := watched.Text().LineOf(read); line > 0 {
			c.add(Finding{ID: "constant", Level: Warning, Where: fmt.Sprintf("%s:%d", r.source, line),
				What: fmt.Sprintf("answers %s in all %s against five different opponents, although it reads %s", shown(r, 0), matches(len(r.decisions)), read),
				Hint: "is a condition never true? print what it compares, and run strategylab replay"})
			return
		}
	}
}

// ErrTime, as the cause of a context, says that the time of a check is up.
var ErrTime = errors.New("time of the check is up")

// timeIsUp reports whether the time of a check is up.
func timeIsUp(ctx context.Context) bool {
	return ctx.Err() != nil && errors.Is(context.Cause(ctx), ErrTime)
}

// Steps runs the steps of a check. The zero value is ready for use.
type Steps struct {
	// Show, if not nil, is called with the name of each step before it runs.
	Show func(step string)

	left []string // steps that did not end in time
}

// Do runs a step, unless ctx is done. A step that is not completed in time is left out.
func (s *Steps) Do(ctx context.Context, name string, run func()) {
	if ctx.Err() == nil {
		if s.Show != nil {
			s.Show(name)
		}
		run()
	}
	if timeIsUp(ctx) {
		s.left = append(s.left, name)
	}
}

// Findings returns a Warning that names the steps that were left out, if any were. limit
// is the time of the check.
func (s *Steps) Findings(limit time.Duration) []Finding {
	if len(s.left) == 0 {
		return nil
	}
	return []Finding{{ID: idTime, Level: Warning,
		What: fmt.Sprintf("the check ended after %v; left out for lack of time: %s", limit, strings.Join(s.left, "; ")),
		Hint: fmt.Sprintf("do less in one call, or check for longer: strategylab strategies check --max-time %s", strings.Replace((6*limit).String(), "m0s", "m", 1))}}
}

// idTime is the finding that something was left out.
const idTime = "time"
