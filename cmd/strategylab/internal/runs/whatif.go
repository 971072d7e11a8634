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
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

const flagReplace = "replace"

func whatifCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "whatif", ArgsUsage: "DIR", Usage: "replay a run with one strategy swapped",
		Description: "Replays the recorded leagues with the same seats, draws and coins, and prints how the swap changes every\n" +
			"player, the others included: strategies that learn pass changes on. The new leagues stay in --out.",
		Flags: append([]cli.Flag{
			&cli.GenericFlag{Name: flagReplace, Value: &command.Texts{}, Usage: "swap `PLAYER=STRATEGY`, such as mine=scripts/new.lua; repeatable"},
			&cli.IntFlag{Name: command.FlagRuns, Usage: "leagues to replay", DefaultText: "all", Action: command.AtLeast(command.FlagRuns, 1)},
			&cli.StringFlag{Name: command.FlagOut, Usage: "folder for the new leagues", DefaultText: "runs/TIME-whatif"},
			&cli.BoolFlag{Name: flagWatch, Usage: "repeat whenever a swapped-in script changes"},
			command.WorkersFlag("leagues played"),
			command.LevelFlag(),
			command.FormatFlag("table", "json", "csv"),
			assertFlag(),
			command.QuietFlag(),
		}, command.CatalogFlags()...),
		Action: command.Action(p, whatif, "DIR"),
	}
}

// swap gives a player another strategy.
type swap struct {
	player string
	ref    catalog.Ref
}

// whatIf replays a recorded run with swapped strategies.
type whatIf struct {
	output
	workers int
	base    string // folder of the recorded run, as the user wrote it
	swaps   []swap
	level   float64
}

func whatif(p *command.Process, c *cli.Context) error {
	w := &whatIf{
		base: c.Args().First(), output: newOutput(p, c), level: c.Float64(command.FlagLevel), workers: c.Int(command.FlagWorkers),
	}
	var err error
	if w.swaps, err = parseSwaps(command.TextsOf(c, flagReplace)); err != nil {
		return err
	}
	folder := cmp.Or(c.String(command.FlagOut), filepath.Join("runs", p.Now().Format("20060102-150405")+"-whatif"))
	if !c.Bool(flagWatch) {
		_, err = w.playAgain(c.Context, folder)
		return err
	}
	return w.repeat(c.Context, func(n int) (*catalog.Watch, error) {
		watch, err := w.playAgain(c.Context, numbered(folder, n))
		fmt.Fprintln(p.Stdout)
		return watch, err
	})
}

func parseSwaps(list []string) ([]swap, error) {
	if len(list) == 0 {
		return nil, command.WithHint(fmt.Errorf("--%s is missing", flagReplace), "name a player and its new strategy: --%s mine=scripts/new.lua", flagReplace)
	}
	var out []swap
	for _, text := range list {
		player, target, ok := strings.Cut(text, "=")
		player = strings.TrimSpace(player)
		if !ok || player == "" || strings.TrimSpace(target) == "" {
			return nil, command.Usagef("--%s is %q, want PLAYER=STRATEGY, for example mine=scripts/new.lua", flagReplace, text)
		}
		ref, err := catalog.ParseRef(target)
		if err != nil {
			return nil, command.Usagef("--%s %q: %w", flagReplace, text, err)
		}
		if ref.Copies != 1 {
			return nil, command.Usagef("--%s %q: a player takes one strategy, not %d copies", flagReplace, text, ref.Copies)
		}
		if slices.ContainsFunc(out, func(x swap) bool { return x.player == player }) {
			return nil, command.Usagef("--%s swaps %s twice", flagReplace, player)
		}
		out = append(out, swap{player, ref})
	}
	return out, nil
}

// playAgain replays the leagues with the swaps and prints what they change. The
// watch is of the swapped-in scripts.
func (w *whatIf) playAgain(ctx context.Context, out string) (*catalog.Watch, error) {
	cat, err := command.LoadCatalog(ctx, w.p, w.c)
	if err != nil {
		return nil, err
	}
	defer cat.Close()
	refs := make([]catalog.Ref, len(w.swaps))
	for i, x := range w.swaps {
		refs[i] = x.ref
	}
	watch := cat.WatchRefs(refs)
	plan, err := w.recorded(ctx)
	if err != nil {
		return watch, err
	}
	factories, err := w.swapped(&plan, cat)
	if err != nil {
		return watch, err
	}
	if _, err := w.judge(plan); err != nil {
		return watch, err // before the folder exists
	}
	dir, err := results.Create(w.p.Path(out), plan)
	if err != nil {
		if errors.Is(err, results.ErrExists) {
			err = command.WithHint(err, "choose another folder with --%s", command.FlagOut)
		}
		return watch, err
	}
	w.note("replaying %d leagues of %s with %s", plan.Runs, w.base, w.inWords())
	return watch, w.playOut(ctx, dir, out, factories)
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
	plan.Stop = nil // all recorded leagues, wherever the swap would have ended the run
	plan.Runs = 0
	err = lab.EachLeague(ctx, reader, func(*results.League) error { plan.Runs++; return nil })
	if err == nil && plan.Runs == 0 {
		err = lab.ErrNoLeague
	}
	if err != nil {
		return plan, lab.ReadError("whatif", w.base, err)
	}
	if n := w.c.Int(command.FlagRuns); n > plan.Runs {
		return plan, command.Usagef("--%s is %d, but %s has %d leagues", command.FlagRuns, n, w.base, plan.Runs)
	} else if n > 0 {
		plan.Runs = n
	}
	return plan, nil
}

// swapped puts the new strategies into the plan and returns the code of all. The
// code of the others must not have changed: else not every change would come from
// the swaps.
func (w *whatIf) swapped(plan *results.Plan, cat *catalog.Catalog) ([]strategies.Factory, error) {
	plan.Field = slices.Clone(plan.Field)
	factories := make([]strategies.Factory, len(plan.Field))
	code := w.codeOf(cat, w.base)
	for _, x := range w.swaps {
		i := slices.IndexFunc(plan.Field, func(f results.Entrant) bool { return f.Name == x.player })
		if i < 0 {
			var names []string
			for _, f := range plan.Field {
				names = append(names, f.Name)
			}
			return nil, command.WithHint(fmt.Errorf("--%s: no player %q in %s", flagReplace, x.player, w.base), "the players are %s", strings.Join(names, ", "))
		}
		entry, err := cat.Resolve(x.ref.Target)
		if err != nil {
			return nil, lab.NameError(fmt.Errorf("--%s %s: %w", flagReplace, x.player, err))
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
		if factories[i], err = code.Of(f); errors.Is(err, lab.ErrChanged) {
			return nil, command.WithHint(fmt.Errorf("whatif %s: %w", w.base, err),
				"restore the file, or swap it as well: --%s %s=%s", flagReplace, f.Name, cmp.Or(f.Source, f.Ref))
		} else if err != nil {
			return nil, fmt.Errorf("whatif %s: %w", w.base, err)
		}
	}
	return factories, nil
}

// playOut plays the leagues into their folder, closes it and compares.
func (w *whatIf) playOut(ctx context.Context, dir *results.Dir, out string, factories []strategies.Factory) error {
	played, err := w.play(ctx, dir, out, factories, lab.Session{Workers: w.workers, Origin: w.p.Path(w.base)})
	if err != nil {
		return err
	}
	run := &played.Run
	if err := w.printEffect(run, out); err != nil {
		return err
	}
	if played.Interrupted {
		w.note("stopped after %d of %d leagues", run.Estimates.Leagues, run.Plan.Runs)
		return command.Reported(command.ErrStopped)
	}
	w.note("new leagues in %s; to compare them: strategylab compare %s DIR", out, out)
	return verdictOn(run)
}

// printEffect compares the recorded leagues with the new ones.
func (w *whatIf) printEffect(run *report.Run, out string) error {
	// The new leagues are complete, so this is quick even after an interrupt.
	effect, err := contrastOf(context.WithoutCancel(w.c.Context), w.p, "whatif", []string{w.base, out}, w.level)
	if err != nil {
		return err
	}
	effect.Assertions = run.Assertions
	for _, x := range w.swaps {
		effect.Replaced = append(effect.Replaced, x.player)
	}
	return showContrast(w.p, w.format, effect)
}
