package command

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// Flags that say where strategies come from and how they run.
const (
	FlagScripts      = "scripts"
	FlagTimeLimit    = "time-limit"
	FlagInstructions = "instructions"
	FlagPlugins      = "plugins"
	FlagIsolate      = "isolate"
	FlagInProcess    = "in-process"
)

// DefaultPlugins is the folder of plugins unless another is named.
const DefaultPlugins = "plugins/bin"

func validTimeLimit(_ *cli.Context, d time.Duration) error {
	if d < time.Millisecond || d > time.Hour {
		return Usagef("--%s is %v, want 1ms to 1h", FlagTimeLimit, d)
	}
	return nil
}

func validInstructions(_ *cli.Context, n int64) error {
	if n < 1000 {
		return Usagef("--%s is %d, want at least 1000", FlagInstructions, n)
	}
	return nil
}

// IsolateFlag says whether scripts run in processes of their own. [LoadCatalog] reads it.
// preset is true for commands that play against others.
func IsolateFlag(preset bool) cli.Flag {
	return &cli.BoolFlag{Name: FlagIsolate, Value: preset, Usage: "run each script in its own process"}
}

// InProcessFlag says whether scripts run in this process instead of worker processes.
// [LoadCatalog] reads it.
func InProcessFlag() cli.Flag {
	return &cli.BoolFlag{
		Name: FlagInProcess, Usage: "run trusted scripts in this process, to profile them",
		Action: func(c *cli.Context, here bool) error {
			if here && c.Bool(FlagIsolate) {
				return Usagef("--%s and --%s exclude each other", FlagInProcess, FlagIsolate)
			}
			return nil
		},
	}
}

// Limits returns the budget of one script call.
func Limits(c *cli.Context) budget.Limits {
	return budget.Limits{Time: c.Duration(FlagTimeLimit), Instructions: c.Int64(FlagInstructions)}
}

// LoadCatalog loads the catalog that the global flags and --isolate describe. The caller closes it.
func LoadCatalog(ctx context.Context, p *Process, c *cli.Context) (*catalog.Catalog, error) {
	p.Stage.Set("loading strategies")
	defer p.Stage.Set("")
	supply := Supply(p, c)
	if err := addAgents(p, c, &supply); err != nil {
		return nil, err
	}
	return p.Load(ctx, supply)
}

// Supply returns where strategies come from and how they run, by the global flags,
// --isolate and --in-process. --isolate=false means this process, too.
func Supply(p *Process, c *cli.Context) lab.Supply {
	here := c.Bool(FlagInProcess) || c.IsSet(FlagIsolate) && !c.Bool(FlagIsolate)
	return lab.Supply{
		Scripts: c.String(FlagScripts), Required: c.IsSet(FlagScripts), Plugins: c.String(FlagPlugins),
		Limits: Limits(c), Isolate: c.Bool(FlagIsolate), InProcess: here, Log: ChildLog(p, c),
	}
}

// LoadStrategy loads the catalog, which the caller closes, and finds in it the
// strategy that the command line names.
func LoadStrategy(p *Process, c *cli.Context, target string) (*catalog.Catalog, catalog.Entry, error) {
	supply := Supply(p, c)
	if err := addAgents(p, c, &supply); err != nil {
		return nil, catalog.Entry{}, err
	}
	return LoadStrategyOf(p, c, supply, target)
}

// LoadStrategyOf is LoadStrategy with a given supply.
func LoadStrategyOf(p *Process, c *cli.Context, supply lab.Supply, target string) (*catalog.Catalog, catalog.Entry, error) {
	cat, err := p.Load(c.Context, supply)
	if err != nil {
		return nil, catalog.Entry{}, err
	}
	e, err := cat.Resolve(c.Context, target)
	if err != nil {
		_ = cat.Close() // the name is the error to report
		return nil, catalog.Entry{}, lab.NameError(err)
	}
	return cat, e, nil
}

// WarnOfSlips prints what the scripts of players read although it does not exist and,
// with failures, how they fail, unless --quiet is set or the user asked for isolation.
func WarnOfSlips(p *Process, c *cli.Context, players []catalog.Player, failures bool) {
	if c.Bool(FlagQuiet) || c.IsSet(FlagIsolate) && c.Bool(FlagIsolate) {
		return
	}
	for _, f := range p.Slips(c.Context, players, Limits(c), failures) {
		text := f.Where + ": " + f.What
		if f.Hint != "" {
			text += " (" + f.Hint + ")"
		}
		p.Warn("%s", text)
	}
}

// ChildLog is the log of plugin and script processes, for people.
func ChildLog(p *Process, c *cli.Context) *slog.Logger {
	if c.Bool(FlagQuiet) {
		return p.Logger(slog.LevelError)
	}
	return p.Logger(slog.LevelWarn)
}

// Few returns the first five warnings about strategies that are left out, and the number
// of the others.
func Few(warnings []string) []string {
	const most = 5
	if len(warnings) <= most {
		return warnings
	}
	return append(slices.Clone(warnings[:most]), fmt.Sprintf("%d more like these; strategylab strategies list shows them all", len(warnings)-most))
}
