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
)

// DefaultPlugins is the folder of plugins unless another is named.
const DefaultPlugins = "plugins/bin"

// FolderFlags are the folders of strategies.
func FolderFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: FlagScripts, Value: catalog.DefaultScripts, Usage: "folder of *.lua and *.js scripts"},
		&cli.StringFlag{Name: FlagPlugins, Value: DefaultPlugins, Usage: "folder of plugins"},
	}
}

// LimitFlags are the budget of one script call. [Limits] reads them.
func LimitFlags() []cli.Flag {
	return []cli.Flag{
		&cli.DurationFlag{
			Name: FlagTimeLimit, Value: budget.DefaultTime, Usage: "time limit per script call",
			Action: func(_ *cli.Context, d time.Duration) error {
				if d < time.Millisecond || d > time.Hour {
					return Usagef("--%s is %v, want 1ms to 1h", FlagTimeLimit, d)
				}
				return nil
			},
		},
		&cli.Int64Flag{
			Name: FlagInstructions, Value: budget.DefaultInstructions, Usage: "instruction limit per Lua call",
			Action: func(_ *cli.Context, n int64) error {
				if n < 1000 {
					return Usagef("--%s is %d, want at least 1000", FlagInstructions, n)
				}
				return nil
			},
		},
	}
}

// CatalogFlags say which strategies to load and how to run them. [LoadCatalog]
// reads them.
func CatalogFlags() []cli.Flag { return catalogFlags(false) }

// LiveCatalogFlags are the same for commands that play against others: there
// scripts are isolated by default.
func LiveCatalogFlags() []cli.Flag { return catalogFlags(true) }

func catalogFlags(isolate bool) []cli.Flag {
	return slices.Concat(FolderFlags(), LimitFlags(), []cli.Flag{
		&cli.BoolFlag{Name: FlagIsolate, Value: isolate, Usage: "run each script in its own process"},
	})
}

// Limits returns the budget of one script call.
func Limits(c *cli.Context) budget.Limits {
	return budget.Limits{Time: c.Duration(FlagTimeLimit), Instructions: c.Int64(FlagInstructions)}
}

// LoadCatalog loads the catalog that the flags describe. The caller closes it.
func LoadCatalog(ctx context.Context, p *Process, c *cli.Context) (*catalog.Catalog, error) {
	return p.Load(ctx, lab.Supply{
		Scripts: c.String(FlagScripts), Required: c.IsSet(FlagScripts), Plugins: c.String(FlagPlugins),
		Limits: Limits(c), Isolate: c.Bool(FlagIsolate), Log: ChildLog(p, c),
	})
}

// LoadStrategy loads the catalog, which the caller closes, and finds in it the
// strategy that the command line names.
func LoadStrategy(p *Process, c *cli.Context, target string) (*catalog.Catalog, catalog.Entry, error) {
	cat, err := LoadCatalog(c.Context, p, c)
	if err != nil {
		return nil, catalog.Entry{}, err
	}
	e, err := cat.Resolve(target)
	if err != nil {
		_ = cat.Close() // the name is the error to report
		return nil, catalog.Entry{}, lab.NameError(err)
	}
	return cat, e, nil
}

// WarnOfSlips prints what the scripts of players read although it does not exist and,
// with failures, how they fail, unless --quiet is set. It watches them in this process, also where they are isolated by
// default, but not if the user asked for isolation.
func WarnOfSlips(p *Process, c *cli.Context, players []catalog.Player, failures bool) {
	if c.Bool(FlagQuiet) || c.IsSet(FlagIsolate) && c.Bool(FlagIsolate) {
		return
	}
	for _, f := range p.Slips(c.Context, players, Limits(c), failures) {
		text := fmt.Sprintf("strategylab: warning: %s: %s", f.Where, f.What)
		if f.Hint != "" {
			text += " (" + f.Hint + ")"
		}
		fmt.Fprintln(p.Stderr, text)
	}
}

// ChildLog is the log of plugin and script processes, for people.
func ChildLog(p *Process, c *cli.Context) *slog.Logger {
	if c.Bool(FlagQuiet) {
		return p.Logger(slog.LevelError)
	}
	return p.Logger(slog.LevelWarn)
}
