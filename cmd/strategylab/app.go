package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// newApp builds the command tree over a process.
func newApp(p *process) *cli.App {
	app := &cli.App{
		Name:  "strategylab",
		Usage: "a lab for strategies in the league.v2 Even/Odd agent league",
		Description: "Play thousands of leagues among strategies and see which is better, by how much,\n" +
			"and how sure that is. Start with:  strategylab experiment --runs 1000",
		Reader:    p.stdin,
		Writer:    p.stdout,
		ErrWriter: p.stderr,
		Commands: []*cli.Command{
			experimentCommand(p),
			analyzeCommand(p),
			powerCommand(p),
			calibrateCommand(p),
			reportCommand(p),
			populationCommand(p),
			explainCommand(p),
			exportCommand(p),
			compareCommand(p),
			whatifCommand(p),
			strategiesCommand(p),
			pluginsCommand(p),
			matchCommand(p),
			replayCommand(p),
			leagueCommand(p),
			hostCommand(p),
			managerCommand(p),
			refereeCommand(p),
			playerCommand(p),
			startCommand(p),
			queryCommand(p),
			serveCommand(),
			workerCommand(),
			traceCommand(p),
			conformanceCommand(p),
			mcpCommand(p),
		},
		HideVersion:    true,
		ExitErrHandler: func(*cli.Context, error) {}, // run turns errors into exit codes
		OnUsageError:   onUsageError,
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return unknownCommand(c)
			}
			return cli.ShowAppHelp(c)
		},
	}
	for _, c := range app.Commands {
		tidy(c)
	}
	return app
}

// tidy gives every command the same manners: mistakes are reported by run, once.
func tidy(c *cli.Command) {
	c.OnUsageError = onUsageError
	c.HideHelpCommand = true
	for _, sub := range c.Subcommands {
		tidy(sub)
	}
	if c.Action == nil {
		c.Action = func(c *cli.Context) error {
			if c.Args().Present() {
				return unknownCommand(c)
			}
			return cli.ShowSubcommandHelp(c)
		}
	}
}

func onUsageError(c *cli.Context, err error, _ bool) error {
	command := "strategylab"
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != command {
		command += " " + c.Command.FullName()
	}
	return withHint(err, "%s --help lists the flags", command)
}

func unknownCommand(c *cli.Context) error {
	return withHint(fmt.Errorf("there is no command %q", c.Args().First()), "strategylab help lists the commands")
}

// arguments returns exactly the positional arguments a command wants.
func arguments(c *cli.Context, names ...string) ([]string, error) {
	got := c.Args().Slice()
	usage := strings.TrimSpace("usage: strategylab " + c.Command.FullName() + " " + c.Command.ArgsUsage)
	switch {
	case len(got) < len(names):
		return nil, withHint(fmt.Errorf("%s: %s is missing", c.Command.FullName(), names[len(got)]), "%s", usage)
	case len(got) > len(names):
		return nil, withHint(fmt.Errorf("%s: unexpected argument %q", c.Command.FullName(), got[len(names)]), "%s", usage)
	}
	return got, nil
}

// stopped reports whether a command ended because the user asked it to.
func stopped(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}
