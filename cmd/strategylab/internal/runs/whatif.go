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
		Name: "whatif", ArgsUsage: "DIR", Usage: "play the leagues of a run again with a strategy exchanged",
		Description: "Plays the recorded leagues again, with the same seats, draws and coins, and says what the exchange\n" +
			"changes for every player, the others included: strategies that learn from all they meet pass\n" +
			"changes on. The new leagues are kept in a folder of their own, as those of an experiment are.",
		Flags: append([]cli.Flag{
			&cli.GenericFlag{Name: flagReplace, Value: &command.Texts{}, Usage: "`PLAYER=STRATEGY`, for example mine=scripts/new.lua; repeatable"},
			&cli.IntFlag{Name: command.FlagRuns, Usage: "leagues to play again (default: all that are recorded)"},
			&cli.StringFlag{Name: command.FlagOut, Usage: "folder for the new leagues (default: runs/<time>-<seed>-whatif)"},
			&cli.BoolFlag{Name: flagWatch, Usage: "once more whenever a script that was put in changes"},
			&cli.IntFlag{Name: command.FlagWorkers, Usage: "leagues under way at once (default: one a processor)"},
			command.LevelFlag(),
			command.FormatFlag("table, json or csv"),
			assertFlag(),
			command.QuietFlag(),
		}, command.CatalogFlags()...),
		Action: func(c *cli.Context) error { return whatif(p, c) },
	}
}

// exchange puts a strategy in the place of a player.
type exchange struct {
	player string
	ref    catalog.Ref
}

// whatIf is one exchange of strategies in a recorded run.
type whatIf struct {
	output
	workers   int
	base      string // folder of the recorded run, as the user calls it
	exchanges []exchange
	level     float64
}

func whatif(p *command.Process, c *cli.Context) error {
	args, err := command.Arguments(c, "DIR")
	if err != nil {
		return err
	}
	out, err := newOutput(p, c, "table", "json", "csv")
	if err != nil {
		return err
	}
	w := &whatIf{base: args[0], output: out}
	if w.level, err = command.Level(c); err != nil {
		return err
	}
	if c.IsSet(command.FlagRuns) {
		if _, err := command.AtLeast(c, command.FlagRuns, 1); err != nil {
			return err
		}
	}
	if w.workers, err = command.Workers(c); err != nil {
		return err
	}
	if w.exchanges, err = parseExchanges(command.TextsOf(c, flagReplace)); err != nil {
		return err
	}
	if c.Bool(flagWatch) {
		return w.watchScripts(c.Context)
	}
	_, err = w.playAgain(c.Context, w.outFor(1))
	return err
}

func parseExchanges(list []string) ([]exchange, error) {
	if len(list) == 0 {
		return nil, command.WithHint(fmt.Errorf("--%s is missing", flagReplace), "say whose strategy is exchanged for which: --%s mine=scripts/new.lua", flagReplace)
	}
	var out []exchange
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
			return nil, command.Usagef("--%s %q: one player is exchanged for one strategy, not for %d copies", flagReplace, text, ref.Copies)
		}
		if slices.ContainsFunc(out, func(x exchange) bool { return x.player == player }) {
			return nil, command.Usagef("--%s exchanges %s twice", flagReplace, player)
		}
		out = append(out, exchange{player, ref})
	}
	return out, nil
}

// outFor is the folder for the n-th time of a watch.
func (w *whatIf) outFor(n int) string {
	out := w.c.String(command.FlagOut)
	if out == "" {
		out = filepath.Join("runs", w.p.Now().Format("20060102-150405")+"-whatif")
	}
	if n > 1 {
		out = fmt.Sprintf("%s-%d", out, n)
	}
	return out
}

// watchScripts gives the verdict again whenever a script that was put in changes.
func (w *whatIf) watchScripts(ctx context.Context) error {
	if w.format != "table" {
		return command.Usagef("--%s prints for people; it goes with --%s table only", flagWatch, command.FlagFormat)
	}
	var watch *catalog.Watch
	for n := 1; ; {
		now, err := w.playAgain(ctx, w.outFor(n))
		if now != nil {
			watch = now
		}
		switch err = withoutVerdict(err); {
		case ctx.Err() != nil || err != nil && n == 1:
			return err
		case err != nil: // a script is broken just now; it will be saved again
			fmt.Fprintf(w.p.Stderr, "strategylab: %v\n", err)
		default:
			n++
		}
		if err := w.await(ctx, watch); err != nil || ctx.Err() != nil {
			return err
		}
		fmt.Fprintln(w.p.Stdout)
	}
}

// playAgain plays the leagues with the strategies exchanged and prints what that
// changes. The watch is of the scripts that are put in.
func (w *whatIf) playAgain(ctx context.Context, out string) (*catalog.Watch, error) {
	cat, err := command.LoadCatalog(ctx, w.p, w.c)
	if err != nil {
		return nil, err
	}
	defer cat.Close()
	refs := make([]catalog.Ref, len(w.exchanges))
	for i, x := range w.exchanges {
		refs[i] = x.ref
	}
	watch := cat.WatchRefs(refs)
	plan, err := w.recorded(ctx)
	if err != nil {
		return watch, err
	}
	factories, err := w.exchanged(&plan, cat)
	if err != nil {
		return watch, err
	}
	if _, err := w.judge(plan); err != nil {
		return watch, err // before there is a folder
	}
	dir, err := results.Create(w.p.Path(out), plan)
	if err != nil {
		if errors.Is(err, results.ErrExists) {
			err = command.WithHint(err, "name another folder with --%s", command.FlagOut)
		}
		return watch, err
	}
	w.note("playing %d leagues of %s again with %s", plan.Runs, w.base, w.inWords())
	return watch, w.playOut(ctx, dir, out, factories)
}

func (w *whatIf) inWords() string {
	var list []string
	for _, x := range w.exchanges {
		list = append(list, fmt.Sprintf("%s for %s", x.ref, x.player))
	}
	return strings.Join(list, " and ")
}

// recorded returns the plan of the recorded leagues, of as many as there are.
func (w *whatIf) recorded(ctx context.Context) (results.Plan, error) {
	reader, err := w.p.OpenRun("whatif", w.base)
	if err != nil {
		return results.Plan{}, err
	}
	defer reader.Close()
	plan := reader.Plan()
	plan.Stop = nil // as many leagues as there are, wherever the exchange would have ended the run
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

// exchanged puts the new strategies into the plan and finds the code of all. That
// of the others must be what the record was played with: otherwise what changes
// would not come from the exchange.
func (w *whatIf) exchanged(plan *results.Plan, cat *catalog.Catalog) ([]strategies.Factory, error) {
	plan.Field = slices.Clone(plan.Field)
	factories := make([]strategies.Factory, len(plan.Field))
	for _, x := range w.exchanges {
		i := slices.IndexFunc(plan.Field, func(f results.Entrant) bool { return f.Name == x.player })
		if i < 0 {
			var names []string
			for _, f := range plan.Field {
				names = append(names, f.Name)
			}
			return nil, command.WithHint(fmt.Errorf("--%s: there is no player %q in %s", flagReplace, x.player, w.base), "its players are %s", strings.Join(names, ", "))
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
		if factories[i], err = lab.FactoryOf(f, cat); errors.Is(err, lab.ErrChanged) {
			return nil, command.WithHint(fmt.Errorf("whatif %s: %w", w.base, err),
				"restore the file, or exchange it as well: --%s %s=%s", flagReplace, f.Name, cmp.Or(f.Source, f.Ref))
		} else if err != nil {
			return nil, fmt.Errorf("whatif %s: %w", w.base, err)
		}
	}
	return factories, nil
}

// playOut plays the leagues into their folder, closes it, and compares.
func (w *whatIf) playOut(ctx context.Context, dir *results.Dir, out string, factories []strategies.Factory) error {
	played, err := w.play(ctx, dir, out, factories, w.workers, nil)
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
	w.note("the new leagues are in %s; compare them with others: strategylab compare %s DIR", out, out)
	return verdictOn(run)
}

// printEffect compares the recorded leagues with the new ones.
func (w *whatIf) printEffect(run *report.Run, out string) error {
	dirs := []string{w.base, out}
	var readers [2]*results.Reader
	for i, dir := range dirs {
		var err error
		if readers[i], err = w.p.OpenRun("whatif", dir); err != nil {
			return err
		}
		defer readers[i].Close()
	}
	// The new leagues are complete, so this is soon done, even where the user
	// has asked to stop.
	effect, err := contrastOf(context.WithoutCancel(w.c.Context), readers, dirs, w.level)
	if err != nil {
		return err
	}
	effect.Assertions = run.Assertions
	for _, x := range w.exchanges {
		effect.Replaced = append(effect.Replaced, x.player)
	}
	return showContrast(w.p, w.format, effect)
}
