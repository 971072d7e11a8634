package strategytest

import (
	"context"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// hold takes down what the process holds on to, before a rehearsal or at its
// end.
func (m *meters) hold(end bool) {
	switch {
	case m == nil || m.memory == nil:
	case end:
		m.after = m.memory()
	default:
		m.before = m.memory()
	}
}

// memory says what a seat keeps at the end of a long league, of what it may
// keep in this process.
func (c *examination) memory(long *meters) {
	if long.memory == nil || long.after == 0 {
		return
	}
	const noise = 1 << 20 // what else goes on in the process
	kept := max(long.after, long.before) - long.before
	f := Finding{ID: "memory", Level: OK, Share: float64(kept) / budget.MaxGrowth, What: fmt.Sprintf(
		"it keeps %s to the end of a long league, of the %d MiB at which it would be stopped", mebibytes(kept, noise), budget.MaxGrowth>>20)}
	if kept > budget.MaxGrowth/4 {
		f.Level, f.Where = Warning, sourceOf(c.factory.Info())
		f.Hint = "many leagues are under way at once, and each has a seat of its own: keep counts, not copies"
	}
	c.add(f)
}

func mebibytes(n, noise uint64) string {
	if n < noise {
		return "less than 1 MiB"
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// putAside says what an overrun means for a run of many leagues.
func (c *examination) putAside(r *rehearsal) {
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

// CheckIsolated takes a strategy through a league in this process, as f, and
// in a process of its own, and compares. Both have to come from the same
// source.
func CheckIsolated(ctx context.Context, f, isolated strategies.Factory, o Options) Finding {
	out := Finding{ID: "isolated", Level: Error, Where: sourceOf(f.Info())}
	sc, key := scenarios()[0], game.StrategyKey(o.Seed, 0, me)
	var here, there *rehearsal // the goroutine's until it has returned
	err := strategies.Outlast(ctx, func(ctx context.Context) error {
		here = rehearse(ctx, f, sc, o.Seed, key, nil).finish(ctx)
		there = rehearse(ctx, isolated, sc, o.Seed, key, nil).finish(ctx)
		return ctx.Err()
	})
	if err != nil {
		out.What = fmt.Sprintf("it could not be compared with itself in a process of its own: %v", err)
		return out
	}
	i := differ(here.decisions, there.decisions)
	switch {
	case len(here.failures) == 0 && len(there.failures) > 0:
		_, cause, hint := there.place(there.failures[0])
		out.What, out.Hint = fmt.Sprintf("in a process of its own %s fails: %s", there.failures[0].op, cause), hint
	case i >= 0:
		out.What = fmt.Sprintf("it moves in another way in a process of its own: in %s it answered %s, and there %s",
			match(i, here, there), shown(here, i), shown(there, i))
	case len(there.failures) > 0:
		out = Finding{ID: out.ID, Level: Info, What: "in a process of its own it fails in the same way"}
	default:
		out = Finding{ID: out.ID, Level: OK,
			What: fmt.Sprintf("it makes the same moves in a process of its own, in %s", matches(len(here.decisions)))}
	}
	return out
}
