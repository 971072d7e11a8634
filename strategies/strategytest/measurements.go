package strategytest

import (
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// Counter is an optional extension of strategies.Strategy for runtimes that count
// instructions. Check then reports how much of its budget a strategy uses.
type Counter interface {
	// InstructionsUsed returns the instructions of all calls so far, start
	// included, in the unit of budget.Limits.Instructions.
	InstructionsUsed() int64
}

// measurements record the duration of the calls of a playthrough, the instructions
// they use if the runtime counts them, and memory. A nil pointer records nothing.
type measurements struct {
	now   func() time.Time // nil leaves times out
	spent map[strategies.Op][]time.Duration
	used  map[strategies.Op]int64 // the most in one call

	memory        func() uint64 // nil leaves memory out
	before, after uint64        // live bytes before the seat was made and before it was closed
}

func newMeasurements(now func() time.Time) *measurements {
	return &measurements{now: now, spent: make(map[strategies.Op][]time.Duration), used: make(map[strategies.Op]int64)}
}

// measure starts the measurement of a call and returns the function that ends it.
// The seat is nil in start.
func (m *measurements) measure(op strategies.Op, seat strategies.Strategy) (done func()) {
	if m == nil {
		return func() {}
	}
	var before int64
	counter, counts := seat.(Counter)
	if counts {
		before = counter.InstructionsUsed()
	}
	var start time.Time
	if m.now != nil {
		start = m.now()
	}
	return func() {
		if m.now != nil {
			m.spent[op] = append(m.spent[op], m.now().Sub(start))
		}
		if counts {
			m.used[op] = max(m.used[op], counter.InstructionsUsed()-before)
		}
	}
}

func (m *measurements) started(seat strategies.Strategy) {
	if counter, ok := seat.(Counter); ok && m != nil {
		m.used[strategies.OpStart] = max(m.used[strategies.OpStart], counter.InstructionsUsed())
	}
}

// Thresholds of findings about time.
const (
	// slowCall makes experiments slow: a thousand leagues of sixteen players with ten legs ask each
	// player 150,000 times, which takes two and a half minutes at this rate.
	slowCall = time.Millisecond
	// growth is the ratio of late to early choices that is reported.
	growth = 4
	// noticeable is the least time of a late choice for growth to matter.
	noticeable = 20 * time.Microsecond
)

func (c *checker) costs(league, long *measurements) {
	limits := c.options.Limits.OrDefaults()
	for _, op := range []strategies.Op{strategies.OpStart, strategies.OpChoose, strategies.OpObserve} {
		if spent := slices.Concat(league.spent[op], long.spent[op]); len(spent) > 0 {
			c.time(op, spent, limits.Time)
		}
		if used := max(league.used[op], long.used[op]); used > 0 {
			c.instructions(op, used, limits.Instructions)
		}
	}
	c.growth(long.spent[strategies.OpChoose])
}

func (c *checker) time(op strategies.Op, spent []time.Duration, limit time.Duration) {
	typical, longest := median(spent), slices.Max(spent)
	hint := ""
	switch {
	case longest > limit/2:
		hint = "a slower machine may stop it: do less in one call"
	case typical > slowCall && op != strategies.OpStart:
		hint = "experiments make hundreds of thousands of such calls: do less in one call"
	}
	c.cost("time-"+string(op), float64(longest)/float64(limit), hint,
		"%s takes %v (median), at most %v of the allowed %v", op, brief(typical), brief(longest), limit)
}

func (c *checker) instructions(op strategies.Op, used, limit int64) {
	hint := ""
	if used > limit/2 {
		hint = "a longer league may exceed the limit: do less in one call"
	}
	c.cost("budget-"+string(op), float64(used)/float64(limit), hint, "%s uses at most %d of the allowed %d instructions", op, used, limit)
}

// cost reports a share of a budget, with a warning if there is a hint what to do about it.
func (c *checker) cost(id string, share float64, hint, format string, args ...any) {
	f := Finding{ID: id, Level: OK, Share: share, What: fmt.Sprintf(format, args...), Hint: hint}
	if hint != "" {
		f.Level, f.Where = Warning, sourceOf(c.factory.Info())
	}
	c.add(f)
}

// growth looks for a choose whose time grows with the history.
func (c *checker) growth(spent []time.Duration) {
	quarter := len(spent) / 4
	if quarter == 0 {
		return
	}
	early, late := median(spent[:quarter]), median(spent[len(spent)-quarter:])
	if late < noticeable || late < growth*early {
		return
	}
	c.add(Finding{ID: "growth", Level: Info, What: fmt.Sprintf(
		"choose gets slower during a league: %v at first, %v after %s", brief(early), brief(late), matches(len(spent))),
		Hint: "keep counts in observe instead of reading the whole history each time"})
}

func median[T time.Duration | float64](x []T) T {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

// brief rounds a time to three figures.
func brief(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

// sampleMemory records the live memory of the process before a playthrough or at its end.
func (m *measurements) sampleMemory(end bool) {
	switch {
	case m == nil || m.memory == nil:
	case end:
		m.after = m.memory()
	default:
		m.before = m.memory()
	}
}

// memory compares what a seat holds at the end of a long league with the limit.
func (c *checker) memory(long *measurements) {
	if long.memory == nil || long.after == 0 {
		return
	}
	kept, hint := max(long.after, long.before)-long.before, ""
	if kept > budget.Memory/4 {
		hint = "many leagues run at once, each with a seat of its own: keep counts, not copies"
	}
	shown := fmt.Sprintf("%d MiB", kept>>20)
	if kept < 1<<20 { // of other goroutines, maybe
		shown = "less than 1 MiB"
	}
	c.cost("memory", float64(kept)/budget.Memory, hint, "holds %s at the end of a long league, of the allowed %d MiB", shown, budget.Memory>>20)
}
