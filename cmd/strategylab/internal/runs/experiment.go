package runs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

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

type experimentOptions struct {
	Runs int `flag:"runs" default:"1000" want:"1.." usage:"leagues to play"`
	Legs int `flag:"legs" default:"10" want:"1.." usage:"matches of each pair in a league"`
	command.Seeding
	command.Drawing
	Field     string `flag:"field STRATEGIES" text:"classics,scripts,plugins" usage:"strategies and groups, such as classics,mine,random*2"`
	Mine      string `flag:"mine STRATEGIES" text:"what changed since the last run" usage:"your strategies, which the answer is about"`
	Without   string `flag:"without STRATEGIES" usage:"strategies to leave out of the field, with copies"`
	Transport string `flag:"transport direct|loopback|http" want:"one" usage:"direct calls, or agents' messages over loopback or http"`
	Out       string `flag:"out DIR" text:"runs/TIME-SEED" usage:"folder for the results"`
	Resume    string `flag:"resume DIR" usage:"run folder, or name on the cluster, to continue"`
	Shard     string `flag:"shard K/N" usage:"play only this part of the leagues, for 'merge'"`
	Records   string `flag:"records all|none" want:"one" usage:"keep every league, or sums only"`
	Web       bool   `flag:"web" usage:"serve a page of the run, and then its report"`
	Listen    string `flag:"listen HOST:PORT" default:"127.0.0.1:0" usage:"where --web serves; port 0 picks a free one"`
	Watch     bool   `flag:"watch" usage:"rerun whenever a script of the field changes"`
	Confirm   bool   `flag:"confirm" usage:"then play a fresh seed, and report only that"`
	stopOptions
	showOptions
	pageOptions
	clusterOptions
	command.Isolation
	command.Agents
}

func playExperiment(p *command.Process, c *cli.Context, o *experimentOptions) error {
	e, err := newExperiment(p, c, o)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(c.Context)
	defer stop()
	e.cluster.stopWith(stop)
	if o.Web {
		err = e.served(ctx)
	} else {
		err = e.run(ctx)
	}
	return errors.Join(err, e.cluster.close())
}

func (e *experimentRun) run(ctx context.Context) error {
	switch {
	case e.c.IsSet("resume"):
		return e.resume(ctx)
	case e.opt.Watch:
		return e.watch(ctx)
	default:
		_, _, err := e.once(ctx, e.out())
		return err
	}
}

// experimentRun is one experiment as the flags describe it.
type experimentRun struct {
	output
	opt     *experimentOptions // nil for a merge
	seed    uint64
	refs    []catalog.Ref // of --field; none for the default field
	runs    int           // leagues at most
	stop    *results.Stop // nil without a stopping rule
	workers int
	page    pageOptions
	shard   results.Shard // of --shard; zero without it
	records string        // results.RecordsNone, or empty
	again   string        // the command that continues the run; empty for experiment --resume
}

func newExperiment(p *command.Process, c *cli.Context, o *experimentOptions) (*experimentRun, error) {
	e := &experimentRun{output: newOutput(p, c, o.Format), opt: o, workers: o.Workers}
	e.shown, e.page = o.showOptions, o.pageOptions
	var err error
	if e.cluster, err = e.clusterFor(o.clusterOptions, o.Isolation); err != nil {
		return nil, err
	}
	if e.refs, err = catalog.ParseRefs(o.Field); err != nil {
		return nil, command.Usagef("--field: %w", err)
	}
	if c.IsSet("resume") {
		return e, nil
	}
	if c.IsSet("shard") {
		if e.shard, err = parseShard(o.Shard); err != nil {
			return nil, err
		}
	}
	if o.Records == results.RecordsNone {
		e.records, e.page.NoReport = o.Records, true // such a run has no page
	}
	if e.runs, e.stop, err = o.stop(c, o.Runs); err != nil {
		return nil, err
	}
	e.seed, err = o.Seed(p)
	return e, err
}

func (e *experimentRun) out() string {
	if e.opt.Out != "" {
		return e.opt.Out
	}
	if e.shard.Of > 0 {
		return filepath.Join("runs", fmt.Sprintf("shard-%d", e.shard.Number))
	}
	return filepath.Join("runs", fmt.Sprintf("%s-%d", e.p.Now().Format("20060102-150405"), e.seed))
}

func (e *experimentRun) plan(field catalog.Field) (results.Plan, error) {
	plan := results.Plan{
		Schema: results.PlanSchema, Runs: e.runs, Legs: e.opt.Legs,
		Seed: e.seed, Draw: e.opt.Draw().String(), Transport: e.opt.Transport, Records: e.records,
	}
	for _, f := range field.Players {
		plan.Field = append(plan.Field, results.Entrant{
			Name: f.Name, Kind: string(f.Info.Kind), Ref: f.Target, Source: f.Info.Source, Fingerprint: f.Info.Fingerprint,
		})
	}
	if len(plan.Field) < game.MinPlayers {
		return plan, command.WithHint(fmt.Errorf("a league needs %d players, but the field has %d", game.MinPlayers, len(plan.Field)),
			"add strategies to --field, for example --field random,markov-2 or --field 'random*4'")
	}
	if err := plan.Validate(); err != nil {
		return plan, command.Usagef("%w", err)
	}
	return plan, e.stopRule(&plan, field)
}

// freshWith plays a new experiment with a field.
func (e *experimentRun) freshWith(ctx context.Context, field catalog.Field, out string) (*report.Document, error) {
	for _, w := range command.Few(field.Warnings) {
		e.p.Note("strategylab: warning: %s", w)
	}
	e.p.WarnOfSlips(e.c, field.Players, false)
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
	if e.shard.Of > 0 {
		return nil, e.playShard(ctx, plan, out, factories)
	}
	if err := e.cluster.ready(ctx, ""); err != nil {
		return nil, err
	}
	advice := "strategylab experiment --resume " + words.ShellWord(out)
	if e.records == results.RecordsNone {
		advice = "write to another folder with --out"
	}
	e.extends(&plan, out)
	dir, out, err := e.createFree(out, plan, advice)
	if err != nil {
		return nil, err
	}
	e.p.Note("playing %s", planned(plan))
	if n := plan.Legs * len(plan.Field) * (len(plan.Field) - 1) / 2; n >= longLeague {
		e.p.Note("a league of this field has %s matches, and counts when it is complete", words.Plain.Count(int64(n)))
	}
	return e.finish(ctx, dir, out, factories)
}

// longLeague is the number of matches of a league that takes seconds.
const longLeague = 50_000

func planned(plan results.Plan) string {
	return fmt.Sprintf("%s of %s, %s, seed %d", howMany(plan), words.Plain.Plural(int64(len(plan.Field)), "strategy"),
		words.Plain.Plural(int64(plan.Legs), "leg"), plan.Seed)
}

// leaguesOf says how many leagues of how many there are: "29 of 1,000 leagues".
func leaguesOf(some, all int) string {
	return words.Plain.Count(int64(some)) + " of " + words.Plain.Plural(int64(all), "league")
}

func (e *experimentRun) resume(ctx context.Context) error {
	out, err := e.cluster.adopt(ctx, e.opt.Resume)
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
		e.p.Note("strategylab: warning: %v", tear)
	}
	if err := e.extend(dir); err != nil {
		return err
	}
	plan := dir.Plan()
	if plan.Shard != nil {
		if err := command.Refuse(e.c, "shard"); err != nil {
			return err
		}
	}
	if e.mine, _, err = namedIn(plan, "mine", e.opt.Mine); err != nil {
		return err
	}
	cat, err := e.load(ctx)
	if err != nil {
		return err
	}
	defer cat.Close()
	factories, err := e.codeOf(cat, out).All(ctx, plan)
	if err != nil {
		return fmt.Errorf("resume %s: %w", out, err)
	}
	e.p.Note("resuming after %s of %s", words.Plain.Count(int64(dir.Len())), planned(plan))
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
	if n := len(dir.Plan().Field); n > mostOnPage && !e.page.NoReport {
		e.page.NoReport = true
		e.p.Note("no report.html: it compares at most %d strategies, and this field has %d", mostOnPage, n)
	}
	if !e.opt.Confirm || dir.Plan().Confirms != nil {
		return e.playOut(ctx, dir, out, factories, lab.Session{})
	}
	if err := e.unconfirmed(out); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	played, err := e.play(ctx, dir, out, factories, lab.Session{Workers: e.workers, Report: !e.page.NoReport, Plots: e.page.Plots})
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
	s.Workers, s.Report, s.Plots = e.workers, !e.page.NoReport, e.page.Plots
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
	if e.shown.Format == "csv" {
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
		if err := e.live.finish(ctx, e, out, played.Input); err != nil {
			return nil, err
		}
	}
	if e.shown.Format == "csv" { // CSV has no place for them
		for _, line := range words.Plain.Say("processes", run.Facts.Processes) {
			e.p.Note("%s", line)
		}
	}
	if played.Interrupted {
		return run, e.stopped(run, cmp.Or(e.again, "strategylab experiment --resume "+words.ShellWord(out)+e.live.again()))
	}
	where := "results in " + out
	if !e.page.NoReport {
		where += ", report in " + filepath.Join(out, page.File)
	}
	e.p.Note("%s; to repeat it: --seed %d", where, run.Run.Plan.Seed)
	return run, verdictOn(run)
}

// stopped says how an interrupted run continues.
func (e *experimentRun) stopped(run *report.Document, again string) error {
	next := "continue with: " + again
	if run.Run.Plan.Records == results.RecordsNone {
		next = "without records it cannot be continued, only started again"
	}
	e.p.Note("stopped after %s; %s", leaguesOf(run.Estimates.Leagues, run.Run.Plan.Runs), next)
	return command.Reported(command.ErrStopped)
}

func writePairs(dir string, run *report.Document) error {
	var pairs bytes.Buffer
	if err := report.WritePairsCSV(&pairs, run); err != nil {
		return err
	}
	return disk.WriteFile(filepath.Join(dir, "pairs.csv"), pairs.Bytes(), 0o644)
}

// confirmation is the folder of the leagues that confirm the run in a folder.
func confirmation(out string) string { return out + "-confirm" }

// confirmCommand plays the leagues that confirm the run in a folder.
func confirmCommand(out string) string {
	return "strategylab experiment --resume " + words.ShellWord(out) + " --confirm"
}

// confirm plays the plan of a complete run again with a fresh seed, and prints what that
// shows, and nothing of the run before: its numbers may have decided which strategies
// play, and how they are tuned. There is one confirmation of a run, since confirming
// until it succeeds would be choosing, too.
func (e *experimentRun) confirm(ctx context.Context, before *report.Document, factories []strategies.Factory) (*report.Document, error) {
	plan, out := before.Run.Plan, confirmation(before.Folder)
	plan.Looks, plan.Confirms = nil, &results.Confirms{Seed: plan.Seed}
	if est := &before.Estimates; est.Leagues > 1 && !est.NothingToRank() {
		plan.Confirms.First = est.Players[est.Order[0]].Name
	}
	var err error
	if plan.Seed, err = e.p.Seed(); err != nil {
		return nil, err
	}
	dir, err := e.create(out, plan, "")
	if err != nil {
		return nil, err
	}
	e.p.Note("results in %s; confirming them: %s", before.Folder, planned(plan))
	return e.playOut(ctx, dir, out, factories, lab.Session{Origin: e.p.Path(before.Folder)})
}

// unconfirmed refuses to confirm the run in a folder a second time.
func (e *experimentRun) unconfirmed(folder string) error {
	out := words.ShellWord(confirmation(folder))
	if _, err := os.Stat(e.p.Path(confirmation(folder))); err != nil {
		return nil // if there is another reason, creating the folder reports it
	}
	return command.WithHint(command.Usagef("--confirm: %s has been confirmed before", folder),
		"strategylab analyze %s shows what came out, --resume %s continues it if it was interrupted; for another confirmation play a new run", out, out)
}
