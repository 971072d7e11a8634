package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/assistants"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/authoring"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/clusters"
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
			"that is. Start with:\n\n  strategylab experiment --runs 1000",
		Reader:         p.Stdin,
		Writer:         p.Stdout,
		ErrWriter:      p.Stderr,
		Flags:          p.GlobalFlags(),
		HideHelp:       true, // a Line knows who asks for help
		HideVersion:    true,
		ExitErrHandler: func(*cli.Context, error) {}, // run turns errors into exit codes
		OnUsageError:   command.OnUsageError,
	}
	app.Commands = slices.Concat(runs.Commands(p), authoring.Commands(p), leagues.Commands(p), clusters.Commands(p), assistants.Commands(p), command.Commands(p, app))
	command.Tidy(app.Commands)
	return app
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, p command.Process) int {
	p.GuardMessages()
	if serve := p.Service(p.Args); serve != nil {
		err := serve()
		if err != nil {
			p.Say("strategylab: %v", err)
		}
		return exitCode(err)
	}
	defer p.Close()
	p.GuardOutput()
	app := newApp(&p)
	line, err := command.ReadLine(app, p.Args, p.Env)
	switch {
	case err != nil:
	case line.Help:
		err = line.WriteHelp(p.Stdout, p.Out.Columns)
	case line.Version:
		_, err = fmt.Fprintf(p.Stdout, "%s %s\n", app.Name, command.Version(p.Build))
	default:
		err = app.RunContext(ctx, line.Args())
	}
	if err != nil && !command.IsReported(err) {
		p.Say("strategylab: %v", err)
		if hint := command.HintOf(err); hint != "" {
			p.Say("  %s", hint)
		}
		for _, v := range line.Variables(err) {
			fmt.Fprintf(p.Stderr, "  the environment sets %s\n", v)
		}
	}
	return exitCode(err)
}
