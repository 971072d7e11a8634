package command_test

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
)

// Flags may stand after arguments.
func ExampleReorder() {
	app := &cli.App{Commands: []*cli.Command{{Name: "match", Flags: []cli.Flag{&cli.IntFlag{Name: "matches"}}}}}
	fmt.Println(command.Reorder(app, []string{"strategylab", "match", "mine", "random", "--matches", "50"}))
	// Output:
	// [strategylab match --matches 50 -- mine random]
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
