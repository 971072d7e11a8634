package leagues

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/audit"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/trace"
)

// errUnfair says that a league broke its rules or that its draws are not fair.
var errUnfair = errors.New("the audit found violations")

func auditCommand(p *command.Process) *cli.Command {
	return command.New(p, &cli.Command{
		Name: "audit", ArgsUsage: "FILE", Usage: "audit a recorded league: rules and fair draws",
	}, new(auditOptions), func(p *command.Process, c *cli.Context, o *auditOptions) error {
		rec, err := readTrace(p, c)
		if err != nil {
			return err
		}
		return auditAll(p.Stdout, rec, announcedDraw(c, &o.Drawing), o.Format, o.Draws)
	}, recording)
}

type auditOptions struct {
	command.Drawing
	Draws  bool   `flag:"draws" usage:"list verifiable draws with all that they follow from"`
	Format string `flag:"format text|json" want:"one" usage:"output format"`
}

// announcedDraw is the draw that the user says the league announced, if any.
func announcedDraw(c *cli.Context, d *command.Drawing) (none game.Draw) {
	if c.IsSet("draw") {
		return d.Draw()
	}
	return none
}

// auditAll audits the leagues of a recording and writes what it finds: as text, as json,
// or as an event on one line. list adds the verifiable draws.
func auditAll(w io.Writer, rec *trace.Recording, draw game.Draw, format string, list bool) error {
	doc, err := audit.Of(rec, draw, list)
	if err != nil {
		return command.WithHint(fmt.Errorf("audit: %w", err), "strategylab trace show FILE shows its messages")
	}
	switch format {
	case "json":
		err = command.PrintJSON(w, doc)
	case "event":
		err = json.NewEncoder(w).Encode(struct {
			Event string `json:"event"`
			*audit.Document
		}{"audit", doc})
	default:
		err = doc.WriteText(w)
	}
	if err == nil && !doc.Fair {
		err = command.Reported(errUnfair)
	}
	return err
}

// audited returns the path of the recording of a live command, and what audits it at the
// end if --audit is set. Without --record the recording is temporary.
func (o *liveOptions) audited(p *command.Process, draw game.Draw) (path string, after func(*error), err error) {
	path = o.Record
	if !o.Audit {
		return path, func(*error) {}, nil
	}
	format := "text"
	if o.Format == "json" {
		format = "event"
	}
	remove := func() error { return nil }
	if path == "" {
		dir, err := os.MkdirTemp("", "strategylab-audit-")
		if err != nil {
			return path, nil, fmt.Errorf("--audit: %w", err)
		}
		path, remove = filepath.Join(dir, "recording.jsonl"), func() error { return os.RemoveAll(dir) }
	}
	return path, func(err *error) {
		*err = errors.Join(*err, auditFile(p, p.Path(path), draw, format), remove())
	}, nil
}

func auditFile(p *command.Process, path string, draw game.Draw, format string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	defer file.Close() // it was only read
	rec, err := trace.Read(file)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return auditAll(p.Stdout, rec, draw, format, false)
}
