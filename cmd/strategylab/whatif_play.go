package main

import (
	"context"

	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// playOut plays the leagues into their folder, closes it, and compares.
func (w *whatIf) playOut(ctx context.Context, dir *results.Dir, out string, factories []strategies.Factory) error {
	w.p.forBatch()
	run, err := w.playOpen(ctx, dir, factories, nil)
	interrupted := stopped(ctx, err)
	if interrupted {
		err = nil
	}
	if err = keepRun(ctx, dir, w.p.path(out), run, nil, err); err != nil {
		return err
	}
	if interrupted && run.Estimates.Leagues == 0 {
		w.note("stopped before a league was complete")
		return &reported{errStopped}
	}
	if err := w.printEffect(run, out); err != nil {
		return err
	}
	if interrupted {
		w.note("stopped after %d of %d leagues", run.Estimates.Leagues, run.Plan.Runs)
		return &reported{errStopped}
	}
	w.note("the new leagues are in %s; compare them with others: strategylab compare %s DIR", out, out)
	return verdictOn(run)
}

// printEffect compares the recorded leagues with the new ones.
func (w *whatIf) printEffect(run *report.Run, out string) error {
	dirs := []string{w.base, out}
	var readers [2]*results.Reader
	for i, dir := range dirs {
		var err error
		if readers[i], err = openRun("whatif", w.p, dir); err != nil {
			return err
		}
		defer readers[i].Close()
	}
	// The new leagues are complete, so this is soon done, even where the user
	// has asked to stop.
	effect, err := contrastOf(context.WithoutCancel(w.c.Context), readers, dirs, w.level)
	if err != nil {
		return err
	}
	effect.Assertions = run.Assertions
	for _, x := range w.exchanges {
		effect.Replaced = append(effect.Replaced, x.player)
	}
	return showContrast(w.p, w.format, effect)
}
