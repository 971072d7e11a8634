package runs

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/disk"
)

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
		err := disk.WriteFrom(p.Path(filepath.Join(folder, markup.File())), func(w io.Writer) error { return report.WritePaper(w, in.Document, markup) })
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
