package runs

import (
	"cmp"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
)

func reportCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "report", ArgsUsage: "DIR", Usage: "regenerate a run's HTML report",
		Description: "Reads the leagues in the folder of a run and writes " + page.File + " there, as 'experiment' does at its\n" +
			"end. It needs no strategies.",
		Flags: []cli.Flag{
			command.LevelFlag(),
			&cli.StringFlag{Name: command.FlagOut, Usage: "folder to write to", DefaultText: "DIR"},
			&cli.BoolFlag{Name: flagPNG, Usage: "write the plots as PNG, too"},
			ratingsFlag(),
			command.QuietFlag(),
		},
		Action: command.Action(p, writeReport, "DIR"),
	}
}

func writeReport(p *command.Process, c *cli.Context) error {
	out, dir := newOutput(p, c), c.Args().First()
	in, err := out.read(dir, lab.Reading{Explain: true, Mirrors: true})
	if err != nil {
		return err
	}
	folder := cmp.Or(c.String(command.FlagOut), dir)
	if err := lab.WritePage(p.Path(folder), in, c.Bool(flagPNG)); err != nil {
		return command.Usagef("report %s: %w", dir, err)
	}
	where := "report in " + filepath.Join(folder, page.File)
	if c.Bool(flagPNG) {
		where += ", plots in " + filepath.Join(folder, lab.PlotsFolder)
	}
	out.note("%s", where)
	return nil
}
