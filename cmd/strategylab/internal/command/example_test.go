package command_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
)

// Flags may stand after arguments.
func ExampleReadLine() {
	app := &cli.App{Commands: []*cli.Command{{Name: "match", Flags: []cli.Flag{&cli.IntFlag{Name: "matches"}}}}}
	line, err := command.ReadLine(app, []string{"strategylab", "match", "mine", "random", "--matches", "50"}, nil)
	fmt.Println(line.Args(), err)
	// Output:
	// [strategylab match --matches=50 -- mine random] <nil>
}

// A mistake in the command line has a second line that says how to fix it.
func ExampleWithHint() {
	err := command.WithHint(errors.New("--replace is missing"), "name a player and its new strategy: --replace mine=scripts/new.lua")
	fmt.Println(err)
	fmt.Println(" ", command.HintOf(err))
	// Output:
	// --replace is missing
	//   name a player and its new strategy: --replace mine=scripts/new.lua
}

// On a terminal, messages are broken between words; commands stay in one piece.
func ExampleProcess_Say() {
	p := command.Process{Stderr: os.Stdout, Err: command.Terminal{Columns: 40}}
	p.Say("strategylab: resume runs/a: the folder holds no run\n  strategylab experiment --runs 1000 --out runs/a")
	p.Err = command.Terminal{}
	p.Warn("where stderr is no terminal, every message has one line")
	// Output:
	// strategylab: resume runs/a: the folder
	//   holds no run
	//   strategylab experiment --runs 1000 --out runs/a
	// strategylab: warning: where stderr is no terminal, every message has one line
}
