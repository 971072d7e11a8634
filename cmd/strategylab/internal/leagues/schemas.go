package leagues

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/protocol"
)

func writeSchemas(p *command.Process, c *cli.Context) error {
	dir := c.Args().First()
	n := 0
	write := func(folder, name string, raw []byte, err error) error {
		text := jsontext.Value(raw).Clone()
		if err := errors.Join(err, text.Indent(jsontext.WithIndent("  ")), os.MkdirAll(p.Path(filepath.Join(dir, folder)), 0o755)); err != nil {
			return fmt.Errorf("write the schema of %s: %w", name, err)
		}
		n++
		return disk.WriteFile(p.Path(filepath.Join(dir, folder, strings.ToLower(name)+".json")), append(text, '\n'), 0o644)
	}
	for _, t := range protocol.Types() {
		strict, err := protocol.Schema(t, protocol.Strict)
		if err := write("messages", string(t), strict, err); err != nil {
			return err
		}
		tolerant, err := protocol.Schema(t, protocol.Tolerant)
		if err := write("messages/tolerant", string(t), tolerant, err); err != nil {
			return err
		}
		if posted, err := protocol.RequestSchema(t, protocol.Strict); err == nil && string(posted) != string(strict) {
			if err := write("messages/request", string(t), posted, nil); err != nil {
				return err
			}
		}
	}
	for _, d := range dialect.OfProtocol() {
		raw, err := dialect.WrappingSchema(d.Name)
		if err := write("dialects", d.Name, raw, err); err != nil {
			return err
		}
	}
	fmt.Fprintf(p.Stdout, "%d schemas in %s\n", n, dir)
	return nil
}
