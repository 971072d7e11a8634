package strategytest

import (
	"context"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

func (c *checker) answers(r *playthrough) {
	var even, odd, mixed int
	for _, d := range r.decisions {
		switch {
		case d.choice == strategies.Even:
			even++
		case d.choice == strategies.Odd:
			odd++
		case d.mixed():
			mixed++
		}
	}
	if even+odd+mixed == 0 {
		return // its failures are reported
	}
	what := fmt.Sprintf("answered even %s and odd %s", times(even), times(odd))
	if mixed > 0 {
		what += fmt.Sprintf(", and a probability %s", times(mixed))
	}
	c.add(Finding{ID: "answers", Level: Info, What: what})
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// deterministic plays the league again with the same seed.
func (c *checker) deterministic(ctx context.Context, sc scenario, first *playthrough) bool {
	again := c.newPlaythrough(ctx, sc, c.key(0), nil).finish(ctx)
	if ctx.Err() != nil {
		return false
	}
	if i := differ(first.decisions, again.decisions); i >= 0 {
		c.add(Finding{ID: "deterministic", Level: Error, Where: first.source,
			What: fmt.Sprintf("equal seeds give different choices: in %s it answered %s, the next time %s",
				match(i, first, again), shown(first, i), shown(again, i)),
			Hint: "use only math.random or Math.random for randomness"})
		return false
	}
	c.add(Finding{ID: "deterministic", Level: OK,
		What: fmt.Sprintf("equal seeds give equal choices in %s", matches(len(first.decisions)))})
	return true
}

// independent plays two seats of the league in turns. Neither may influence the other.
func (c *checker) independent(ctx context.Context, sc scenario, alone *playthrough) {
	one := c.newPlaythrough(ctx, sc, c.key(0), nil)
	two := c.newPlaythrough(ctx, sc, c.key(1), nil)
	for more := true; more; {
		a := one.seat != nil && one.step(ctx)
		b := two.seat != nil && two.step(ctx)
		more = a || b
	}
	one.finish(ctx)
	two.finish(ctx)
	if ctx.Err() != nil {
		return
	}
	if i := differ(alone.decisions, one.decisions); i >= 0 {
		c.add(Finding{ID: "independent", Level: Error, Where: alone.source,
			What: fmt.Sprintf("two leagues at once influence each other: in %s it answered %s alone, and %s beside another league",
				match(i, alone, one), shown(alone, i), shown(one, i)),
			Hint: "keep state in the seat, not in variables that seats share"})
		return
	}
	c.add(Finding{ID: "independent", Level: OK, What: "leagues played at once do not influence each other"})
}

// seeded reports whether the strategy uses randomness.
func (c *checker) seeded(ctx context.Context, sc scenario, first *playthrough) {
	other := c.newPlaythrough(ctx, sc, c.key(1), nil).finish(ctx)
	if ctx.Err() != nil {
		return
	}
	what := "uses no randomness: it plays alike against equal opponents"
	switch {
	case differ(first.decisions, other.decisions) >= 0:
		what = "uses randomness: another seed gives other choices"
	case slices.ContainsFunc(first.decisions, decision.mixed):
		what = "uses no randomness except the host's coin for probabilities"
	}
	c.add(Finding{ID: "seeded", Level: Info, What: what})
}

// differ returns the first index at which two series differ, or -1. The end of the
// shorter one counts as a difference.
func differ(a, b []decision) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	return -1
}

func match(i int, a, b *playthrough) string {
	if i < len(a.decisions) {
		return a.decisions[i].match
	}
	return b.decisions[i].match
}

func shown(r *playthrough, i int) string {
	if i >= len(r.decisions) {
		return "nothing"
	}
	switch c := r.decisions[i].choice; {
	case c == strategies.Even:
		return "even"
	case c == strategies.Odd:
		return "odd"
	case c.Valid():
		return fmt.Sprint(float64(c))
	}
	return "nothing valid"
}

// CheckIsolated plays a strategy in a league in this process (f) and in a process
// of its own (isolated) and compares. Both must come from the same source.
func CheckIsolated(ctx context.Context, f, isolated strategies.Factory, o Config) Finding {
	out := Finding{ID: "isolated", Level: Error, Where: sourceOf(f.Info())}
	sc, key := scenarios()[0], game.StrategyKey(o.Seed, 0, me)
	here := newPlaythrough(ctx, f, sc, o.Seed, key, nil).finish(ctx)
	there := newPlaythrough(ctx, isolated, sc, o.Seed, key, nil).finish(ctx)
	if err := ctx.Err(); err != nil {
		out.What = fmt.Sprintf("comparison with a process of its own failed: %v", err)
		return out
	}
	i := differ(here.decisions, there.decisions)
	switch {
	case len(here.failures) == 0 && len(there.failures) > 0:
		_, cause, hint := there.place(there.failures[0])
		out.What, out.Hint = fmt.Sprintf("in a process of its own %s fails: %s", there.failures[0].op, cause), hint
	case i >= 0:
		out.What = fmt.Sprintf("chooses differently in a process of its own: in %s it answered %s here, %s there",
			match(i, here, there), shown(here, i), shown(there, i))
	case len(there.failures) > 0:
		out = Finding{ID: out.ID, Level: Info, What: "fails in the same way in a process of its own"}
	default:
		out = Finding{ID: out.ID, Level: OK,
			What: fmt.Sprintf("makes the same choices in a process of its own, in %s", matches(len(here.decisions)))}
	}
	return out
}
