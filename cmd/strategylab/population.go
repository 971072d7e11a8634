package main

import (
	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/results"
)

func populationCommand(p *process) *cli.Command {
	return &cli.Command{
		Name: "population", ArgsUsage: "DIR", Usage: "say what becomes of the strategies of a run as a population",
		Description: "Reads the recorded leagues and prints the payoffs of every strategy against every other and its\n" +
			"own copy, where replicator dynamics lead, alpha-rank, who invades whom, and Borda's count.",
		Flags: []cli.Flag{
			levelFlag(),
			formatFlag("table or json"),
			ratingsFlag(),
		},
		Action: func(c *cli.Context) error { return showPopulation(p, c) },
	}
}

func showPopulation(p *process, c *cli.Context) error {
	args, err := arguments(c, "DIR")
	if err != nil {
		return err
	}
	format, err := oneOf(c, flagFormat, "table", "json")
	if err != nil {
		return err
	}
	if err := checkRatings(c); err != nil {
		return err
	}
	var rated *ratings
	run, err := readRun(c, p, args[0], func(plan results.Plan) (experiments.Sink, error) {
		var sink experiments.Sink
		var err error
		rated, sink, err = ratingsSink(c, plan)
		return sink, err
	})
	if err != nil {
		return err
	}
	mirrors, err := readMirrors(p.path(args[0]))
	if err != nil {
		return err
	}
	game, err := population.NewGame(run.Plan, &run.Estimates, mirrors)
	if err != nil {
		return usagef("population %s: %w", args[0], err)
	}
	shown := report.Population{Run: *run, View: population.NewView(game)}
	if shown.Worths, shown.WorthLeagues, err = rated.worths(p.warn); err != nil {
		return err
	}
	if format == "json" {
		return report.WritePopulationJSON(p.stdout, shown)
	}
	return report.WritePopulationTable(p.stdout, shown, p.width())
}
