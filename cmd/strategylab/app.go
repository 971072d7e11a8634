package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/assistants"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/authoring"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/leagues"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/runs"
	"github.com/urfave/cli/v2"
)

// newApp builds the command tree over a process.
func newApp(p *command.Process) *cli.App {
	app := &cli.App{
		Name:  "strategylab",
		Usage: "a lab for strategies of the league.v2 Even/Odd agent league",
		Description: "Plays thousands of leagues among strategies and shows which one is better, by how much and how sure\n" +
			"that is. Start with:  strategylab experiment --runs 1000",
		Reader:         p.Stdin,
		Writer:         p.Stdout,
		ErrWriter:      p.Stderr,
		Commands:       slices.Concat(runs.Commands(p), authoring.Commands(p), leagues.Commands(p), assistants.Commands(p)),
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

// tidy makes every command leave the reporting of mistakes to run, and its help
// say only the defaults that are news.
func tidy(c *cli.Command) {
	c.OnUsageError = onUsageError
	c.HideHelpCommand = true
	for _, f := range c.Flags {
		if b, ok := f.(*cli.BoolFlag); ok {
			b.DisableDefaultText = !b.Value // that a switch is off needs no words
		}
	}
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
	name := "strategylab"
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != name {
		name += " " + c.Command.FullName()
	}
	return command.WithHint(err, "%s --help lists the flags", name)
}

func unknownCommand(c *cli.Context) error {
	return command.WithHint(fmt.Errorf("unknown command %q", c.Args().First()), "strategylab help lists the commands")
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, p command.Process) int {
	app := newApp(&p)
	err := app.RunContext(ctx, command.Reorder(app, p.Args))
	if err != nil && !command.IsReported(err) {
		fmt.Fprintf(p.Stderr, "strategylab: %v\n", err)
		if hint := command.HintOf(err); hint != "" {
			fmt.Fprintf(p.Stderr, "  %s\n", hint)
		}
	}
	return exitCode(err)
}
