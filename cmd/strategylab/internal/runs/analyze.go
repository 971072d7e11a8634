package runs

import (
	"cmp"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
)

func analyzeCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "analyze", ArgsUsage: "DIR", Usage: "analyze a recorded run without replaying it",
		Description: "Reads the leagues in the folder of a run and prints what 'experiment' prints. It needs no strategies.\n" +
			"Of a run that is still playing it reads the leagues recorded so far.",
		Flags: []cli.Flag{
			command.LevelFlag(),
			command.FormatFlag("table", "json", "csv"),
			mineFlag("those that did not come with the program"),
			assertFlag(),
			command.DetailsFlag(),
		},
		Action: command.Action(p, analyze, "DIR"),
	}
}

func analyze(p *command.Process, c *cli.Context) error {
	out := newOutput(p, c)
	in, err := out.read(c.Args().First(), lab.Reading{})
	if err != nil {
		return err
	}
	run := in.Document
	run.Folder = c.Args().First()
	if run.Stopping.Why == report.Interrupted {
		out.note("%d of %s so far", run.Estimates.Leagues, words.Plain.Plural(int64(run.Run.Plan.Runs), "league"))
	}
	if err := out.show(run); err != nil {
		return err
	}
	return verdictOn(run)
}

func reportCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "report", ArgsUsage: "DIR", Usage: "regenerate a run's HTML report",
		Description: "Reads the leagues in the folder of a run and writes " + page.File + " there, as 'experiment' does at its\n" +
			"end. It needs no strategies.",
		Flags: []cli.Flag{
			command.LevelFlag(),
			&cli.StringFlag{Name: command.FlagOut, Usage: "`DIR`: folder to write to", DefaultText: "DIR"},
			mineFlag("those that did not come with the program"),
			plotsFlag(),
		},
		Action: command.Action(p, writeReport, "DIR"),
	}
}

func writeReport(p *command.Process, c *cli.Context) error {
	p.Stage.Set("writing the report")
	out, dir := newOutput(p, c), c.Args().First()
	in, err := out.read(dir, lab.Reading{Explain: true, Mirrors: true})
	if err != nil {
		return err
	}
	folder := cmp.Or(c.String(command.FlagOut), dir)
	if err := lab.WritePage(p.Path(folder), lab.Dated(p.Path(dir), in), c.Bool(flagPlots)); err != nil {
		return command.Usagef("report %s: %w", dir, err)
	}
	where := "report in " + filepath.Join(folder, page.File)
	if c.Bool(flagPlots) {
		where += ", plots in " + filepath.Join(folder, lab.PlotsFolder)
	}
	out.note("%s", where)
	return nil
}
