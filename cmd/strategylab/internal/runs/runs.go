// Package runs holds the commands that play runs of leagues and study them.
package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/assert"
	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/experiments/cluster"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/script"
)

// Commands returns the commands that play runs of leagues and study them.
func Commands(p *command.Process) []*cli.Command {
	return command.Categorize("Experiments",
		experimentCommand(p),
		tuneCommand(p),
		mergeCommand(p),
		analyzeCommand(p),
		poolCommand(p),
		reportCommand(p),
		explainCommand(p),
		compareCommand(p),
		whatifCommand(p),
		populationCommand(p),
		exportCommand(p),
		replayCommand(p),
		matchCommand(p),
		powerCommand(p),
		calibrateCommand(p),
	)
}

// showOptions says how a run is shown, and what is tested of it.
type showOptions struct {
	assertOptions
	Format  string `flag:"format table|json|csv|markdown|latex" want:"one" usage:"output format"`
	Details bool   `flag:"details" usage:"show all columns, tiers, corrections, processes and the digest"`
}

// assertOptions are statements to test.
type assertOptions struct {
	Assert command.Texts `flag:"assert STATEMENT" usage:"statement to test, such as 'mine.adjusted > random.adjusted'; repeatable"`
}

// pageOptions says what the page of a run holds.
type pageOptions struct {
	NoReport bool `flag:"no-report" usage:"do not write report.html"`
	Plots    bool `flag:"plots" usage:"write the plots as SVG files, too"`
}

// page returns what the page of a run holds; nil for no page.
func (o *pageOptions) page() *lab.ReportOptions {
	if o.NoReport {
		return nil
	}
	return &lab.ReportOptions{Plots: o.Plots}
}

// output is where and how a command prints what a run shows.
type output struct {
	p      *command.Process
	c      *cli.Context
	shown  showOptions
	mine   []string  // the user's strategies: sources, or names of those without one
	beyond int       // strategies that the default field leaves out
	before string    // where create moves the run that it replaces; empty for none
	live   *livePage // nil without --web

	cluster *clusterOf // nil without --cluster
}

func newOutput(p *command.Process, c *cli.Context, format string) output {
	return output{p: p, c: c, shown: showOptions{Format: format}}
}

// note prints a line to stderr, unless --quiet is set.
func (o *output) note(format string, args ...any) {
	if !o.p.Quiet {
		o.p.Say(format, args...)
	}
}

func (o *output) warn(format string, args ...any) {
	o.note("strategylab: warning: "+format, args...)
}

// show prints what a run shows.
func (o *output) show(run *report.Document) error {
	switch o.shown.Format {
	case "json":
		return report.WriteJSON(o.p.Stdout, run)
	case "csv", string(report.Markdown), string(report.LaTeX):
		if lines := report.AssertionLines(run.Assertions); len(lines) > 0 {
			fmt.Fprintln(o.p.Stderr, strings.Join(lines, "\n"))
		}
		if o.shown.Format != "csv" {
			return report.WritePaper(o.p.Stdout, run, report.Markup(o.shown.Format))
		}
		var tested []string
		if run.Stopping.Ratio != nil {
			tested = run.Answer
		}
		for _, line := range slices.Concat(run.ConfirmationLines(), tested, run.StoppingLines()) {
			o.note("%s", line)
		}
		return report.WritePlayersCSV(o.p.Stdout, run)
	}
	return report.WriteTable(o.p.Stdout, run, o.screen())
}

// screen says how a run is shown on stdout.
func (o *output) screen() report.Screen {
	return report.Screen{
		Width: o.p.Out.Columns, Details: o.shown.Details, Colour: o.p.WantsColour(o.p.Out),
		Beyond: o.beyond,
	}
}

// standings says how the standings of a run are shown on stderr, and how many have a row.
func (o *output) standings() (report.Screen, int) {
	const others = 5 // lines: the head of the table, the decision, the bar
	return report.Screen{Width: o.p.Err.Columns - 1, Colour: o.p.WantsColour(o.p.Err)}, max(1, o.p.Err.Rows-others)
}

// codeOf finds the code that the run in a folder was played with, and notes where
// today's differs.
func (o *output) codeOf(cat *catalog.Catalog, folder string) *lab.Code {
	return &lab.Code{Lab: o.p.Lab, Catalog: cat, Folder: folder, Note: o.note}
}

// read computes what a recorded run shows, as r says.
func (o *output) read(dir string, level float64, r lab.Reading) (page.Input, error) {
	r.Op, r.Level, r.Judge = o.c.Command.Name, level, o.judge
	return o.p.Read(o.c.Context, dir, r)
}

// yours finds the strategies that --mine names in a recorded run.
func yours(mine string) func(results.Plan) ([]int, error) {
	return func(plan results.Plan) ([]int, error) {
		_, named, err := namedIn(plan, "mine", mine)
		return named, err
	}
}

// judge reads the assertions of the command line.
func (o *output) judge(plan results.Plan) (*assert.Judge, error) {
	j, err := assert.NewJudge(plan, o.shown.Assert, script.Nearest)
	var mistake *assert.Error
	if errors.As(err, &mistake) {
		return nil, command.Usagef("--assert: %w", err)
	}
	if err == nil && plan.Stop != nil && j.Estimated() {
		return nil, command.WithHint(errors.New("--assert: estimates cannot be tested, because a stopping rule ends this run and their intervals do not hold then"),
			"test counts only, or play a fixed number of leagues")
	}
	return j, err
}

// play plays the rest of the run in a folder, and closes the folder. s says how; play adds
// what all runs have in common. If a worker of a cluster is caught whose leagues are
// recorded, it removes and plays them again.
func (o *output) play(ctx context.Context, dir *results.Dir, out string, factories []strategies.Factory, s lab.Session) (*lab.Played, error) {
	const most = 16 // workers that are caught
	for n := 1; ; n++ {
		played, err := o.playOn(ctx, dir, out, factories, s)
		var caught *cluster.CaughtError
		if !errors.As(err, &caught) || ctx.Err() != nil {
			return played, err
		}
		if n == most {
			return nil, command.WithHint(err, "%d workers were caught; find out who starts them, and continue with --resume", n)
		}
		if dir, err = results.Open(o.p.Path(out)); err != nil {
			return nil, err
		}
	}
}

// playOn plays the rest of the run in a folder behind a progress bar, and closes the
// folder.
func (o *output) playOn(ctx context.Context, dir *results.Dir, out string, factories []strategies.Factory, s lab.Session) (_ *lab.Played, err error) {
	plan := dir.Plan()
	judge, err := o.judge(plan)
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	if err := o.cluster.session(ctx, o.p.Path(out), &s); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	if s.Ledger, err = s.Cluster.Ledger(dir, o.p.Path(out), o.note); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	defer func() { err = errors.Join(err, s.Ledger.Close()) }()
	o.p.Stage.Set("computing what the complete leagues show")
	o.p.ForBatch()
	progress := o.p.StartProgress(dir.Len(), plan.Runs, plan.Stop != nil)
	screen, rows := o.standings()
	s.Lab, s.Judge, s.Seen, s.Yours = o.p.Lab, judge, progress, subjects(plan, o.mine)
	tuned, err := o.follow(plan, o.before, progress)
	if err != nil {
		progress.Stop()
		return nil, errors.Join(err, dir.Close())
	}
	if tuned != nil {
		defer tuned.end()
		s.Seen, s.Former, rows = tuned, o.p.Path(o.before), max(1, rows-mostTuned)
	}
	s.Watch = func(so lab.Sofar) {
		if progress.Wanted() {
			now, more := so.Progress(), o.cluster.lines()
			if tuned != nil {
				more = append(more, tuned.lines()...)
			}
			progress.Renew(func() []string { return append(now.Lines(screen, rows), more...) })
		}
		if o.live != nil {
			o.live.follow(so)
		}
	}
	played, err := s.Play(ctx, dir, o.p.Path(out), factories)
	progress.Stop()
	if err != nil {
		return nil, err
	}
	if !played.Interrupted {
		o.cluster.ended(o.p.Path(out))
	}
	if played.Kept > 0 {
		o.note("%s of %s are those of the run before: the edited strategies chose the same in them",
			words.Plain.Plural(int64(played.Kept), "league"), words.Plain.Count(int64(played.Run.Estimates.Leagues)))
	}
	if played.Interrupted && played.Run.Estimates.Leagues == 0 {
		o.note("stopped before a league was complete")
		return nil, command.Reported(command.ErrStopped)
	}
	return played, nil
}

// verdictOn turns the assertions of a run into the command's outcome. The output
// has explained each.
func verdictOn(run *report.Document) error {
	have := func(v assert.Verdict) bool {
		return slices.ContainsFunc(run.Assertions, func(o assert.Outcome) bool { return o.Verdict == v })
	}
	switch {
	case have(assert.Refuted):
		return command.Reported(command.ErrRefuted)
	case have(assert.Undecided):
		return command.Reported(command.ErrUndecided)
	}
	return nil
}

// withoutVerdict drops the outcome of [verdictOn], which does not end a watch.
func withoutVerdict(err error) error {
	if errors.Is(err, command.ErrRefuted) || errors.Is(err, command.ErrUndecided) {
		return nil
	}
	return err
}
