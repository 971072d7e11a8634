package runs

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
)

func explainCommand(p *command.Process) *cli.Command {
	return command.New(p, &cli.Command{
		Name: "explain", ArgsUsage: "DIR [PLAYER...]", Usage: "explain the scores of a run's strategies",
		Description: "Reads the leagues in the folder of a run and prints how predictable each strategy is, how well it could\n" +
			"have predicted its opponents, whom it differs from most, and whether it learns over the legs.",
	}, new(explainOptions), explainRun, "DIR", command.Rest)
}

type explainOptions struct {
	command.Leveled
	Format string `flag:"format table|json" want:"one" usage:"output format"`
}

func explainRun(p *command.Process, c *cli.Context, o *explainOptions) error {
	args, out := c.Args().Slice(), newOutput(p, c, o.Format)
	in, err := out.read(args[0], o.Level, lab.Reading{Explain: true})
	if err != nil {
		return err
	}
	run := in.Document
	fields := run.Estimates.Order
	if len(args) > 1 {
		fields = nil
	}
	for _, name := range args[1:] {
		i, err := playerIn(run.Run.Plan, "explain", args[0], name)
		if err != nil {
			return err
		}
		if !slices.Contains(fields, i) {
			fields = append(fields, i)
		}
	}
	shown := report.Explanation{Explanations: in.Explanations, Detail: len(args) > 1}
	shown.Players = nil
	for _, i := range fields {
		shown.Players = append(shown.Players, in.Explanations.Players[i])
	}
	if o.Format == "json" {
		return report.WriteExplanationJSON(p.Stdout, shown)
	}
	return report.WriteExplanationTable(p.Stdout, shown, p.Out.Columns)
}
