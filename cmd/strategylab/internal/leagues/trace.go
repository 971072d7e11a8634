package leagues

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/jsonrpc"
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
		Name: "trace", Usage: "show, audit and replay recordings of live commands",
		Subcommands: []*cli.Command{{
			Name: "show", ArgsUsage: "FILE", Usage: "print a recording as a conversation",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: flagMatch, Usage: "only this match, such as R1M1"},
				&cli.StringFlag{Name: flagAgent, Usage: "only messages of this agent: id or URL part"},
				&cli.StringFlag{Name: flagType, Usage: "only this message type, such as CHOOSE_PARITY_CALL"},
				&cli.BoolFlag{Name: command.FlagAll, Usage: "print MCP's own messages and probes, too"},
				&cli.BoolFlag{Name: flagBodies, Usage: "print whole messages"},
				&cli.BoolFlag{Name: flagBoth, Usage: "print messages between two recorded agents twice"},
			},
			Action: command.Action(p, showTrace, recording),
		}, auditCommand(p), playbackCommand(p)},
	}
}

// recording names the positional argument of the commands that read one.
const recording = "the recording"

// readTrace reads the recording that the command line names.
func readTrace(p *command.Process, c *cli.Context) (*trace.Recording, error) {
	path := c.Args().First()
	file, err := os.Open(p.Path(path))
	if err != nil {
		return nil, command.WithHint(fmt.Errorf("%s: %w", command.Name(c), err),
			"name a recording, which --%s FILE of a live command makes", flagRecord)
	}
	defer file.Close() // it was only read
	rec, err := trace.Read(file)
	if err != nil {
		return nil, command.Usagef("%s: %s: %w", command.Name(c), path, err)
	}
	if rec.Torn {
		p.Warn("%s is truncated, as after a kill; reading what is there", path)
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
	all := len(rec.Select(f))
	f.Bare = !c.Bool(command.FlagAll)
	chosen := rec.Select(f)
	if len(chosen) == 0 {
		return command.WithHint(fmt.Errorf("the flags select none of the %d exchanges of the recording", len(rec.Exchanges)),
			"strategylab trace show FILE --%s shows all", command.FlagAll)
	}
	remarks := slices.DeleteFunc(rec.Remarks, func(m trace.Remark) bool {
		return f.Match != "" && m.Match != f.Match || f.Agent != "" && m.Agent != f.Agent || f.Type != ""
	})
	if hidden := all - len(chosen); hidden > 0 {
		fmt.Fprintf(p.Stderr, "%s not shown, which are not the league's; --%s shows them\n", words.Plain.Plural(int64(hidden), "exchange"), command.FlagAll)
	}
	return trace.Show(p.Stdout, chosen, trace.Format{Bodies: c.Bool(flagBodies), Remarks: remarks})
}

const flagRecord = "record"

func recordFlag() cli.Flag {
	return &cli.StringFlag{Name: flagRecord, Usage: "`FILE`: recording of all messages, tokens masked"}
}

// recorder records the messages of a command. The zero value records nothing.
type recorder struct {
	rec   *trace.Recorder
	after func(*error) // runs the audit, if there is one
}

// startRecording starts the recording that --record or --audit ask for.
func startRecording(p *command.Process, c *cli.Context) (recorder, error) {
	path, after, err := auditAfter(p, c)
	if path == "" || err != nil {
		return recorder{}, err
	}
	rec, err := trace.Create(p.Path(path), trace.Head{Command: c.Command.FullName()}, p.Now)
	if err != nil {
		return recorder{}, command.Usagef("--%s: %w", flagRecord, err)
	}
	return recorder{rec, after}, nil
}

// tap returns what records the messages of an agent; nil for nothing.
func (r recorder) tap(agent string) jsonrpc.Tap {
	if r.rec == nil {
		return nil
	}
	return r.rec.Tap(agent)
}

// end ends the recording and runs the audit. It joins their errors to that of the
// command.
func (r recorder) end(err *error) {
	if r.rec != nil {
		*err = errors.Join(*err, r.rec.Close())
		r.after(err)
	}
}
