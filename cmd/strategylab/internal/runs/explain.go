package runs

import (
	"fmt"
	"slices"
	"strings"

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
	shown := report.Explanation{Document: run, Explanations: in.Explanations, Fields: run.Estimates.Order, Detail: len(args) > 1}
	if shown.Detail {
		if shown.Fields, err = playersOf(run, args[0], args[1:]); err != nil {
			return err
		}
	}
	if o.Format == "json" {
		return report.WriteExplanationJSON(p.Stdout, shown)
	}
	return report.WriteExplanationTable(p.Stdout, shown, p.Out.Columns)
}

// playersOf returns the field indices of players by name.
func playersOf(run *report.Document, dir string, names []string) ([]int, error) {
	var known []string
	for _, f := range run.Run.Plan.Field {
		known = append(known, f.Name)
	}
	var fields []int
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, command.WithHint(fmt.Errorf("explain: no player %q in %s", name, dir), "the players are %s", strings.Join(known, ", "))
		}
		if !slices.Contains(fields, i) {
			fields = append(fields, i)
		}
	}
	return fields, nil
}
