package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/results"
)

func mergeCommand(p *command.Process) *cli.Command {
	return command.New(p, &cli.Command{
		Name: "merge", ArgsUsage: "DIR...", Usage: "make one run of the shards of 'experiment --shard'",
		Description: "Reads the folders of all shards of a run and writes the run that one machine would have written to --out.\n" +
			"It refuses shards that are missing, incomplete, doubled or of another plan. Leagues of a shard that could not\n" +
			"foresee a quarantine are replayed, which takes the strategies of the field.",
	}, new(mergeOptions), merge, "DIR", command.Rest)
}

type mergeOptions struct {
	Out     string `flag:"out DIR" required:"yes" usage:"folder for the whole run, such as runs/all"`
	Workers int    `flag:"workers" want:"1.." text:"one per CPU" usage:"leagues replayed in parallel"`
	Mine    string `flag:"mine STRATEGIES" text:"none" usage:"your strategies, which the answer is about"`
	showOptions
	pageOptions
	command.Isolation
}

func merge(p *command.Process, c *cli.Context, o *mergeOptions) error {
	e := &experimentRun{output: newOutput(p, c, o.Format), workers: o.Workers}
	e.shown, e.page = o.showOptions, o.page()
	var err error
	dirs, out := c.Args().Slice(), o.Out
	quoted := make([]string, len(dirs))
	for i, dir := range dirs {
		quoted[i] = words.ShellWord(dir)
	}
	e.again = "strategylab merge " + strings.Join(quoted, " ") + " --out " + words.ShellWord(out)
	plan, parts, end, err := p.OpenShards(c.Context, dirs)
	if summed := new(results.NoRecordsError); errors.As(err, &summed) {
		return e.mergeSums(dirs, out, o.Mine)
	}
	if err != nil {
		return err
	}
	defer end()
	if e.mine, _, err = namedIn(plan, "mine", o.Mine); err != nil {
		return err
	}
	if _, err := e.judge(plan); err != nil {
		return err // before the folder exists
	}
	cat, err := p.LoadCatalog(c.Context, p.Supply(c, o.Isolation))
	if err != nil {
		return err
	}
	defer cat.Close()
	s := lab.Session{Parts: parts, Origin: p.Path(parts[0].Name)}
	factories, err := e.codeOf(cat, parts[0].Name).All(c.Context, plan)
	if err != nil {
		s.Absent = command.WithHint(err, "merge where the code of the whole field is")
		e.warn("%v: leagues cannot be replayed, and the report has no mirror leagues", err)
	}
	dir, err := e.wholeRun(out, plan)
	if err != nil {
		return err
	}
	e.note("merging %s: %s", words.Plain.Plural(int64(len(parts)), "shard"), planned(plan))
	_, err = e.playOut(c.Context, dir, out, factories, s)
	return err
}

// wholeRun opens the folder of the merged run: a new one, or that of a merge that did
// not come to its end.
func (e *experimentRun) wholeRun(out string, plan results.Plan) (*results.Dir, error) {
	dir, err := results.Open(e.p.Path(out))
	if errors.Is(err, fs.ErrNotExist) {
		return e.create(out, plan, "")
	}
	if err != nil {
		return nil, err
	}
	was := dir.Plan()
	if err := was.SameLeagues(plan); err != nil || was.Runs != plan.Runs || was.Shard != nil || was.Stop != nil || was.Confirms != nil || was.Looks != nil {
		return nil, errors.Join(command.WithHint(fmt.Errorf("merge: %s holds another run", out), "write to another folder with --out"), dir.Close())
	}
	return dir, nil
}
