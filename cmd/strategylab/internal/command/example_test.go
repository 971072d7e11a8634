package command_test

import (
	"os"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
)

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
