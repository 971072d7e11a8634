package leagues

import (
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/trace"
)

const flagRecord = "record"

func auditFlag() cli.Flag {
	return &cli.BoolFlag{Name: flagAudit, Usage: "at the end, say whether the league was conducted by its rules and drawn fairly"}
}

func recordFlag() cli.Flag {
	return &cli.StringFlag{Name: flagRecord, Usage: "file to record every message in, tokens masked; 'trace show' reads it"}
}

// recorder is the recording of a command, if one was asked for. The zero value
// records nothing.
type recorder struct {
	rec   *trace.Recorder
	after func(*error) // the audit, if one was asked for
}

// startRecording begins the recording that the flags ask for.
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

// tap returns what records the messages of an agent, nil for nothing.
func (r recorder) tap(agent string) jsonrpc.Tap {
	if r.rec == nil {
		return nil
	}
	return r.rec.Tap(agent)
}

// end ends the recording and makes the audit. It joins what went wrong with
// either to an error of the command itself.
func (r recorder) end(err *error) {
	if r.rec != nil {
		*err = errors.Join(*err, r.rec.Close())
		r.after(err)
	}
}
