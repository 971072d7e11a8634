package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// playSums plays one shard without records, unless that was done.
func (e *experimentRun) playSums(ctx context.Context, plan results.Plan, out string, factories []strategies.Factory) error {
	was, _, err := results.ReadSums(e.p.Path(out))
	if err == nil {
		err = sameShard(was, plan)
		if err == nil {
			e.note("%v is complete in %s", plan.Shard, out)
		}
		return err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return command.WithHint(fmt.Errorf("write %s: %w", out, err), "write to another folder with --out")
	}
	if err := e.foresee(ctx, plan, factories); err != nil {
		return err
	}
	dir, err := results.Create(e.p.Path(out), plan)
	if err != nil {
		return command.WithHint(fmt.Errorf("write %s: %w", out, err), "write to another folder with --out")
	}
	return e.finishShard(ctx, dir, out, factories)
}

// mergeSums merges shards without records.
func (e *experimentRun) mergeSums(dirs []string, out, mine string) error {
	if err := command.Refuse(e.c, "records=none"); err != nil {
		return err
	}
	plan, parts, outcome, err := e.p.OpenSums(e.c.Context, dirs)
	if err != nil {
		return err
	}
	if e.mine, _, err = namedIn(plan, "mine", mine); err != nil {
		return err
	}
	dir, err := results.Create(e.p.Path(out), plan)
	if err != nil {
		return command.WithHint(fmt.Errorf("merge: %w", err), "write to another folder with --out")
	}
	e.note("merging the sums of %s: %s", words.Plain.Plural(int64(len(parts)), "shard"), planned(plan))
	played, err := lab.Session{Lab: e.p.Lab, Origin: e.p.Path(parts[0].Name)}.AddSums(dir, e.p.Path(out), parts, outcome)
	if err != nil {
		return err
	}
	e.page = nil
	if _, err := e.present(e.c.Context, out, played); err != nil {
		return err
	}
	e.note("there is neither a digest nor a report.html, which need the records of single leagues")
	return nil
}
