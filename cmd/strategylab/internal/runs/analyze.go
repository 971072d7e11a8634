package runs

import (
	"cmp"
	"io"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
)

func analyzeCommand(p *command.Process) *cli.Command {
	return command.New(p, &cli.Command{
		Name: "analyze", ArgsUsage: "DIR", Usage: "analyze a recorded run without replaying it",
		Description: "Reads the leagues in the folder of a run and prints what 'experiment' prints. It needs no strategies.\n" +
			"Of a run that is still playing it reads the leagues recorded so far.",
	}, new(analyzeOptions), analyze, "DIR")
}

type analyzeOptions struct {
	command.Leveled
	showOptions
	Mine string `flag:"mine STRATEGIES" text:"those that did not come with the program" usage:"your strategies, which the answer is about"`
}

func analyze(p *command.Process, c *cli.Context, o *analyzeOptions) error {
	out := newOutput(p, c, o.Format)
	out.shown = o.showOptions
	dirs := c.Args().Slice()
	in, err := out.read(dirs[0], o.Level, lab.Reading{Yours: yours(o.Mine), Pool: dirs[1:]})
	if err != nil {
		return err
	}
	run := in.Document
	if len(dirs) == 1 {
		run.Folder = dirs[0]
	}
	if run.Stopping.Why == report.Interrupted {
		out.note("%d of %s so far", run.Estimates.Leagues, words.Plain.Plural(int64(run.Run.Plan.Runs), "league"))
	}
	if err := out.show(run); err != nil {
		return err
	}
	return verdictOn(run)
}

func poolCommand(p *command.Process) *cli.Command {
	return command.New(p, &cli.Command{
		Name: "pool", ArgsUsage: "DIR DIR...", Usage: "analyze runs of one plan with different seeds together",
		Description: "Reads the leagues in the folders of runs that differ in nothing but their seeds, and prints what one run of all\n" +
			"these leagues would print.",
	}, new(analyzeOptions), analyze, "DIR", command.Rest)
}

func reportCommand(p *command.Process) *cli.Command {
	return command.New(p, &cli.Command{
		Name: "report", ArgsUsage: "DIR", Usage: "write a run's report: HTML, or for a paper",
		Description: "Reads the leagues in the folder of a run and writes " + page.File + " there, as 'experiment' does at its\n" +
			"end, or for a paper the ranking, the pairs and the methods as " + report.Markdown.File() + " or " + report.LaTeX.File() + ". It needs no\n" +
			"strategies.",
	}, new(reportOptions), writeReport, "DIR")
}

type reportOptions struct {
	command.Leveled
	Format string `flag:"format html|markdown|latex" want:"one" usage:"output format"`
	Out    string `flag:"out DIR" text:"DIR" usage:"folder to write to"`
	Mine   string `flag:"mine STRATEGIES" text:"those that did not come with the program" usage:"your strategies, which the answer is about"`
	Plots  bool   `flag:"plots" usage:"write the plots as SVG files, too"`
}

func writeReport(p *command.Process, c *cli.Context, o *reportOptions) error {
	p.Stage.Set("writing the report")
	out, dir := newOutput(p, c, ""), c.Args().First()
	html := o.Format == "html"
	in, err := out.read(dir, o.Level, lab.Reading{Explain: html, Mirrors: html, Yours: yours(o.Mine)})
	if err != nil {
		return err
	}
	folder := cmp.Or(o.Out, dir)
	if markup := report.Markup(o.Format); !html {
		err := writeBeside(p.Path(filepath.Join(folder, markup.File())), func(w io.Writer) error { return report.WritePaper(w, in.Document, markup) })
		if err != nil {
			return command.Usagef("report %s: %w", dir, err)
		}
		out.note("report in %s", filepath.Join(folder, markup.File()))
		return nil
	}
	if err := lab.WritePage(p.Path(folder), lab.Dated(p.Path(dir), in), o.Plots); err != nil {
		return command.Usagef("report %s: %w", dir, err)
	}
	where := "report in " + filepath.Join(folder, page.File)
	if o.Plots {
		where += ", plots in " + filepath.Join(folder, lab.PlotsFolder)
	}
	out.note("%s", where)
	return nil
}
