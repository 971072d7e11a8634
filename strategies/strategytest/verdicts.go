package strategytest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/strategies"
)

// answers says what kind of choices a strategy makes.
func (c *examination) answers(r *rehearsal) {
	var even, odd, mixed int
	for _, d := range r.decisions {
		switch {
		case d.choice == strategies.Even:
			even++
		case d.choice == strategies.Odd:
			odd++
		case d.choice.Valid():
			mixed++
		}
	}
	if even+odd+mixed == 0 {
		return // its failures have been told
	}
	what := fmt.Sprintf("it answered even %s and odd %s", times(even), times(odd))
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
func (c *examination) deterministic(ctx context.Context, sc scenario, first *rehearsal) bool {
	again := c.rehearse(ctx, sc, c.key(0), nil).finish(ctx)
	if ctx.Err() != nil {
		return false
	}
	if i := differ(first.decisions, again.decisions); i >= 0 {
		c.add(Finding{ID: "deterministic", Level: Error, Where: first.source,
			What: fmt.Sprintf("the same seed gives different moves: in %s it answered %s, and the next time %s",
				match(i, first, again), shown(first, i), shown(again, i)),
			Hint: "take randomness from math.random or Math.random only; nothing else may differ between two runs"})
		return false
	}
	c.add(Finding{ID: "deterministic", Level: OK,
		What: fmt.Sprintf("the same seed gives the same moves in %s", matches(len(first.decisions)))})
	return true
}

// independent plays two seats of the league in turns. What one does must not
// be felt by the other.
func (c *examination) independent(ctx context.Context, sc scenario, alone *rehearsal) {
	one := c.rehearse(ctx, sc, c.key(0), nil)
	two := c.rehearse(ctx, sc, c.key(1), nil)
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
			What: fmt.Sprintf("two leagues at once disturb one another: in %s it answered %s alone, and %s beside another league",
				match(i, alone, one), shown(alone, i), shown(one, i)),
			Hint: "keep what a seat learns in the seat, not in something that all seats share"})
		return
	}
	c.add(Finding{ID: "independent", Level: OK, What: "leagues played at once do not disturb one another"})
}

// seeded says whether the seed makes a difference.
func (c *examination) seeded(ctx context.Context, sc scenario, first *rehearsal) {
	other := c.rehearse(ctx, sc, c.key(1), nil).finish(ctx)
	if ctx.Err() != nil {
		return
	}
	what := "it uses no randomness: the same opponents meet the same moves in every league"
	if differ(first.decisions, other.decisions) >= 0 {
		what = "it uses randomness: another seed gives other moves"
	}
	c.add(Finding{ID: "seeded", Level: Info, What: what})
}

// differ returns the first place at which two series differ, or -1. Where one
// ends before the other, that is the place.
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

// match names the i-th decision of whichever has as many.
func match(i int, a, b *rehearsal) string {
	if i < len(a.decisions) {
		return a.decisions[i].match
	}
	return b.decisions[i].match
}

// shown is the i-th decision in the words of a script.
func shown(r *rehearsal, i int) string {
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

// Times that are worth a word.
const (
	// slowCall is when a decision takes so long that experiments crawl: a
	// thousand leagues of sixteen players with ten legs ask each player
	// 150,000 times, which at this rate is two and a half minutes.
	slowCall = time.Millisecond
	// growth is how much dearer late decisions may be than early ones.
	growth = 4
	// noticeable is the least time of a late decision for growth to matter.
	noticeable = 20 * time.Microsecond
)

// times compares what calls took with what they may take.
func (c *examination) times(league, long *stopwatch) {
	if league == nil {
		return
	}
	limit := c.options.Limits.OrDefaults().Time
	for _, op := range []strategies.Op{strategies.OpStart, strategies.OpChoose, strategies.OpObserve} {
		spent := slices.Concat(league.spent[op], long.spent[op])
		if len(spent) == 0 {
			continue
		}
		typical, longest := median(spent), slices.Max(spent)
		f := Finding{ID: "time-" + string(op), Level: OK, What: fmt.Sprintf(
			"%s takes %v, %v at most, of the %v allowed", op, brief(typical), brief(longest), limit)}
		switch {
		case longest > limit/2:
			f.Level, f.Where = Warning, sourceOf(c.factory.Info())
			f.Hint = "on a slower or busier machine it would be stopped: do less in one call"
		case typical > slowCall && op != strategies.OpStart:
			f.Level, f.Where = Warning, sourceOf(c.factory.Info())
			f.Hint = "experiments make some hundred thousand such calls: do less in one call"
		}
		c.add(f)
	}
	c.growth(long.spent[strategies.OpChoose])
}

// growth looks for a choose that walks over all that happened before.
func (c *examination) growth(spent []time.Duration) {
	quarter := len(spent) / 4
	if quarter == 0 {
		return
	}
	early, late := median(spent[:quarter]), median(spent[len(spent)-quarter:])
	if late < noticeable || late < growth*early {
		return
	}
	c.add(Finding{ID: "growth", Level: Info, What: fmt.Sprintf(
		"choose gets slower as a league goes on: %v at first, %v after %s", brief(early), brief(late), matches(len(spent))),
		Hint: "count in observe what choose needs, rather than walk over the whole history each time"})
}

func median(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}

// brief rounds a time to three figures or so.
func brief(d time.Duration) time.Duration {
	switch {
	case d > time.Second:
		return d.Round(10 * time.Millisecond)
	case d > time.Millisecond:
		return d.Round(10 * time.Microsecond)
	case d > time.Microsecond:
		return d.Round(100 * time.Nanosecond)
	}
	return d
}
