package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// share is which shard of a run --shard names; the zero value names none.
type share struct{ number, of int }

// parseShard reads the text of --shard.
func parseShard(text string) (s share, err error) {
	if _, err := fmt.Sscanf(text, "%d/%d", &s.number, &s.of); err != nil || fmt.Sprintf("%d/%d", s.number, s.of) != text {
		return s, command.Usagef("--shard is %q, want K/N, for example 1/16 for the first of 16", text)
	}
	return s, nil
}

// playShard plays one shard of a plan: a new one, or the rest of the one in its folder,
// so that a job that is started again continues.
func (e *experimentRun) playShard(ctx context.Context, plan results.Plan, out string, factories []strategies.Factory) error {
	plan, err := lab.ShardOf(plan, e.shard.number, e.shard.of)
	if err != nil {
		return command.Usagef("--shard: %w", err)
	}
	if e.records == results.RecordsNone {
		return e.playSums(ctx, plan, out, factories)
	}
	dir, err := results.Open(e.p.Path(out))
	switch {
	case err == nil:
		err = sameShard(dir.Plan(), plan)
	case errors.Is(err, fs.ErrNotExist):
		if err := e.foresee(ctx, plan, factories); err != nil {
			return err
		}
		dir, err = results.Create(e.p.Path(out), plan)
	}
	if summed := new(results.NoRecordsError); errors.As(err, &summed) {
		return command.WithHint(fmt.Errorf("write %s: %w", out, err), "write to another folder with --out")
	}
	if err != nil && dir != nil {
		err = errors.Join(fmt.Errorf("write %s: %w", out, err), dir.Close())
	}
	if err != nil {
		return err
	}
	return e.finishShard(ctx, dir, out, factories)
}

// foresee completes the plan of a shard with the players that it takes for quarantined.
func (e *experimentRun) foresee(ctx context.Context, plan results.Plan, factories []strategies.Factory) (err error) {
	if plan.Shard.Number > 1 {
		e.note("playing the first leagues of the run, to foresee quarantine")
		plan.Shard.Quarantined, err = lab.Session{Workers: e.workers}.Foresee(ctx, plan, factories)
	}
	return err
}

// sameShard reports whether a recorded plan is that of the same shard.
func sameShard(recorded, plan results.Plan) error {
	if err := recorded.SameLeagues(plan); err != nil {
		return command.WithHint(err, "write to another folder with --out")
	}
	was, is := recorded.Shard, plan.Shard
	if was == nil || was.Number != is.Number || was.Of != is.Of || recorded.Runs != plan.Runs {
		return command.WithHint(fmt.Errorf("it holds another part of the leagues than %v of %d", is, plan.Runs), "write to another folder with --out")
	}
	return nil
}

// finishShard plays the rest of the shard in a folder and closes the folder.
func (e *experimentRun) finishShard(ctx context.Context, dir *results.Dir, out string, factories []strategies.Factory) error {
	plan, begun := dir.Plan(), dir.Len()
	shard, total := plan.Shard, plan.Shard.End-plan.Shard.First
	e.note("%v: leagues %d to %d of %s", shard, shard.First, shard.End-1, planned(plan))
	for _, field := range shard.Quarantined {
		e.note("%s is taken for quarantined: it exceeds its limits in the first leagues of the run", plan.Field[field].Name)
	}
	if begun > 0 {
		e.note("resuming after %d of %s", begun, words.Plain.Plural(int64(total), "league"))
	}
	e.p.ForBatch()
	progress := e.p.StartProgress(begun, total, false)
	leagues, err := lab.Session{Lab: e.p.Lab, Workers: e.workers, Seen: progress}.PlayShard(ctx, dir, e.p.Path(out), factories)
	progress.Stop()
	switch {
	case err != nil:
		return err
	case leagues < total && plan.Records == results.RecordsNone:
		e.note("stopped after %d of %s; without records the shard starts over next time", leagues, words.Plain.Plural(int64(total), "league"))
		return command.Reported(command.ErrStopped)
	case leagues < total:
		e.note("stopped after %d of %s; continue with: strategylab experiment --resume %s", leagues, words.Plain.Plural(int64(total), "league"), words.ShellWord(out))
		return command.Reported(command.ErrStopped)
	}
	e.note("%v is complete in %s; when all are: strategylab merge %s --out DIR", shard, out, foldersLike(out, shard.Number))
	return nil
}

// foldersLike is a pattern of the shell for the folders of all shards, of which one is
// named after its number; else that folder, and a place for the others.
func foldersLike(out string, number int) string {
	dir, name := filepath.Split(filepath.Clean(out))
	digits := strconv.Itoa(number)
	if at := strings.LastIndex(name, digits); at > 0 {
		pattern := words.ShellWord(dir+name[:at]) + "*"
		if rest := name[at+len(digits):]; rest != "" {
			pattern += words.ShellWord(rest)
		}
		return pattern
	}
	return words.ShellWord(out) + " OTHERS..."
}
