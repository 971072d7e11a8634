package runs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

const (
	flagNoReport = "no-report"
	flagPlots    = "plots"
	flagResume   = "resume"
	flagWatch    = "watch"
	flagWeb      = "web"
	flagConfirm  = "confirm"

	flagTransport = "transport"
)

func experimentCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name:  "experiment",
		Usage: "play many leagues and rank the strategies",
		Description: "Plays --runs leagues among the strategies of --field and prints a ranking with intervals. Each league\n" +
			"is a round robin of --legs legs with newly drawn seats. The results stay in --out: --resume continues\n" +
			"or extends the run, 'analyze' and 'report' read it, and 'replay' shows a single match.\n\n" +
			"--field takes names, paths, copies (random*3) and groups: classics (built-in strategies for a first look),\n" +
			"mine (what --mine names, or what changed since the last run beside --out), scripts (of the folder), plugins\n" +
			"(built or locked ones, and the program's own), builtins, and all. A group leaves out what the field names otherwise.",
		Flags: append([]cli.Flag{
			&cli.IntFlag{Name: command.FlagRuns, Value: 1000, Usage: "leagues to play", Action: command.AtLeast(command.FlagRuns, 1)},
			&cli.IntFlag{Name: command.FlagLegs, Value: game.DefaultLegs, Usage: "matches of each pair in a league", Action: command.AtLeast(command.FlagLegs, 1)},
			command.SeedFlag(),
			&cli.StringFlag{Name: command.FlagField, Usage: "`STRATEGIES`: strategies and groups, such as classics,mine,random*2", DefaultText: firstLookText()},
			mineFlag("what changed since the last run"),
			&cli.StringFlag{Name: flagWithout, Usage: "`STRATEGIES`: strategies to leave out of the field, with copies"},
			experimentWorkersFlag(),
			command.DrawFlag(),
			command.Choice(flagTransport, "direct", "direct calls, or agents' messages over loopback or http", "direct", "loopback", "http"),
			&cli.StringFlag{Name: command.FlagOut, Usage: "`DIR`: folder for the results", DefaultText: "runs/TIME-SEED"},
			&cli.StringFlag{Name: flagResume, Usage: "`DIR`: run folder, or name on the cluster, to continue"},
			shardFlag(),
			recordsFlag(),
			&cli.BoolFlag{Name: flagWeb, Usage: "serve a page of the run, and then its report"},
			&cli.StringFlag{Name: command.FlagListen, Value: "127.0.0.1:0", Usage: "`HOST:PORT`: where --web serves; port 0 picks a free one"},
			&cli.BoolFlag{Name: flagWatch, Usage: "rerun whenever a script of the field changes"},
			&cli.BoolFlag{Name: flagConfirm, Usage: "then play a fresh seed, and report only that"},
			command.FormatFlag("table", "json", "csv"),
			assertFlag(),
			&cli.BoolFlag{Name: flagNoReport, Usage: "do not write report.html"},
			plotsFlag(),
			command.DetailsFlag(),
			command.IsolateFlag(false), command.InProcessFlag(),
		}, slices.Concat(untilFlags(), clusterFlags(), command.AgentFlags())...),
		Action: command.Action(p, playExperiment),
	}
}

func playExperiment(p *command.Process, c *cli.Context) error {
	e, err := newExperiment(p, c)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(c.Context)
	defer stop()
	if e.cluster != nil {
		e.cluster.lost = func(err error) {
			p.Say("strategylab: %v; what is complete is kept", err)
			stop()
		}
	}
	if c.Bool(flagWeb) {
		err = e.shown(ctx)
	} else {
		err = e.run(ctx)
	}
	return errors.Join(err, e.cluster.close())
}

// run plays the experiment as the flags say.
func (e *experimentRun) run(ctx context.Context) error {
	switch {
	case e.c.IsSet(flagResume):
		return e.resume(ctx)
	case e.c.Bool(flagWatch):
		return e.watch(ctx)
	default:
		return e.fresh(ctx)
	}
}

// experimentRun is one experiment as the flags describe it.
type experimentRun struct {
	output
	seed    uint64
	draw    game.Draw
	refs    []catalog.Ref // of --field; none for the default field
	stop    stopFlags
	workers int
	page    *lab.ReportOptions // nil for no report
	shard   share
	records string // results.RecordsNone, or empty
	again   string // the command that continues the run; empty for experiment --resume
}

func newExperiment(p *command.Process, c *cli.Context) (*experimentRun, error) {
	e := &experimentRun{output: newOutput(p, c), workers: c.Int(command.FlagWorkers), draw: command.Draw(c)}
	var err error
	e.page = e.reportOptions()
	if c.IsSet(command.FlagListen) && !c.Bool(flagWeb) {
		return nil, command.WithHint(command.Usagef("--%s is the address of the page of --%s, which is missing", command.FlagListen, flagWeb),
			"add --%s, or leave --%s out", flagWeb, command.FlagListen)
	}
	if err := errors.Join(e.onlyConfirm(), e.readCluster()); err != nil {
		return nil, err
	}
	if e.refs, err = catalog.ParseRefs(c.String(command.FlagField)); err != nil {
		return nil, command.Usagef("--%s: %w", command.FlagField, err)
	}
	if c.IsSet(flagResume) {
		return e, e.onlyWithResume()
	}
	if e.shard, err = readShard(c); err != nil {
		return nil, err
	}
	if err := e.readRecords(); err != nil {
		return nil, err
	}
	if e.stop, err = readStop(c); err != nil {
		return nil, err
	}
	e.seed, err = command.Seed(p, c)
	return e, err
}

// onlyWithResume refuses flags that would change the plan of a resumed run.
func (e *experimentRun) onlyWithResume() error {
	for _, flag := range []string{command.FlagLegs, command.FlagSeed, command.FlagField, flagWithout, command.FlagDraw, flagTransport, command.FlagOut, flagWatch, flagUntil, flagGuarantee, flagMargin, flagSPRT, flagShard, flagRecords} {
		if e.c.IsSet(flag) {
			return command.Usagef("--%s cannot be used with --%s: the plan of %s fixes it", flag, flagResume, e.c.String(flagResume))
		}
	}
	return nil
}

// out returns the folder of a new run.
func (e *experimentRun) out() string {
	if out := e.c.String(command.FlagOut); out != "" {
		return out
	}
	if e.shard.of > 0 {
		return filepath.Join("runs", fmt.Sprintf("shard-%d", e.shard.number))
	}
	return filepath.Join("runs", fmt.Sprintf("%s-%d", e.p.Now().Format("20060102-150405"), e.seed))
}

// plan returns the plan of a new run with a field.
func (e *experimentRun) plan(field catalog.Field) (results.Plan, error) {
	plan := results.Plan{
		Schema: results.PlanSchema, Runs: e.stop.runs, Legs: e.c.Int(command.FlagLegs),
		Seed: e.seed, Draw: e.draw.String(), Transport: e.c.String(flagTransport), Records: e.records,
	}
	for _, f := range field.Players {
		plan.Field = append(plan.Field, results.Entrant{
			Name: f.Name, Kind: string(f.Info.Kind), Ref: f.Target, Source: f.Info.Source, Fingerprint: f.Info.Fingerprint,
		})
	}
	if len(plan.Field) < game.MinPlayers {
		return plan, command.WithHint(fmt.Errorf("a league needs %d players, but the field has %d", game.MinPlayers, len(plan.Field)),
			"add strategies to --%s, for example --%s random,markov-2 or --%s 'random*4'", command.FlagField, command.FlagField, command.FlagField)
	}
	if err := plan.Validate(); err != nil {
		return plan, command.Usagef("%w", err)
	}
	return plan, e.stopRule(&plan, field)
}

// fresh plays a new experiment.
func (e *experimentRun) fresh(ctx context.Context) error {
	_, _, err := e.once(ctx, e.out())
	return err
}

// freshWith plays a new experiment with a field.
func (e *experimentRun) freshWith(ctx context.Context, field catalog.Field, out string) (*report.Document, error) {
	for _, w := range command.Few(field.Warnings) {
		e.note("strategylab: warning: %s", w)
	}
	command.WarnOfSlips(e.p, e.c, field.Players, false)
	plan, err := e.plan(field)
	if err != nil {
		return nil, err
	}
	if _, err := e.judge(plan); err != nil {
		return nil, err // before the folder exists
	}
	factories := make([]strategies.Factory, len(field.Players))
	for i, f := range field.Players {
		factories[i] = f.Factory
	}
	if err := lab.Fits(ctx, plan, factories); err != nil {
		return nil, err
	}
	if e.shard.of > 0 {
		return nil, e.playShard(ctx, plan, out, factories)
	}
	if err := e.cluster.ready(ctx, ""); err != nil {
		return nil, err
	}
	advice := "strategylab experiment --resume " + words.ShellWord(out)
	if e.records == results.RecordsNone {
		advice = "write to another folder with --" + command.FlagOut
	}
	e.extends(&plan, out)
	dir, out, err := e.createFree(out, plan, advice)
	if err != nil {
		return nil, err
	}
	e.note("playing %s", planned(plan))
	if n := plan.Legs * len(plan.Field) * (len(plan.Field) - 1) / 2; n >= longLeague {
		e.note("a league of this field has %s matches, and counts when it is complete", words.Plain.Count(int64(n)))
	}
	return e.finish(ctx, dir, out, factories)
}

// longLeague is the number of matches of a league that takes seconds.
const longLeague = 50_000

// planned says what a run plays.
func planned(plan results.Plan) string {
	return fmt.Sprintf("%s of %s, %s, seed %d", howMany(plan), words.Plain.Plural(int64(len(plan.Field)), "strategy"),
		words.Plain.Plural(int64(plan.Legs), "leg"), plan.Seed)
}

// resume continues the run in a folder.
func (e *experimentRun) resume(ctx context.Context) error {
	out, err := e.cluster.adopt(ctx, e.c.String(flagResume))
	if err != nil {
		return err
	}
	dir, err := results.Open(e.p.Path(out))
	if err != nil {
		return lab.ReadError("resume", out, err)
	}
	closeDir := true
	defer func() {
		if closeDir {
			_ = dir.Close() // the earlier error is the one to report
		}
	}()
	if tear := dir.Repaired(); tear != nil {
		e.note("strategylab: warning: %v", tear)
	}
	if err := e.extend(dir); err != nil {
		return err
	}
	plan := dir.Plan()
	if plan.Shard != nil {
		err = onlyWithShard(e.c)
	}
	if err != nil {
		return err
	}
	if e.mine, err = namedMine(e.c, plan); err != nil {
		return err
	}
	cat, err := command.LoadCatalog(ctx, e.p, e.c)
	if err != nil {
		return err
	}
	defer cat.Close()
	factories, err := e.codeOf(cat, out).All(ctx, plan)
	if err != nil {
		return fmt.Errorf("resume %s: %w", out, err)
	}
	e.note("resuming after %d of %s", dir.Len(), planned(plan))
	closeDir = false // finish closes it
	if plan.Shard != nil {
		return e.finishShard(ctx, dir, out, factories)
	}
	_, err = e.finish(ctx, dir, out, factories)
	return err
}

// mostOnPage is the largest field that gets a page: what the page computes and shows of
// pairs takes seconds there, and minutes for twice as many.
const mostOnPage = 200

// finish plays the rest of the run in a folder, closes the folder and prints what
// the whole run shows, or what confirms it.
func (e *experimentRun) finish(ctx context.Context, dir *results.Dir, out string, factories []strategies.Factory) (*report.Document, error) {
	if n := len(dir.Plan().Field); n > mostOnPage && e.page != nil {
		e.page = nil
		e.note("no report.html: it compares at most %d strategies, and this field has %d", mostOnPage, n)
	}
	if !e.c.Bool(flagConfirm) || dir.Plan().Confirms != nil {
		return e.playOut(ctx, dir, out, factories, lab.Session{})
	}
	if err := e.unconfirmed(out); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	played, err := e.play(ctx, dir, out, factories, lab.Session{Workers: e.workers, Report: e.page})
	if err != nil {
		return nil, err
	}
	if err := played.WritePage(ctx); err != nil {
		return nil, err
	}
	played.Run.Folder = out
	if played.Interrupted {
		return played.Document, e.stopped(played.Document, confirmCommand(out))
	}
	return e.confirm(ctx, played.Document, factories)
}

// playOut plays the rest of the run in a folder, as s says, closes the folder and prints
// what the whole run shows.
func (e *experimentRun) playOut(ctx context.Context, dir *results.Dir, out string, factories []strategies.Factory, s lab.Session) (*report.Document, error) {
	s.Workers, s.Report = e.workers, e.page
	played, err := e.play(ctx, dir, out, factories, s)
	if err != nil {
		return nil, err
	}
	return e.present(ctx, out, played)
}

// present prints what the run in a folder shows, and writes its page.
func (e *experimentRun) present(ctx context.Context, out string, played *lab.Played) (*report.Document, error) {
	run := played.Document
	run.Folder = out
	if e.format == "csv" {
		if err := writePairs(e.p.Path(out), run); err != nil {
			return nil, err
		}
	}
	err := e.show(run)
	e.p.Stage.Set("writing the report")
	if err = errors.Join(err, played.WritePage(ctx)); err != nil {
		return nil, err
	}
	if e.live != nil && !played.Interrupted {
		if err := e.live.finish(ctx, &e.output, out, played.Input); err != nil {
			return nil, err
		}
	}
	if e.format == "csv" { // CSV has no place for them
		for _, p := range run.Facts.Processes {
			e.note("%s", p)
		}
	}
	if played.Interrupted {
		return run, e.stopped(run, cmp.Or(e.again, "strategylab experiment --resume "+words.ShellWord(out)+e.live.again()))
	}
	where := "results in " + out
	if e.page != nil {
		where += ", report in " + filepath.Join(out, page.File)
	}
	e.note("%s; to repeat it: --seed %d", where, run.Run.Plan.Seed)
	return run, verdictOn(run)
}

// stopped says how an interrupted run continues.
func (e *experimentRun) stopped(run *report.Document, again string) error {
	if run.Run.Plan.Records == results.RecordsNone {
		e.note("stopped after %d of %s; without records it cannot be continued, only started again", run.Estimates.Leagues, words.Plain.Plural(int64(run.Run.Plan.Runs), "league"))
		return command.Reported(command.ErrStopped)
	}
	e.note("stopped after %d of %s; continue with: %s", run.Estimates.Leagues, words.Plain.Plural(int64(run.Run.Plan.Runs), "league"), again)
	return command.Reported(command.ErrStopped)
}

// writePairs writes the pairs of players into the folder of a run.
func writePairs(dir string, run *report.Document) error {
	var pairs bytes.Buffer
	if err := report.WritePairsCSV(&pairs, run); err != nil {
		return err
	}
	return disk.WriteFile(filepath.Join(dir, "pairs.csv"), pairs.Bytes(), 0o644)
}
