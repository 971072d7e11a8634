package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/contrast"
	"github.com/strategylab/strategylab/analysis/export"
	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins/subprocess"
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
		out.p.Note("%s so far", leaguesOf(run.Estimates.Leagues, run.Run.Plan.Runs))
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
		out.p.Note("report in %s", filepath.Join(folder, markup.File()))
		return nil
	}
	if err := lab.WritePage(p.Path(folder), lab.Dated(p.Path(dir), in), o.Plots); err != nil {
		return command.Usagef("report %s: %w", dir, err)
	}
	where := "report in " + filepath.Join(folder, page.File)
	if o.Plots {
		where += ", plots in " + filepath.Join(folder, lab.PlotsFolder)
	}
	out.p.Note("%s", where)
	return nil
}

type studyOptions struct {
	command.Leveled
	Format string `flag:"format table|json" want:"one" usage:"output format"`
}

func explainRun(p *command.Process, c *cli.Context, o *studyOptions) error {
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

func showPopulation(p *command.Process, c *cli.Context, o *studyOptions) error {
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

type compareOptions struct {
	command.Leveled
	Format string `flag:"format table|json|csv" want:"one" usage:"output format"`
}

func compare(p *command.Process, c *cli.Context, o *compareOptions) error {
	out, err := contrastOf(c.Context, p, "compare", c.Args().Slice(), o.Level)
	if err != nil {
		return err
	}
	return showContrast(p, o.Format, out)
}

// contrastOf compares two runs; dirs are their folders as the user wrote them, and
// op is what errors begin with.
func contrastOf(ctx context.Context, p *command.Process, op string, dirs []string, level float64) (report.Contrast, error) {
	var readers [2]*results.Reader
	var plans [2]results.Plan
	for i, dir := range dirs {
		var err error
		if readers[i], err = p.OpenRun(op, dir); err != nil {
			return report.Contrast{}, err
		}
		defer readers[i].Close()
		plans[i] = readers[i].Plan()
	}
	both, err := contrast.New(plans[0], plans[1])
	if err != nil {
		return report.Contrast{}, err
	}
	digests, err := both.Read(ctx, readers, lab.ErrNoLeague)
	if unread := new(contrast.RunError); errors.As(err, &unread) {
		err = lab.ReadError("compare", dirs[unread.Run], unread.Err)
	}
	source := func(i int) report.Source {
		return report.Source{Dir: dirs[i], Digest: digests[i], Stopped: plans[i].Stop != nil}
	}
	level = analysis.AfterLooks(level, max(len(plans[0].Looks), len(plans[1].Looks)))
	return report.Contrast{Before: source(0), After: source(1), Result: both.Result(level)}, err
}

func showContrast(p *command.Process, format string, out report.Contrast) error {
	switch format {
	case "json":
		return report.WriteContrastJSON(p.Stdout, out)
	case "csv":
		return report.WriteContrastCSV(p.Stdout, out)
	}
	return report.WriteContrastTable(p.Stdout, out, p.Out.Columns)
}

type exportOptions struct {
	Rows   string `flag:"rows leagues|pairs|matches" want:"one" usage:"rows of players or pairs in leagues, or of matches"`
	Format string `flag:"format parquet|csv|json|ndjson" want:"one" text:"by the file name, else csv" usage:"output format"`
	Out    string `flag:"out FILE" text:"standard output" usage:"file to write"`
}

func exportRun(p *command.Process, c *cli.Context, o *exportOptions) error {
	dir, rows := c.Args().First(), export.Kind(o.Rows)
	format, err := o.format()
	if err != nil {
		return err
	}
	program := ""
	if format == export.Parquet {
		if program, err = p.Companion("strategylab-parquet", "export CSV or JSON instead: --format csv"); err != nil {
			return err
		}
	}
	reader, err := p.OpenRun("export", dir)
	if err != nil {
		return err
	}
	defer reader.Close()
	var n int64
	write := func(w io.Writer) error {
		var err error
		n, err = exportRows(c, w, format, rows, reader)
		return err
	}
	out := o.Out
	switch {
	case out == "":
		err = write(p.Stdout)
	case program != "":
		err = disk.WriteFrom(p.Path(out), func(f io.Writer) error { return subprocess.Pipe(c.Context, program, f, write) })
	default:
		err = disk.WriteFrom(p.Path(out), write)
	}
	if err != nil {
		return lab.ReadError("export", dir, err)
	}
	if out != "" {
		p.Note("%d rows in %s", n, out)
	}
	return nil
}

// format returns the format of the flag, or else of the file name.
func (o *exportOptions) format() (export.Format, error) {
	out := o.Out
	if f := export.Format(o.Format); f != "" {
		if f == export.Parquet && out == "" {
			return f, command.WithHint(errors.New("parquet cannot be written to standard output"), "name a file: --out leagues.parquet")
		}
		return f, nil
	}
	if out == "" {
		return export.CSV, nil
	}
	switch ext := strings.ToLower(filepath.Ext(out)); ext {
	case ".parquet", ".csv", ".json", ".ndjson":
		return export.Format(ext[1:]), nil
	case ".jsonl":
		return export.NDJSON, nil
	}
	return "", command.WithHint(fmt.Errorf("--out: the name %q implies no format", out), "choose one with --format parquet, csv, json or ndjson")
}

func exportRows(c *cli.Context, w io.Writer, format export.Format, kind export.Kind, reader *results.Reader) (int64, error) {
	rows, err := export.NewWriter(w, format, kind, reader.Plan())
	if err != nil {
		return 0, err
	}
	if err := lab.EachLeague(c.Context, reader, rows.Append); err != nil {
		return 0, err
	}
	return rows.Rows(), rows.Close()
}
