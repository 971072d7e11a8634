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

func traceCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "trace", Usage: "show, audit and replay recordings of live commands",
		Subcommands: []*cli.Command{
			command.New(p, &cli.Command{Name: "show", ArgsUsage: "FILE", Usage: "print a recording as a conversation"}, new(traceOptions), showTrace, recording),
			auditCommand(p), playbackCommand(p),
		},
	}
}

type traceOptions struct {
	Match  string `flag:"match" usage:"only this match, such as R1M1"`
	Agent  string `flag:"agent" usage:"only messages of this agent: id or URL part"`
	Type   string `flag:"type" usage:"only this message type, such as CHOOSE_PARITY_CALL"`
	All    bool   `flag:"all" usage:"print MCP's own messages and probes, too"`
	Bodies bool   `flag:"bodies" usage:"print whole messages"`
	Both   bool   `flag:"both-sides" usage:"print messages between two recorded agents twice"`
}

// recording names the positional argument of the commands that read one.
const recording = "the recording"

// readTrace reads the recording that the command line names.
func readTrace(p *command.Process, c *cli.Context) (*trace.Recording, error) {
	path := c.Args().First()
	file, err := os.Open(p.Path(path))
	if err != nil {
		return nil, command.WithHint(fmt.Errorf("%s: %w", command.Name(c), err),
			"name a recording, which --record FILE of a live command makes")
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

func showTrace(p *command.Process, c *cli.Context, o *traceOptions) error {
	rec, err := readTrace(p, c)
	if err != nil {
		return err
	}
	f := trace.Filter{Match: o.Match, Agent: o.Agent, Type: protocol.Type(o.Type), Once: !o.Both}
	all := len(rec.Select(f))
	f.Bare = !o.All
	chosen := rec.Select(f)
	if len(chosen) == 0 {
		return command.WithHint(fmt.Errorf("the flags select none of the %d exchanges of the recording", len(rec.Exchanges)),
			"strategylab trace show FILE --all shows all")
	}
	remarks := slices.DeleteFunc(rec.Remarks, func(m trace.Remark) bool {
		return f.Match != "" && m.Match != f.Match || f.Agent != "" && m.Agent != f.Agent || f.Type != ""
	})
	if hidden := all - len(chosen); hidden > 0 {
		fmt.Fprintf(p.Stderr, "%s not shown, which are not the league's; --all shows them\n", words.Plain.Plural(int64(hidden), "exchange"))
	}
	return trace.Show(p.Stdout, chosen, trace.Format{Bodies: o.Bodies, Remarks: remarks})
}

// recorded names the recording of a command.
type recorded struct {
	Record string `flag:"record FILE" usage:"recording of all messages, tokens masked"`
}

// recorder records the messages of a command. The zero value records nothing.
type recorder struct {
	rec   *trace.Recorder
	after func(*error) // runs the audit, if there is one
}

// startRecording starts a recording in a file, if one is named. after runs at its end.
func startRecording(p *command.Process, c *cli.Context, path string, after func(*error)) (recorder, error) {
	if path == "" {
		return recorder{}, nil
	}
	rec, err := trace.Create(p.Path(path), trace.Head{Command: c.Command.FullName()}, p.Now)
	if err != nil {
		return recorder{}, command.Usagef("--record: %w", err)
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
