package runs

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/export"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins/subprocess"
)

type exportOptions struct {
	Rows   string `flag:"rows leagues|pairs|matches" want:"one" usage:"rows of players or pairs in leagues, or of matches"`
	Format string `flag:"format parquet|csv|json|ndjson" want:"one" text:"by the file name, else csv" usage:"output format"`
	Out    string `flag:"out FILE" text:"standard output" usage:"file to write"`
}

func exportRun(p *command.Process, c *cli.Context, o *exportOptions) error {
	dir, rows := c.Args().First(), export.Kind(o.Rows)
	format, err := o.format()
	if err != nil {
		return err
	}
	program := ""
	if format == export.Parquet {
		if program, err = p.Companion("strategylab-parquet", "export CSV or JSON instead: --format csv"); err != nil {
			return err
		}
	}
	reader, err := p.OpenRun("export", dir)
	if err != nil {
		return err
	}
	defer reader.Close()
	var n int64
	write := func(w io.Writer) error {
		var err error
		n, err = exportRows(c, w, format, rows, reader)
		return err
	}
	out := o.Out
	switch {
	case out == "":
		err = write(p.Stdout)
	case program != "":
		err = disk.WriteFrom(p.Path(out), func(f io.Writer) error { return subprocess.Pipe(c.Context, program, f, write) })
	default:
		err = disk.WriteFrom(p.Path(out), write)
	}
	if err != nil {
		return lab.ReadError("export", dir, err)
	}
	if out != "" && !p.Quiet {
		fmt.Fprintf(p.Stderr, "%d rows in %s\n", n, out)
	}
	return nil
}

// format returns the format of the flag, or else of the file name.
func (o *exportOptions) format() (export.Format, error) {
	out := o.Out
	if f := export.Format(o.Format); f != "" {
		if f == export.Parquet && out == "" {
			return f, command.WithHint(errors.New("parquet cannot be written to standard output"), "name a file: --out leagues.parquet")
		}
		return f, nil
	}
	if out == "" {
		return export.CSV, nil
	}
	switch ext := strings.ToLower(filepath.Ext(out)); ext {
	case ".parquet", ".csv", ".json", ".ndjson":
		return export.Format(ext[1:]), nil
	case ".jsonl":
		return export.NDJSON, nil
	}
	return "", command.WithHint(fmt.Errorf("--out: the name %q implies no format", out), "choose one with --format parquet, csv, json or ndjson")
}

func exportRows(c *cli.Context, w io.Writer, format export.Format, kind export.Kind, reader *results.Reader) (int64, error) {
	rows, err := export.NewWriter(w, format, kind, reader.Plan())
	if err != nil {
		return 0, err
	}
	if err := lab.EachLeague(c.Context, reader, rows.Append); err != nil {
		return 0, err
	}
	if rows.Rows() == 0 {
		return 0, lab.ErrNoLeague
	}
	return rows.Rows(), rows.Close()
}
