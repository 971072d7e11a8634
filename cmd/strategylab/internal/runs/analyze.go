package runs

import (
	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
)

func analyzeCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "analyze", ArgsUsage: "DIR", Usage: "analyze a recorded run without replaying it",
		Description: "Reads the leagues in the folder of a run and prints what 'experiment' prints. It needs no strategies.\n" +
			"Of a run that is still playing it reads the leagues recorded so far.",
		Flags: append([]cli.Flag{
			command.LevelFlag(),
			command.FormatFlag("table", "json", "csv"),
			mineFlag("none"),
			assertFlag(),
			command.QuietFlag(),
		}, command.ScreenFlags()...),
		Action: command.Action(p, analyze, "DIR"),
	}
}

func analyze(p *command.Process, c *cli.Context) error {
	out := newOutput(p, c)
	in, err := out.read(c.Args().First(), lab.Reading{})
	if err != nil {
		return err
	}
	if out.mine, err = namedMine(c, in.Run.Plan); err != nil {
		return err
	}
	run := &in.Run
	run.Folder = c.Args().First()
	if run.Stopping.Why == report.Interrupted {
		out.note("%d of %d leagues so far", run.Estimates.Leagues, run.Plan.Runs)
	}
	if err := out.show(*run); err != nil {
		return err
	}
	return verdictOn(run)
}
