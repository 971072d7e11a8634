package main

import (
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/results"
)

func reportCommand(p *process) *cli.Command {
	return &cli.Command{
		Name: "report", ArgsUsage: "DIR", Usage: "write the report of a run anew",
		Description: "Reads the recorded leagues and writes " + reportFile + " into the folder of the run, as 'experiment'\n" +
			"does at its end. Nothing is played, and the strategies are not needed.",
		Flags: []cli.Flag{
			levelFlag(),
			&cli.StringFlag{Name: flagOut, Usage: "another folder to write to"},
			&cli.BoolFlag{Name: flagPNG, Usage: "the plots as PNG images as well, in " + plotsFolder},
			ratingsFlag(),
			&cli.BoolFlag{Name: flagQuiet, Usage: "nothing on stderr but errors"},
		},
		Action: func(c *cli.Context) error { return writeReport(p, c) },
	}
}

func writeReport(p *process, c *cli.Context) error {
	args, err := arguments(c, "DIR")
	if err != nil {
		return err
	}
	out := args[0]
	if o := c.String(flagOut); o != "" {
		out = o
	}
	if err := checkRatings(c); err != nil {
		return err
	}
	var collector *explain.Collector
	var rated *ratings
	run, err := readRun(c, p, args[0], func(plan results.Plan) (experiments.Sink, error) {
		var err error
		if collector, err = explain.NewCollector(plan, explain.Options{}); err != nil {
			return nil, err
		}
		sinks := experiments.Sink(explained{collector})
		var rating experiments.Sink
		if rated, rating, err = ratingsSink(c, plan); rating != nil {
			sinks = experiments.Tee(sinks, rating)
		}
		return sinks, err
	})
	if err != nil {
		return err
	}
	mirrors, err := readMirrors(p.path(args[0]))
	if err != nil {
		return err
	}
	in := page.Input{Run: *run, Explanations: collector.Explanations(run.Estimates.Level), Mirrors: mirrors}
	warn := p.warn
	if c.Bool(flagQuiet) {
		warn = func(string, ...any) {}
	}
	if in.Worths, in.WorthLeagues, err = rated.worths(warn); err != nil {
		return err
	}
	if err := writePage(p.path(out), in, c.Bool(flagPNG)); err != nil {
		return usagef("report %s: %w", args[0], err)
	}
	if !c.Bool(flagQuiet) {
		where := "report in " + filepath.Join(out, reportFile)
		if c.Bool(flagPNG) {
			where += ", plots in " + filepath.Join(out, plotsFolder)
		}
		fmt.Fprintln(p.stderr, where)
	}
	return nil
}
