package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/results"
)

func explainCommand(p *process) *cli.Command {
	return &cli.Command{
		Name: "explain", ArgsUsage: "DIR [PLAYER...]", Usage: "say why the strategies of a run score what they score",
		Description: "Reads the recorded leagues and prints how predictable each strategy is, what it could have made of\n" +
			"its opponents, whom it goes well with, and how it develops over the legs. Nothing is played.",
		Flags: []cli.Flag{
			levelFlag(),
			formatFlag("table or json"),
		},
		Action: func(c *cli.Context) error { return explainRun(p, c) },
	}
}

func explainRun(p *process, c *cli.Context) error {
	args := c.Args().Slice()
	if len(args) == 0 {
		_, err := arguments(c, "DIR")
		return err
	}
	format, err := oneOf(c, flagFormat, "table", "json")
	if err != nil {
		return err
	}
	var collector *explain.Collector
	run, err := readRun(c, p, args[0], func(plan results.Plan) (experiments.Sink, error) {
		var err error
		collector, err = explain.NewCollector(plan, explain.Options{})
		return explained{collector}, err
	})
	if err != nil {
		return err
	}
	shown := report.Explanation{Run: *run, Explanations: collector.Explanations(run.Estimates.Level), Fields: run.Estimates.Order, Detail: len(args) > 1}
	if shown.Detail {
		if shown.Fields, err = playersOf(run, args[0], args[1:]); err != nil {
			return err
		}
	}
	if format == "json" {
		return report.WriteExplanationJSON(p.stdout, shown)
	}
	return report.WriteExplanationTable(p.stdout, shown, p.width())
}

// playersOf finds players of a run by name.
func playersOf(run *report.Run, dir string, names []string) ([]int, error) {
	var known []string
	for _, f := range run.Plan.Field {
		known = append(known, f.Name)
	}
	var fields []int
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, withHint(&usageError{err: fmt.Errorf("explain: there is no player %q in %s", name, dir)}, "its players are %s", strings.Join(known, ", "))
		}
		if !slices.Contains(fields, i) {
			fields = append(fields, i)
		}
	}
	return fields, nil
}
