package strategytest

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/script"
)

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
