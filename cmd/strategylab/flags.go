package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// Flags that several commands have mean the same in each of them.
const (
	flagScripts      = "scripts"
	flagTimeLimit    = "time-limit"
	flagInstructions = "instructions"
	flagSeed         = "seed"
	flagFormat       = "format"
	flagDraw         = "draw"
	flagLegs         = "legs"
	flagWorkers      = "workers"
	flagQuiet        = "quiet"
)

func catalogFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: flagScripts, Value: catalog.DefaultScripts, Usage: "folder to look through for *.lua and *.js"},
		&cli.DurationFlag{Name: flagTimeLimit, Value: budget.DefaultTime, Usage: "time that one call of a script may take"},
		&cli.Int64Flag{Name: flagInstructions, Value: budget.DefaultInstructions, Usage: "instructions that one call of a Lua script may take"},
		&cli.StringFlag{Name: flagPlugins, Value: defaultPlugins, Usage: "folder to look through for programs that play strategies"},
		&cli.BoolFlag{Name: flagIsolate, Usage: "run every script in a process of its own"},
	}
}

// liveCatalogFlags are the same for commands that play with others: there
// scripts are kept apart unless that is turned off.
func liveCatalogFlags() []cli.Flag {
	flags := catalogFlags()
	for _, f := range flags {
		if b, ok := f.(*cli.BoolFlag); ok && b.Name == flagIsolate {
			b.Value = true
		}
	}
	return flags
}

func seedFlag() cli.Flag {
	return &cli.StringFlag{Name: flagSeed, Usage: "whole number that all chance comes from (default: drawn, and printed)"}
}

func formatFlag(formats string) cli.Flag {
	return &cli.StringFlag{Name: flagFormat, Value: "table", Usage: formats}
}

func limits(c *cli.Context) (budget.Limits, error) {
	l := budget.Limits{Time: c.Duration(flagTimeLimit), Instructions: c.Int64(flagInstructions)}
	if l.Time < time.Millisecond || l.Time > time.Hour {
		return l, usagef("--%s is %v, want 1ms to 1h", flagTimeLimit, l.Time)
	}
	if l.Instructions < 1000 {
		return l, usagef("--%s is %d, want at least 1000", flagInstructions, l.Instructions)
	}
	return l, nil
}

// loadCatalog loads the catalogue that the flags of catalogFlags describe.
func loadCatalog(ctx context.Context, p *process, c *cli.Context) (*catalog.Catalog, error) {
	l, err := limits(c)
	if err != nil {
		return nil, err
	}
	return p.load(ctx, supply{
		scripts: c.String(flagScripts), required: c.IsSet(flagScripts), plugins: c.String(flagPlugins),
		limits: l, isolate: c.Bool(flagIsolate), log: p.childLog(c),
	})
}

// loadStrategy loads the catalogue, which the caller closes, and finds in it
// the strategy that the command line names.
func loadStrategy(p *process, c *cli.Context, target string) (*catalog.Catalog, catalog.Entry, error) {
	cat, err := loadCatalog(c.Context, p, c)
	if err != nil {
		return nil, catalog.Entry{}, err
	}
	e, err := cat.Resolve(target)
	if err != nil {
		_ = cat.Close() // the name is the error to tell
		return nil, catalog.Entry{}, named(err)
	}
	return cat, e, nil
}

// named turns a catalogue's error about a name on the command line into a
// mistake of the command line, unless the strategy itself is at fault.
func named(err error) error {
	var broken *strategies.Error
	if err == nil || errors.As(err, &broken) {
		return err
	}
	return withHint(err, "strategylab strategies list shows what there is")
}

// seed returns the seed that was asked for, or one that is drawn now.
func seed(p *process, c *cli.Context) (uint64, error) {
	text := c.String(flagSeed)
	if text == "" {
		s, err := p.entropy()
		if err != nil {
			return 0, fmt.Errorf("draw a seed: %w", err)
		}
		return s >> 11, nil // 53 bits: exact in every program that reads JSON
	}
	s, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return 0, usagef("--%s is %q, want a whole number from 0 to 2^64-1", flagSeed, text)
	}
	return s, nil
}

// oneOf checks a flag that has a few values.
func oneOf(c *cli.Context, flag string, values ...string) (string, error) {
	for _, v := range values {
		if c.String(flag) == v {
			return v, nil
		}
	}
	return "", usagef("--%s is %q, want one of %s", flag, c.String(flag), strings.Join(values, ", "))
}

// atLeast checks a flag that is a number.
func atLeast(c *cli.Context, flag string, least int) (int, error) {
	if n := c.Int(flag); n < least {
		return 0, usagef("--%s is %d, want at least %d", flag, n, least)
	}
	return c.Int(flag), nil
}
