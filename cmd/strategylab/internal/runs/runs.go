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
	return command.Categorize("Experiments", slices.Concat(playing(p), studying(p))...)
}

func playing(p *command.Process) []*cli.Command {
	return []*cli.Command{
		command.New(p, &cli.Command{
			Name: "experiment", Usage: "play many leagues and rank the strategies",
			Description: "Plays --runs leagues among the strategies of --field and prints a ranking with intervals. Each league\n" +
				"is a round robin of --legs legs with newly drawn seats. The results stay in --out: --resume continues\n" +
				"or extends the run, 'analyze' and 'report' read it, and 'replay' shows a single match.\n\n" +
				"--field takes names, paths, copies (random*3) and groups: classics (built-in strategies for a first look),\n" +
				"mine (what --mine names, or what changed since the last run beside --out), scripts (of the folder), plugins\n" +
				"(built or locked ones, and the program's own), builtins, and all. A group leaves out what the field names otherwise.",
		}, new(experimentOptions), playExperiment),
		command.New(p, &cli.Command{
			Name: "tune", ArgsUsage: command.ValueStrategy, Usage: "search for the best parameters of a strategy",
			Description: "Plays the strategy with many values of its parameters against the strategies of --against, the same\n" +
				"leagues with all values, until --runs leagues are over. Then it compares the best values with the\n" +
				"present ones in up to --confirm fresh leagues, and says what that shows. --against may be repeated:\n" +
				"the score is then the mean over these fields, or that in the worst.",
		}, new(tuneOptions), tuneStrategy, command.Rest),
		command.New(p, &cli.Command{
			Name: "merge", ArgsUsage: "DIR...", Usage: "make one run of the shards of 'experiment --shard'",
			Description: "Reads the folders of all shards of a run and writes the run that one machine would have written to --out.\n" +
				"It refuses shards that are missing, incomplete, doubled or of another plan. Leagues of a shard that could not\n" +
				"foresee a quarantine are replayed, which takes the strategies of the field.",
		}, new(mergeOptions), merge, "DIR", command.Rest),
	}
}

func studying(p *command.Process) []*cli.Command {
	return []*cli.Command{
		command.New(p, &cli.Command{
			Name: "analyze", ArgsUsage: "DIR", Usage: "analyze a recorded run without replaying it",
			Description: "Reads the leagues in the folder of a run and prints what 'experiment' prints. It needs no strategies.\n" +
				"Of a run that is still playing it reads the leagues recorded so far.",
		}, new(analyzeOptions), analyze, "DIR"),
		command.New(p, &cli.Command{
			Name: "pool", ArgsUsage: "DIR DIR...", Usage: "analyze runs of one plan with different seeds together",
			Description: "Reads the leagues in the folders of runs that differ in nothing but their seeds, and prints what one run of all\n" +
				"these leagues would print.",
		}, new(analyzeOptions), analyze, "DIR", command.Rest),
		command.New(p, &cli.Command{
			Name: "report", ArgsUsage: "DIR", Usage: "write a run's report: HTML, or for a paper",
			Description: "Reads the leagues in the folder of a run and writes " + page.File + " there, as 'experiment' does at its\n" +
				"end, or for a paper the ranking, the pairs and the methods as " + report.Markdown.File() + " or " + report.LaTeX.File() + ". It needs no\n" +
				"strategies.",
		}, new(reportOptions), writeReport, "DIR"),
		command.New(p, &cli.Command{
			Name: "explain", ArgsUsage: "DIR [PLAYER...]", Usage: "explain the scores of a run's strategies",
			Description: "Reads the leagues in the folder of a run and prints how predictable each strategy is, how well it could\n" +
				"have predicted its opponents, whom it differs from most, and whether it learns over the legs.",
		}, new(studyOptions), explainRun, "DIR", command.Rest),
		command.New(p, &cli.Command{
			Name: "compare", ArgsUsage: "DIR1 DIR2", Usage: "compare two runs: what changed, and is it significant",
			Description: "Compares the strategies of two runs by name: league by league if the runs have the same seed, else as\n" +
				"independent samples. All differences are adjusted for their number.",
		}, new(compareOptions), compare, "DIR1", "DIR2"),
		command.New(p, &cli.Command{
			Name: "whatif", ArgsUsage: "DIR", Usage: "replay a run with one strategy swapped",
			Description: "Replays the recorded leagues with the same seats, draws and coins, and prints how the swap changes every\n" +
				"player, the others included: strategies that learn pass changes on. The new leagues stay in --out.",
		}, new(whatifOptions), whatif, "DIR"),
		command.New(p, &cli.Command{
			Name: "population", ArgsUsage: "DIR", Usage: "model a run's strategies as an evolving population",
			Description: "Reads the leagues in the folder of a run and prints the payoff of each strategy against each other and\n" +
				"its own copy, where replicator dynamics lead, alpha-rank, which strategy invades which, and the Borda\n" +
				"count.",
		}, new(studyOptions), showPopulation, "DIR"),
		command.New(p, &cli.Command{
			Name: "export", ArgsUsage: "DIR", Usage: "export a run's leagues, pairs or matches for pandas, polars or R",
		}, new(exportOptions), exportRun, "DIR"),
		command.New(p, &cli.Command{
			Name: "replay", ArgsUsage: "DIR", Usage: "replay one match of a run with the scripts' output",
			Description: "Replays the match of --league and --match. --faults lists the matches in which strategies failed, and\n" +
				"--player NAME --lost those that a strategy lost, each with the command that replays it; --nth N replays\n" +
				"one of them and says how to go to the previous and to the next.",
		}, new(replayOptions), replay, "DIR"),
		command.New(p, &cli.Command{
			Name: "match", ArgsUsage: command.ValueStrategy + " " + command.ValueStrategy, Usage: "play two strategies against each other",
			Description: "Plays --matches matches in series of --legs, within which both strategies remember, and prints how often\n" +
				"their choices differ. With a fair draw neither can beat the other.",
		}, new(matchOptions), match, "the first strategy", "the second strategy"),
		command.New(p, &cli.Command{
			Name: "power", Usage: "compute how many leagues detect a difference",
			Description: "Computes from the rules of the game, with a fair draw, how many leagues an experiment needs so that a\n" +
				"player with an edge ends up alone in the first tier, or which edge --runs leagues detect. --delta is the edge\n" +
				"in adjusted points per match, as the table and --sprt have them; --effect is how much more often its\n" +
				"choices differ from each opponent's than the other players' choices do.",
		}, new(powerOptions), planPower),
		command.New(p, &cli.Command{
			Name: "calibrate", ArgsUsage: "[DIR]", Usage: "measure the lab's own error rates",
			Description: "Plays whole experiments among players whose true values are known and compares promise and result: how\n" +
				"often intervals cover the truth and how wide they are, how often equal players seem different, how often\n" +
				"a better one is found. With DIR, experiments are as the run in that folder: as many players, legs and\n" +
				"leagues, and the same draw. docs/calibration.md has what the authors have measured.",
		}, new(calibrateOptions), calibrate, "[DIR]"),
	}
}

type showOptions struct {
	assertOptions
	Format  string `flag:"format table|json|csv|markdown|latex" want:"one" usage:"output format"`
	Details bool   `flag:"details" usage:"show all columns, tiers, corrections, processes and the digest"`
}

type assertOptions struct {
	Assert command.Texts `flag:"assert STATEMENT" usage:"statement to test, such as 'mine.adjusted > random.adjusted'; repeatable"`
}

// pageOptions says what the page of a run holds.
type pageOptions struct {
	NoReport bool `flag:"no-report" usage:"do not write report.html"`
	Plots    bool `flag:"plots" usage:"write the plots as SVG files, too"`
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
			o.p.Note("%s", line)
		}
		return report.WritePlayersCSV(o.p.Stdout, run)
	}
	return report.WriteTable(o.p.Stdout, run, report.Screen{
		Width: o.p.Out.Columns, Details: o.shown.Details, Colour: o.p.WantsColour(o.p.Out), Beyond: o.beyond,
	})
}

// standings says how the standings of a run are shown on stderr, and how many have a row.
func (o *output) standings() (report.Screen, int) {
	const others = 5 // lines: the head of the table, the decision, the bar
	return report.Screen{Width: o.p.Err.Columns - 1, Colour: o.p.WantsColour(o.p.Err)}, max(1, o.p.Err.Rows-others)
}

// codeOf finds the code that the run in a folder was played with, and notes where
// today's differs.
func (o *output) codeOf(cat *catalog.Catalog, folder string) *lab.Code {
	return &lab.Code{Lab: o.p.Lab, Catalog: cat, Folder: folder, Note: o.p.Note}
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

func (o *output) judge(plan results.Plan) (*assert.Judge, error) {
	j, err := assert.NewJudge(plan, o.shown.Assert, script.Nearest)
	var mistake assert.Error
	if errors.As(err, &mistake) {
		return nil, command.Usagef("--assert: %w", err)
	}
	if err == nil && plan.Stop != nil && j.Estimates > 0 {
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
	if s.Ledger, err = s.Cluster.Ledger(dir, o.p.Path(out), o.p.Note); err != nil {
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
		o.p.Note("%s of %s are those of the run before: the edited strategies chose the same in them",
			words.Plain.Plural(int64(played.Kept), "league"), words.Plain.Count(int64(played.Run.Estimates.Leagues)))
	}
	if played.Interrupted && played.Run.Estimates.Leagues == 0 {
		o.p.Note("stopped before a league was complete")
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
