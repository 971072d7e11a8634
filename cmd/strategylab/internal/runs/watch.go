package runs

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// repeat calls play until ctx ends: at once, and again whenever a script of the
// watch that play returns has changed. n counts the successful calls, from 1. The
// error of the first call ends it; later a script may be broken for a while.
func (o *output) repeat(ctx context.Context, play func(n int) (*catalog.Watch, error)) error {
	if o.format != "table" {
		return command.Usagef("--%s needs --%s table", flagWatch, command.FlagFormat)
	}
	var watch *catalog.Watch
	for n := 1; ; {
		now, err := play(n)
		if now != nil {
			watch = now
		}
		switch err = withoutVerdict(err); {
		case ctx.Err() != nil || err != nil && n == 1:
			return err
		case err != nil:
			fmt.Fprintf(o.p.Stderr, "strategylab: %v\n", err)
		default:
			n++
		}
		if err := o.await(ctx, watch); err != nil || ctx.Err() != nil {
			return err
		}
	}
}

// watch plays the experiment, and again whenever a script of its field changes.
// Seats and draws stay the same, so every change comes from the scripts.
func (e *experimentRun) watch(ctx context.Context) error {
	out := e.out()
	var last *report.Run
	return e.repeat(ctx, func(n int) (*catalog.Watch, error) {
		run, watch, err := e.once(ctx, numbered(out, n))
		if err = withoutVerdict(err); err != nil {
			return watch, err
		}
		if last != nil {
			e.changes(last.Estimates, run.Estimates)
		}
		last = run
		return watch, nil
	})
}

// numbered is the folder of the n-th run of a watch.
func numbered(out string, n int) string {
	if n == 1 {
		return out
	}
	return fmt.Sprintf("%s-%d", out, n)
}

// once loads the field and plays it. The watch is nil if the field does not load.
func (e *experimentRun) once(ctx context.Context, out string) (*report.Run, *catalog.Watch, error) {
	cat, err := command.LoadCatalog(ctx, e.p, e.c)
	if err != nil {
		return nil, nil, err
	}
	defer cat.Close()
	field, err := e.field(cat)
	if err != nil {
		return nil, nil, err
	}
	watch := cat.Watch(field)
	run, err := e.freshWith(ctx, field, out)
	return run, watch, err
}

// await returns when a script has changed or ctx has ended.
func (o *output) await(ctx context.Context, w *catalog.Watch) error {
	o.note("waiting for a script to change (Ctrl-C stops)")
	const often = 300 * time.Millisecond
	tick := time.NewTicker(often)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil // the user ends a watch so
		case <-tick.C:
		}
		changes, err := w.Changes()
		if err != nil {
			return err
		}
		if len(changes) > 0 {
			for _, c := range changes {
				o.note("%s", c)
			}
			return nil
		}
	}
}

// changes prints how adjusted points changed from one run to the next.
func (e *experimentRun) changes(before, after analysis.Estimates) {
	was := map[string]analysis.Player{}
	for _, p := range before.Players {
		was[p.Name] = p
	}
	fmt.Fprintln(e.p.Stdout, "\nchanges in adjusted points per match:")
	unchanged := 0
	for _, field := range after.Order {
		p := after.Players[field]
		b, known := was[p.Name]
		delete(was, p.Name)
		const shown = 0.0005 // half a unit of the last digit
		switch {
		case !known:
			fmt.Fprintf(e.p.Stdout, "  %-20s  new, %.3f\n", p.Name, p.Adjusted.Estimate)
		case math.Abs(p.Adjusted.Estimate-b.Adjusted.Estimate) < shown:
			unchanged++
		default:
			fmt.Fprintf(e.p.Stdout, "  %-20s  %.3f to %.3f (%+.3f)\n", p.Name, b.Adjusted.Estimate, p.Adjusted.Estimate, p.Adjusted.Estimate-b.Adjusted.Estimate)
		}
	}
	for _, p := range before.Players {
		if _, gone := was[p.Name]; gone {
			fmt.Fprintf(e.p.Stdout, "  %-20s  gone\n", p.Name)
		}
	}
	if unchanged > 0 {
		fmt.Fprintf(e.p.Stdout, "  %d others unchanged\n", unchanged)
	}
}
