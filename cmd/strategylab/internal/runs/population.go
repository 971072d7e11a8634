package runs

import (
	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
)

func populationCommand(p *command.Process) *cli.Command {
	return command.New(p, &cli.Command{
		Name: "population", ArgsUsage: "DIR", Usage: "model a run's strategies as an evolving population",
		Description: "Reads the leagues in the folder of a run and prints the payoff of each strategy against each other and\n" +
			"its own copy, where replicator dynamics lead, alpha-rank, which strategy invades which, and the Borda\n" +
			"count.",
	}, new(populationOptions), showPopulation, "DIR")
}

type populationOptions struct {
	command.Leveled
	Format string `flag:"format table|json" want:"one" usage:"output format"`
}

func showPopulation(p *command.Process, c *cli.Context, o *populationOptions) error {
	out, dir := newOutput(p, c, o.Format), c.Args().First()
	in, err := out.read(dir, o.Level, lab.Reading{Mirrors: true})
	if err != nil {
		return err
	}
	run := &in.Run
	game, err := population.NewGame(run.Plan, &run.Estimates, in.Mirrors, in.Leagues)
	if err != nil {
		return command.Usagef("population %s: %w", dir, err)
	}
	shown := report.Population{Document: in.Document, View: population.NewView(game)}
	if o.Format == "json" {
		return report.WritePopulationJSON(p.Stdout, shown)
	}
	return report.WritePopulationTable(p.Stdout, shown, p.Out.Columns)
}
