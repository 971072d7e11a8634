package leagues

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

const (
	flagMatch  = "match"
	flagAgent  = "agent"
	flagType   = "type"
	flagBodies = "bodies"
	flagBoth   = "both-sides"
)

func traceCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "trace", Usage: "read what --record of a live command has recorded",
		Subcommands: []*cli.Command{{
			Name: "show", ArgsUsage: "FILE", Usage: "print a recording as a conversation",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: flagMatch, Usage: "only this match, for example R1M1"},
				&cli.StringFlag{Name: flagAgent, Usage: "only messages from or to this agent: an id, or part of its URL"},
				&cli.StringFlag{Name: flagType, Usage: "only this message type, for example CHOOSE_PARITY_CALL"},
				&cli.BoolFlag{Name: flagBodies, Usage: "print the messages whole"},
				&cli.BoolFlag{Name: flagBoth, Usage: "print what two agents of this recording saw twice, as each saw it"},
			},
			Action: func(c *cli.Context) error { return showTrace(p, c) },
		}, auditCommand(p), playbackCommand(p)},
	}
}

// readTrace reads the recording that is named on the command line.
func readTrace(p *command.Process, c *cli.Context) (*trace.Recording, error) {
	args, err := command.Arguments(c, "the recording")
	if err != nil {
		return nil, err
	}
	file, err := os.Open(p.Path(args[0]))
	if err != nil {
		return nil, command.Usagef("%s: %w", c.Command.FullName(), err)
	}
	defer file.Close() // it was only read
	rec, err := trace.Read(file)
	if err != nil {
		return nil, command.Usagef("%s: %s: %w", c.Command.FullName(), args[0], err)
	}
	if rec.Torn {
		p.Warn("the end of a run is missing in %s, as after a kill; what came before it is read", args[0])
	}
	return rec, nil
}

func showTrace(p *command.Process, c *cli.Context) error {
	rec, err := readTrace(p, c)
	if err != nil {
		return err
	}
	f := trace.Filter{
		Match: c.String(flagMatch), Agent: c.String(flagAgent), Type: protocol.Type(c.String(flagType)), Once: !c.Bool(flagBoth),
	}
	chosen := rec.Select(f)
	if len(chosen) == 0 {
		return command.WithHint(fmt.Errorf("none of the %d exchanges in the recording is chosen by the flags", len(rec.Exchanges)),
			"strategylab trace show FILE without flags shows all")
	}
	return trace.Show(p.Stdout, chosen, trace.Format{Bodies: c.Bool(flagBodies)})
}
