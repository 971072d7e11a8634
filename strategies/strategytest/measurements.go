package strategytest

import (
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// Counter is an optional extension of strategies.Strategy, for seats of
// runtimes that count instructions. With it, Check can tell how much of its
// budget a strategy uses.
type Counter interface {
	// InstructionsUsed returns what all calls of the seat have used so far,
	// start included, in the unit of budget.Limits.Instructions.
	InstructionsUsed() int64
}

// measurements measure the calls of a playthrough: how long they take by the caller's
// clock, and how many instructions they use where the runtime says so. A nil
// one measures nothing.
type measurements struct {
	now   func() time.Time // nil if times are not wanted
	spent map[strategies.Op][]time.Duration
	used  map[strategies.Op]int64 // the most in one call

	memory        func() uint64 // nil if it is not wanted
	before, after uint64        // what was held on to before there was a seat, and before it was closed
}

func newMeasurements(now func() time.Time) *measurements {
	return &measurements{now: now, spent: make(map[strategies.Op][]time.Duration), used: make(map[strategies.Op]int64)}
}

// measure begins a call and returns what ends it. The seat is nil in start.
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

// started counts what start used, which could not be asked before.
func (m *measurements) started(seat strategies.Strategy) {
	if counter, ok := seat.(Counter); ok && m != nil {
		m.used[strategies.OpStart] = max(m.used[strategies.OpStart], counter.InstructionsUsed())
	}
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

// costs compares what calls took with what they may take.
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
	f := Finding{ID: "time-" + string(op), Level: OK, Share: float64(longest) / float64(limit), What: fmt.Sprintf(
		"%s mostly takes %v, at most %v of the %v allowed", op, brief(typical), brief(longest), limit)}
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

func (c *checker) instructions(op strategies.Op, used, limit int64) {
	f := Finding{ID: "budget-" + string(op), Level: OK, Share: float64(used) / float64(limit), What: fmt.Sprintf(
		"%s uses at most %d of the %d instructions allowed", op, used, limit)}
	if used > limit/2 {
		f.Level, f.Where = Warning, sourceOf(c.factory.Info())
		f.Hint = "in a longer league it may run out of them: do less in one call"
	}
	c.add(f)
}

// growth looks for a choose that walks over all that happened before.
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
		"choose gets slower as a league goes on: %v at first, %v after %s", brief(early), brief(late), matches(len(spent))),
		Hint: "count in observe what choose needs, rather than walk over the whole history each time"})
}

func median(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}

// brief rounds a time to three figures.
func brief(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

// sampleMemory takes down what the process holds on to, before a playthrough or at its
// end.
func (m *measurements) sampleMemory(end bool) {
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
func (c *checker) memory(long *measurements) {
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
