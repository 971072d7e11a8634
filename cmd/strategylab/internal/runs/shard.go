package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

func parseShard(text string) (s results.Shard, err error) {
	if _, err := fmt.Sscanf(text, "%d/%d", &s.Number, &s.Of); err != nil || fmt.Sprintf("%d/%d", s.Number, s.Of) != text {
		return s, command.Usagef("--shard is %q, want K/N, for example 1/16 for the first of 16", text)
	}
	return s, nil
}

// playShard plays one shard of a plan: a new one, or the rest of the one in its folder,
// so that a job that is started again continues.
func (e *experimentRun) playShard(ctx context.Context, plan results.Plan, out string, factories []strategies.Factory) error {
	plan, err := lab.ShardOf(plan, e.shard.Number, e.shard.Of)
	if err != nil {
		return command.Usagef("--shard: %w", err)
	}
	var was results.Plan
	var dir *results.Dir
	if e.records == results.RecordsNone {
		was, _, err = results.ReadSums(e.p.Path(out))
	} else if dir, err = results.Open(e.p.Path(out)); err == nil {
		was = dir.Plan()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if plan.Shard.Number > 1 {
			e.p.Note("playing the first leagues of the run, to foresee quarantine")
			if plan.Shard.Quarantined, err = (lab.Session{Workers: e.workers}).Foresee(ctx, plan, factories); err != nil {
				return err
			}
		}
		dir, err = results.Create(e.p.Path(out), plan)
	case err != nil:
	case dir == nil:
		if err = was.SameRun(plan); err == nil {
			e.p.Note("%v is complete in %s", plan.Shard, out)
			return nil
		}
	default:
		if err = was.SameRun(plan); err != nil {
			err = errors.Join(err, dir.Close())
		}
	}
	if err != nil {
		return command.WithHint(fmt.Errorf("write %s: %w", out, err), "write to another folder with --out")
	}
	return e.finishShard(ctx, dir, out, factories)
}

// finishShard plays the rest of the shard in a folder and closes the folder.
func (e *experimentRun) finishShard(ctx context.Context, dir *results.Dir, out string, factories []strategies.Factory) error {
	plan, begun := dir.Plan(), dir.Len()
	shard, total := plan.Shard, plan.Shard.End-plan.Shard.First
	e.p.Note("%v: leagues %s to %s of %s", shard, words.Plain.Count(int64(shard.First)), words.Plain.Count(int64(shard.End-1)), planned(plan))
	for _, field := range shard.Quarantined {
		e.p.Note("%s is taken for quarantined: it exceeds its limits in the first leagues of the run", plan.Field[field].Name)
	}
	if begun > 0 {
		e.p.Note("resuming after %s", leaguesOf(begun, total))
	}
	e.p.ForBatch()
	progress := e.p.StartProgress(begun, total, false)
	leagues, err := lab.Session{Lab: e.p.Lab, Workers: e.workers, Seen: progress}.PlayShard(ctx, dir, e.p.Path(out), factories)
	progress.Stop()
	switch {
	case err != nil:
		return err
	case leagues < total && plan.Records == results.RecordsNone:
		e.p.Note("stopped after %s; without records the shard starts over next time", leaguesOf(leagues, total))
		return command.Reported(command.ErrStopped)
	case leagues < total:
		e.p.Note("stopped after %s; continue with: strategylab experiment --resume %s", leaguesOf(leagues, total), words.ShellWord(out))
		return command.Reported(command.ErrStopped)
	}
	e.p.Note("%v is complete in %s; when all are: strategylab merge %s --out DIR", shard, out, foldersLike(out, shard.Number))
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
	e.p.Note("merging the sums of %s: %s", words.Plain.Plural(int64(len(parts)), "shard"), planned(plan))
	played, err := lab.Session{Lab: e.p.Lab, Origin: e.p.Path(parts[0].Name)}.AddSums(dir, e.p.Path(out), parts, outcome)
	if err != nil {
		return err
	}
	e.page.NoReport = true
	if _, err := e.present(e.c.Context, out, played); err != nil {
		return err
	}
	e.p.Note("there is neither a digest nor a report.html, which need the records of single leagues")
	return nil
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
	e.shown, e.page = o.showOptions, o.pageOptions
	var err error
	dirs, out := c.Args().Slice(), o.Out
	quoted := make([]string, len(dirs))
	for i, dir := range dirs {
		quoted[i] = words.ShellWord(dir)
	}
	e.again = "strategylab merge " + strings.Join(quoted, " ") + " --out " + words.ShellWord(out)
	plan, parts, end, err := p.OpenShards(c.Context, dirs)
	if errors.Is(err, results.ErrNoRecords) {
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
		e.p.Note("strategylab: warning: %v: leagues cannot be replayed, and the report has no mirror leagues", err)
	}
	dir, err := e.wholeRun(out, plan)
	if err != nil {
		return err
	}
	e.p.Note("merging %s: %s", words.Plain.Plural(int64(len(parts)), "shard"), planned(plan))
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
	if was := dir.Plan(); was.SameRun(plan) != nil || was.Stop != nil || was.Confirms != nil || was.Looks != nil {
		return nil, errors.Join(command.WithHint(fmt.Errorf("merge: %s holds another run", out), "write to another folder with --out"), dir.Close())
	}
	return dir, nil
}
