package runs

import (
	"context"
	"os"

	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// confirmation is the folder of the leagues that confirm the run in a folder.
func confirmation(out string) string { return out + "-confirm" }

// confirmCommand plays the leagues that confirm the run in a folder.
func confirmCommand(out string) string {
	return "strategylab experiment --resume " + words.ShellWord(out) + " --confirm"
}

// confirm plays the plan of a complete run again with a fresh seed, and prints what that
// shows, and nothing of the run before: its numbers may have decided which strategies
// play, and how they are tuned. There is one confirmation of a run, since confirming
// until it succeeds would be choosing, too.
func (e *experimentRun) confirm(ctx context.Context, before *report.Document, factories []strategies.Factory) (*report.Document, error) {
	plan, out := before.Run.Plan, confirmation(before.Folder)
	plan.Looks, plan.Confirms = nil, &results.Confirms{Seed: plan.Seed}
	if est := &before.Estimates; est.Leagues > 1 && !est.NothingToRank() {
		plan.Confirms.First = est.Players[est.Order[0]].Name
	}
	var err error
	if plan.Seed, err = e.p.Seed(); err != nil {
		return nil, err
	}
	dir, err := e.create(out, plan, "")
	if err != nil {
		return nil, err
	}
	e.note("results in %s; confirming them: %s", before.Folder, planned(plan))
	return e.playOut(ctx, dir, out, factories, lab.Session{Origin: e.p.Path(before.Folder)})
}

// unconfirmed refuses to confirm the run in a folder a second time.
func (e *experimentRun) unconfirmed(folder string) error {
	out := words.ShellWord(confirmation(folder))
	if _, err := os.Stat(e.p.Path(confirmation(folder))); err != nil {
		return nil // if there is another reason, creating the folder reports it
	}
	return command.WithHint(command.Usagef("--confirm: %s has been confirmed before", folder),
		"strategylab analyze %s shows what came out, --resume %s continues it if it was interrupted; for another confirmation play a new run", out, out)
}
