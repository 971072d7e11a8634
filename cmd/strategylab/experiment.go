package main

import (
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies/catalog"
)

const (
	flagRuns   = "runs"
	flagField  = "field"
	flagOut    = "out"
	flagResume = "resume"
	flagWatch  = "watch"

	flagTransport = "transport"
)

func experimentCommand(p *process) *cli.Command {
	return &cli.Command{
		Name:  "experiment",
		Usage: "play many leagues and rank the strategies",
		Description: "Plays --runs leagues among the strategies of --field, each a round robin of --legs legs with\n" +
			"the seats dealt anew, and prints what that shows. The results are kept in --out; they can be\n" +
			"resumed or extended with --resume, and a single match shown again with 'replay'.",
		Flags: append([]cli.Flag{
			&cli.IntFlag{Name: flagRuns, Value: 1000, Usage: "leagues to play"},
			&cli.IntFlag{Name: flagLegs, Value: 10, Usage: "how often each pair meets in a league"},
			seedFlag(),
			&cli.StringFlag{Name: flagField, Usage: "names, paths and copies such as markov-2,scripts/mine.lua,random*3 (default: everything found)"},
			&cli.IntFlag{Name: flagWorkers, Usage: "leagues under way at once (default: one a processor)"},
			&cli.StringFlag{Name: flagDraw, Value: game.FairDraw().String(), Usage: "the referee's draw: uniform:1-10 or weights:1=3,2=1"},
			&cli.StringFlag{Name: flagTransport, Value: "direct", Usage: "direct calls strategies; loopback and http play through the agents' messages, with the same result"},
			&cli.StringFlag{Name: flagOut, Usage: "folder for the results (default: runs/<time>-<seed>)"},
			&cli.StringFlag{Name: flagResume, Usage: "folder of a run to go on with, or to extend with a larger --runs"},
			&cli.BoolFlag{Name: flagWatch, Usage: "run again whenever a script of the field changes"},
			formatFlag("table, json or csv"),
			assertFlag(),
			&cli.BoolFlag{Name: flagNoReport, Usage: "leave no report.html in the folder of the results"},
			ratingsFlag(),
			&cli.BoolFlag{Name: flagPNG, Usage: "leave the plots of the report as PNG beside it"},
			&cli.BoolFlag{Name: flagQuiet, Usage: "nothing on stderr but errors"},
		}, append(untilFlags(), catalogFlags()...)...),
		Action: func(c *cli.Context) error { return experiment(p, c) },
	}
}

func experiment(p *process, c *cli.Context) error {
	if _, err := arguments(c); err != nil {
		return err
	}
	e, err := newExperiment(p, c)
	if err != nil {
		return err
	}
	switch {
	case c.IsSet(flagResume):
		return e.resume(c.Context)
	case c.Bool(flagWatch):
		return e.watch(c.Context)
	default:
		return e.fresh(c.Context)
	}
}

// experimentRun is one experiment as the command line asks for it.
type experimentRun struct {
	p       *process
	c       *cli.Context
	seed    uint64
	draw    game.Draw
	refs    []catalog.Ref
	stop    stopFlags
	workers int
	format  string
	quiet   bool
}

func newExperiment(p *process, c *cli.Context) (*experimentRun, error) {
	e := &experimentRun{p: p, c: c, workers: c.Int(flagWorkers), quiet: c.Bool(flagQuiet)}
	var err error
	if e.format, err = oneOf(c, flagFormat, "table", "json", "csv"); err != nil {
		return nil, err
	}
	if c.IsSet(flagWorkers) {
		if e.workers, err = atLeast(c, flagWorkers, 1); err != nil {
			return nil, err
		}
	}
	if _, err = atLeast(c, flagRuns, 1); err != nil {
		return nil, err
	}
	if _, err = atLeast(c, flagLegs, 1); err != nil {
		return nil, err
	}
	if err = checkRatings(c); err != nil {
		return nil, err
	}
	if _, err = oneOf(c, flagTransport, "direct", "loopback", "http"); err != nil {
		return nil, err
	}
	if e.draw, err = game.ParseDraw(c.String(flagDraw)); err != nil {
		return nil, usagef("--%s: %w", flagDraw, err)
	}
	if e.refs, err = catalog.ParseRefs(c.String(flagField)); err != nil {
		return nil, usagef("--%s: %w", flagField, err)
	}
	if c.IsSet(flagResume) {
		return e, e.onlyWithResume()
	}
	if e.stop, err = readStop(c); err != nil {
		return nil, err
	}
	e.seed, err = seed(p, c)
	return e, err
}

// onlyWithResume refuses flags that a resumed run has from its plan.
func (e *experimentRun) onlyWithResume() error {
	for _, flag := range []string{flagLegs, flagSeed, flagField, flagDraw, flagTransport, flagOut, flagWatch, flagUntil, flagGuarantee, flagMargin, flagSPRT} {
		if e.c.IsSet(flag) {
			return usagef("--%s cannot be changed with --%s: it belongs to the run in %s", flag, flagResume, e.c.String(flagResume))
		}
	}
	return nil
}

// note tells the user something about the run, beside its output.
func (e *experimentRun) note(format string, args ...any) {
	if !e.quiet {
		fmt.Fprintf(e.p.stderr, format+"\n", args...)
	}
}

// out returns the folder for the results of a new run.
func (e *experimentRun) out() string {
	if out := e.c.String(flagOut); out != "" {
		return out
	}
	return filepath.Join("runs", fmt.Sprintf("%s-%d", e.p.now().Format("20060102-150405"), e.seed))
}

// plan returns the plan of a new run among the players of a field.
func (e *experimentRun) plan(field catalog.Field) (results.Plan, error) {
	plan := results.Plan{
		Schema: results.PlanSchema, Runs: e.stop.runs, Legs: e.c.Int(flagLegs),
		Seed: e.seed, Draw: e.draw.String(), Transport: e.c.String(flagTransport),
	}
	for _, f := range field.Players {
		plan.Field = append(plan.Field, results.Entrant{
			Name: f.Name, Kind: string(f.Info.Kind), Ref: f.Target, Source: f.Info.Source, Fingerprint: f.Info.Fingerprint,
		})
	}
	if len(plan.Field) < game.MinPlayers {
		return plan, withHint(fmt.Errorf("a league needs %d players, and the field has %d", game.MinPlayers, len(plan.Field)),
			"name more in --%s, for example --%s random,markov-2 or --%s 'random*4'", flagField, flagField, flagField)
	}
	if err := plan.Validate(); err != nil {
		return plan, usagef("%w", err)
	}
	return plan, e.stopRule(&plan, field)
}
