package authoring

import (
	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/plugins/isolate"
	"github.com/strategylab/strategylab/strategies/catalog"
)

func serveCommand() *cli.Command {
	return &cli.Command{
		Name: lab.CommandServe, Hidden: true, Usage: "serve built-in strategies to the strategylab that has started this process",
		Action: func(*cli.Context) error { lab.ServePlugin(); return nil },
	}
}

func workerCommand() *cli.Command {
	return &cli.Command{
		Name: lab.CommandWorker, Hidden: true, Usage: "run a script for the strategylab that has started this process",
		Action: func(*cli.Context) error { isolate.Serve(catalog.Formats()); return nil },
	}
}
