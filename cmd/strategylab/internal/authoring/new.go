package authoring

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/urfave/cli/v2"
)

//go:embed templates
var templates embed.FS

// checkName refuses names of strategies or plugins that the catalog does not take, and
// those that Windows takes for devices.
func checkName(of, name string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`).MatchString(name) {
		return command.Usagef("new: invalid %s name %q, use letters, digits, - and _, for example mine", of, name)
	}
	if disk.IsDevice(name) {
		return command.Usagef("new: Windows takes %s for a device, in every folder; choose another name", name)
	}
	return nil
}

func newCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "new", ArgsUsage: "FILE", Usage: "create a strategy: .lua, .js, .c, .rs, .go or .zig",
		Action: command.Action(p, newStrategy, "FILE"),
	}
}

func newStrategy(p *command.Process, c *cli.Context) error {
	file := c.Args().First()
	ext := strings.ToLower(filepath.Ext(file))
	source, err := templates.ReadFile("templates/new" + ext)
	if ext == ".go" {
		source, err = templates.ReadFile("templates/new.go.txt")
	}
	if err != nil {
		what := "unknown extension of " + file
		if ext == "" {
			what = file + " has no extension"
		}
		return command.Usagef("new: %s, want .lua or .js, or .c, .rs, .go or .zig for WebAssembly", what)
	}
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if err := checkName("strategy", name); err != nil {
		return err
	}
	if err := writeNew(p.Path(file), strings.ReplaceAll(string(source), "NAME", name)); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return command.Usagef("new: %s already exists; choose another name", file)
		}
		return fmt.Errorf("new: %w", err)
	}
	fmt.Fprintf(p.Stdout, "wrote %s\n\nEdit it, then run:\n", file)
	if build := buildCommand(source); build != "" {
		stem := strings.TrimSuffix(file, filepath.Ext(file))
		fmt.Fprintf(p.Stdout, "  %s\n", strings.ReplaceAll(build, "NAME", stem))
		file = stem + ".wasm"
	}
	add := ""
	if filepath.Dir(file) != "scripts" { // whose strategies play by themselves
		add = " --mine " + file
	}
	fmt.Fprintf(p.Stdout, "  strategylab strategies check %s\n  strategylab experiment --runs 1000%s\n", file, add)
	return nil
}

// buildCommand returns the command that builds a template, which stands in its first
// comment, or "" if it needs none.
func buildCommand(template []byte) string {
	m := regexp.MustCompile(`(?m)^// *\t? *((?:clang|rustc|zig|GOOS=\S+) .*)$`).FindSubmatch(template)
	if m == nil {
		return ""
	}
	return string(m[1])
}

// writeNew writes a file that must not exist yet.
func writeNew(name, content string) (err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}
