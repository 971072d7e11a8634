package runs

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/contrast"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/results"
)

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
