package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/contrast"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/results"
)

func compareCommand(p *command.Process) *cli.Command {
	return command.New(p, &cli.Command{
		Name: "compare", ArgsUsage: "DIR1 DIR2", Usage: "compare two runs: what changed, and is it significant",
		Description: "Compares the strategies of two runs by name: league by league if the runs have the same seed, else as\n" +
			"independent samples. All differences are adjusted for their number.",
	}, new(compareOptions), compare, "DIR1", "DIR2")
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
	digests, err := contrastRuns(ctx, both, readers, dirs)
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

// contrastRuns reads both runs into a contrast and returns their digests. Leagues
// that only one of two paired runs has count for its digest alone.
func contrastRuns(ctx context.Context, both *contrast.Contrast, readers [2]*results.Reader, dirs []string) ([2]string, error) {
	var digests [2]string
	if !both.Paired() {
		for i, add := range []func(*results.League) error{both.AddBefore, both.AddAfter} {
			hasher := results.NewHasher()
			err := lab.EachLeague(ctx, readers[i], func(l *results.League) error { return errors.Join(hasher.Add(l), add(l)) })
			if err == nil && hasher.Len() == 0 {
				err = lab.ErrNoLeague
			}
			if err != nil {
				return digests, lab.ReadError("compare", dirs[i], err)
			}
			digests[i] = hasher.Digest()
		}
		return digests, nil
	}
	var pulled [2]*pull
	for i := range readers {
		pulled[i] = newPull(readers[i])
		defer pulled[i].stop()
	}
	for {
		if ctx.Err() != nil {
			return digests, ctx.Err()
		}
		var pair [2]*results.League
		for i := range pulled {
			var err error
			if pair[i], err = pulled[i].next(); err != nil {
				return digests, lab.ReadError("compare", dirs[i], err)
			}
		}
		if pair[0] != nil && pair[1] != nil {
			if err := both.AddPair(pair[0], pair[1]); err != nil {
				return digests, err
			}
		}
		if pair[0] == nil && pair[1] == nil {
			break
		}
	}
	for i := range pulled {
		if pulled[i].hasher.Len() == 0 {
			return digests, lab.ReadError("compare", dirs[i], lab.ErrNoLeague)
		}
		digests[i] = pulled[i].hasher.Digest()
	}
	return digests, nil
}

// pull reads the leagues of one run in step with another.
type pull struct {
	get    func() (*results.League, error, bool)
	stop   func()
	hasher *results.Hasher
}

func newPull(r *results.Reader) *pull {
	get, stop := iter.Pull2(r.Leagues())
	return &pull{get: get, stop: stop, hasher: results.NewHasher()}
}

// next returns the next league, or nil after the last.
func (p *pull) next() (*results.League, error) {
	l, err, ok := p.get()
	if !ok || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := p.hasher.Add(l); err != nil {
		return nil, fmt.Errorf("read leagues: %w", err)
	}
	return l, nil
}
