package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

type whatifOptions struct {
	Replace command.Texts `flag:"replace PLAYER=STRATEGY" required:"yes" usage:"swap, such as mine=scripts/new.lua; repeatable"`
	Runs    int           `flag:"runs" want:"1.." text:"all" usage:"leagues to replay"`
	Out     string        `flag:"out DIR" text:"runs/TIME-whatif" usage:"folder for the new leagues"`
	Watch   bool          `flag:"watch" usage:"repeat whenever a swapped-in script changes"`
	Workers int           `flag:"workers" want:"1.." text:"one per CPU" usage:"leagues played in parallel"`
	command.Leveled
	assertOptions
	Format string `flag:"format table|json|csv" want:"one" usage:"output format"`
	command.Isolation
	command.Agents
}

type swap struct {
	player string
	ref    catalog.Ref
}

// whatIf replays a recorded run with swapped strategies.
type whatIf struct {
	output
	opt    *whatifOptions
	base   string // folder of the recorded run, as the user wrote it
	folder string // of the new leagues
	swaps  []swap
}

func whatif(p *command.Process, c *cli.Context, o *whatifOptions) error {
	w := &whatIf{base: c.Args().First(), output: newOutput(p, c, o.Format), opt: o}
	w.shown.assertOptions = o.assertOptions
	var err error
	if w.swaps, err = parseSwaps(o.Replace); err != nil {
		return err
	}
	w.folder = cmp.Or(o.Out, filepath.Join("runs", p.Now().Format("20060102-150405")+"-whatif"))
	if !o.Watch {
		_, err = w.playAgain(c.Context)
		return err
	}
	return w.repeat(c.Context, func(n int) (*catalog.Watch, error) {
		defer w.replacing(w.folder, n)()
		watch, err := w.playAgain(c.Context)
		fmt.Fprintln(p.Stdout)
		return watch, err
	})
}

func parseSwaps(list []string) ([]swap, error) {
	var out []swap
	for _, text := range list {
		player, target, ok := strings.Cut(text, "=")
		player = strings.TrimSpace(player)
		if !ok || player == "" || strings.TrimSpace(target) == "" {
			return nil, command.Usagef("--replace is %q, want PLAYER=STRATEGY, for example mine=scripts/new.lua", text)
		}
		ref, err := catalog.ParseRef(target)
		if err != nil {
			return nil, command.Usagef("--replace %q: %w", text, err)
		}
		if ref.Copies != 1 {
			return nil, command.Usagef("--replace %q: a player takes one strategy, not %d copies", text, ref.Copies)
		}
		if slices.ContainsFunc(out, func(x swap) bool { return x.player == player }) {
			return nil, command.Usagef("--replace swaps %s twice", player)
		}
		out = append(out, swap{player, ref})
	}
	return out, nil
}

// playAgain replays the leagues with the swaps and prints what they change. The
// watch is of the swapped-in scripts.
func (w *whatIf) playAgain(ctx context.Context) (*catalog.Watch, error) {
	refs := make([]catalog.Ref, len(w.swaps))
	for i, x := range w.swaps {
		refs[i] = x.ref
	}
	supply, err := w.p.SupplyAgents(w.c, w.opt.Isolation, &w.opt.Agents, targets(refs)...)
	if err != nil {
		return nil, err
	}
	cat, err := w.p.LoadCatalog(ctx, supply)
	if err != nil {
		return nil, err
	}
	defer cat.Close()
	watch := cat.WatchRefs(refs)
	plan, err := w.recorded(ctx)
	if err != nil {
		return watch, err
	}
	factories, err := w.swapped(ctx, &plan, cat)
	if err != nil {
		return watch, err
	}
	if _, err := w.judge(plan); err != nil {
		return watch, err // before the folder exists
	}
	var dir *results.Dir
	dir, w.folder, err = w.createFree(w.folder, plan, "choose another folder with --out")
	if err != nil {
		return watch, err
	}
	w.p.Note("replaying %s of %s with %s", words.Plain.Plural(int64(plan.Runs), "league"), w.base, w.inWords())
	return watch, w.playOut(ctx, dir, w.folder, factories)
}

func (w *whatIf) inWords() string {
	var list []string
	for _, x := range w.swaps {
		list = append(list, fmt.Sprintf("%s for %s", x.ref, x.player))
	}
	return strings.Join(list, " and ")
}

// recorded returns the plan of the recorded leagues.
func (w *whatIf) recorded(ctx context.Context) (results.Plan, error) {
	reader, err := w.p.OpenRun("whatif", w.base)
	if err != nil {
		return results.Plan{}, err
	}
	defer reader.Close()
	plan := reader.Plan()
	plan = plan.ForLeagues() // all recorded leagues, wherever the swap would have ended the run
	plan.Runs = 0
	err = lab.EachLeague(ctx, reader, func(*results.League) error { plan.Runs++; return nil })
	if err != nil {
		return plan, lab.ReadError("whatif", w.base, err)
	}
	if n := w.opt.Runs; n > plan.Runs {
		return plan, command.Usagef("--runs is %d, but %s has %d leagues", n, w.base, plan.Runs)
	} else if n > 0 {
		plan.Runs = n
	}
	return plan, nil
}

// swapped puts the new strategies into the plan and returns the code of all. The
// code of the others must not have changed: else not every change would come from
// the swaps.
func (w *whatIf) swapped(ctx context.Context, plan *results.Plan, cat *catalog.Catalog) ([]strategies.Factory, error) {
	plan.Field = slices.Clone(plan.Field)
	factories := make([]strategies.Factory, len(plan.Field))
	code := w.codeOf(cat, w.base)
	for _, x := range w.swaps {
		i, err := playerIn(*plan, "--replace", w.base, x.player)
		if err != nil {
			return nil, err
		}
		entry, err := cat.Resolve(ctx, x.ref.Target)
		if err != nil {
			return nil, lab.NameError(fmt.Errorf("--replace %s: %w", x.player, err))
		}
		plan.Field[i] = results.Entrant{
			Name: x.player, Kind: string(entry.Info.Kind), Ref: x.ref.Target, Source: entry.Info.Source, Fingerprint: entry.Info.Fingerprint,
		}
		factories[i] = entry.Factory
	}
	for i, f := range plan.Field {
		if factories[i] != nil {
			continue
		}
		var err error
		if factories[i], err = code.Of(ctx, f); errors.Is(err, lab.ErrChanged) {
			return nil, command.WithHint(fmt.Errorf("whatif %s: %w", w.base, err),
				"restore the file, or swap it as well: --replace %s=%s", f.Name, cmp.Or(f.Source, f.Ref))
		} else if err != nil {
			return nil, fmt.Errorf("whatif %s: %w", w.base, err)
		}
	}
	return factories, nil
}

func (w *whatIf) playOut(ctx context.Context, dir *results.Dir, out string, factories []strategies.Factory) error {
	played, err := w.play(ctx, dir, out, factories, lab.Session{Workers: w.opt.Workers, Origin: w.p.Path(w.base)})
	if err != nil {
		return err
	}
	run := played.Document
	if err := w.printEffect(run, out); err != nil {
		return err
	}
	if played.Interrupted {
		w.p.Note("stopped after %s", leaguesOf(run.Estimates.Leagues, run.Plan.Runs))
		return command.Reported(command.ErrStopped)
	}
	w.p.Note("new leagues in %s; to compare them: strategylab compare %s DIR", out, words.ShellWord(out))
	return verdictOn(run)
}

func (w *whatIf) printEffect(run *report.Document, out string) error {
	// The new leagues are complete, so this is quick even after an interrupt.
	effect, err := contrastOf(context.WithoutCancel(w.c.Context), w.p, "whatif", []string{w.base, out}, w.opt.Level)
	if err != nil {
		return err
	}
	effect.Assertions = run.Assertions
	for _, x := range w.swaps {
		effect.Replaced = append(effect.Replaced, x.player)
	}
	return showContrast(w.p, w.opt.Format, effect)
}
