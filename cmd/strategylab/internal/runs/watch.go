package runs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/contrast"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// repeat calls play until ctx ends: at once, and again whenever a script of the
// watch that play returns has changed. n counts the successful calls, from 1. The
// error of the first call ends it; later a script may be broken for a while.
func (o *output) repeat(ctx context.Context, play func(n int) (*catalog.Watch, error)) error {
	if o.shown.Format != "table" {
		return command.Usagef("--watch needs --format table")
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
			o.p.Say("strategylab: %v", err)
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
	out, tuned := e.out(), false
	err := e.repeat(ctx, func(n int) (*catalog.Watch, error) {
		tuned = n > 1
		defer e.replacing(out, n)()
		run, watch, err := e.once(ctx, out)
		if run != nil {
			out = run.Folder
		}
		if err = withoutVerdict(err); err != nil || n == 1 {
			return watch, err
		}
		return watch, e.changes(ctx, out)
	})
	if tuned {
		e.p.Note("scripts that were changed after looking at one seed look better on it than they are; when they are finished, confirm them once with a fresh one: %s",
			confirmCommand(out))
	}
	return err
}

// replacing lets the n-th run of a watch take the place of the run before in its folder,
// so that a watch leaves one folder. The run before is kept until the returned function
// is called.
func (o *output) replacing(out string, n int) (end func()) {
	if o.before = ""; n == 1 {
		return func() {}
	}
	o.before = filepath.Join(filepath.Dir(out), "."+filepath.Base(out)+".before")
	return func() {
		_ = os.RemoveAll(o.p.Path(o.before)) // what is left over is not read
	}
}

// create makes the folder of a run, with advice for one that is there.
func (o *output) create(out string, plan results.Plan, advice string) (*results.Dir, error) {
	folder, before := o.p.Path(out), o.p.Path(o.before)
	if o.before != "" {
		if err := errors.Join(os.RemoveAll(before), os.Rename(folder, before)); err != nil {
			return nil, fmt.Errorf("replace the run before: %w", err)
		}
	}
	dir, err := results.Create(folder, plan)
	switch {
	case err != nil && o.before != "":
		err = errors.Join(err, os.RemoveAll(folder), os.Rename(before, folder))
	case errors.Is(err, results.ErrExists):
		err = command.WithHint(err, "%s", advice)
	}
	return dir, err
}

// createFree makes the folder of a new run and returns its name: out or, if that holds a
// run and the user did not ask for it, the first free of out-2, out-3 and so on. Runs that
// start in one second with one seed have the same default.
func (o *output) createFree(out string, plan results.Plan, advice string) (*results.Dir, string, error) {
	fixed := o.before != "" || command.Given(o.c, "out")
	for n, name := 2, out; ; n++ {
		dir, err := o.create(name, plan, advice)
		if fixed || !errors.Is(err, results.ErrExists) && !errors.Is(err, disk.ErrLocked) {
			return dir, name, err
		}
		name = fmt.Sprintf("%s-%d", out, n)
	}
}

// once loads the field and plays it. The watch is nil if the field does not load.
func (e *experimentRun) once(ctx context.Context, out string) (*report.Document, *catalog.Watch, error) {
	cat, err := e.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer cat.Close()
	field, err := e.field(ctx, cat)
	if err != nil {
		return nil, nil, err
	}
	watch := cat.Watch(field)
	run, err := e.freshWith(ctx, field, out)
	return run, watch, err
}

func (o *output) await(ctx context.Context, w *catalog.Watch) error {
	o.p.Note("waiting for a script to change (Ctrl-C stops)")
	changes, err := lab.Await(ctx, w) // without any, the user ends the watch
	for _, c := range changes {
		o.p.Note("%s", c)
	}
	return err
}

func (e *experimentRun) changes(ctx context.Context, out string) error {
	c, err := contrastOf(ctx, e.p, "watch", []string{e.before, out}, analysis.DefaultLevel)
	if err != nil {
		return err
	}
	c.Before.Dir, c.After.Dir = "the run before", "this run"
	return report.WriteChanges(e.p.Stdout, c, e.p.Out.Columns)
}

// tuning compares the leagues of a run, as they are played, with those of the run
// before, in which other versions of some scripts played. It is a sink, for one
// goroutine at a time.
type tuning struct {
	*command.Progress
	reader  *results.Reader
	former  *contrast.Leagues
	both    *contrast.Contrast
	leagues int
	quarter int                              // of the leagues of the plan
	note    func(format string, args ...any) // receives the differences now and then, where nothing draws them
}

// follow returns a tuning against the run in a folder, nil without one whose leagues
// form pairs with those of plan. The caller ends it.
func (o *output) follow(plan results.Plan, folder string, progress *command.Progress) (*tuning, error) {
	if folder == "" {
		return nil, nil
	}
	reader, err := o.p.OpenRun("watch", folder)
	if err != nil {
		return nil, err
	}
	both, err := contrast.New(reader.Plan(), plan)
	if err != nil || !both.Paired() {
		return nil, errors.Join(err, reader.Close())
	}
	t := &tuning{Progress: progress, reader: reader, former: contrast.NewLeagues(reader), both: both, quarter: (plan.Runs + 3) / 4, note: func(string, ...any) {}}
	if !o.p.Err.Is() {
		t.note = o.p.Note
	}
	return t, nil
}

// end closes what a tuning reads.
func (t *tuning) end() {
	t.former.Close()
	_ = t.reader.Close() // it was only read
}

// Append adds a league of the new run, and the one of the run before that has its seats
// and draws.
func (t *tuning) Append(l *results.League) error {
	former, err := t.former.Next()
	if err != nil {
		return fmt.Errorf("the run before: %w", err)
	}
	if former != nil {
		if err := t.both.AddPair(former, l); err != nil {
			return err
		}
		if t.leagues++; t.leagues%t.quarter == 0 && t.leagues > 1 {
			for _, line := range t.lines() {
				t.note("%s", line)
			}
		}
	}
	return t.Progress.Append(l)
}

// mostTuned is how many edited players have a line while leagues are played.
const mostTuned = 3

// lines say for the edited players what their versions differ by so far.
func (t *tuning) lines() (lines []string) {
	r := t.both.Result(analysis.DefaultLevel)
	for _, p := range r.Players {
		if !p.CodeChanged || len(lines) == mostTuned {
			continue
		}
		e := p.Effects[0] // adjusted points
		text := "too few leagues to say"
		switch d := e.Difference; {
		case e.Verdict == analysis.Equal:
			text = "no difference yet"
		case d.Defined():
			text = words.Plain.Change(d, 1, words.Decimals(1, d), "adjusted points")
		}
		lines = append(lines, fmt.Sprintf("%s against its version before, %s: %s",
			words.Printable(p.Name), words.Plain.Plural(int64(r.Leagues[0]), "league"), text))
	}
	return lines
}
