package authoring

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/plugins"
)

const (
	flagNoTLS = "no-tls"

	// examples is where the module keeps the plugins that come with it.
	examples = "plugins/examples"
)

func pluginsCommand(p *command.Process) *cli.Command {
	folder := func() cli.Flag {
		return &cli.StringFlag{Name: command.FlagPlugins, Value: command.DefaultPlugins, Usage: "folder of the programs"}
	}
	return &cli.Command{
		Name:  "plugins",
		Usage: "list, build and accept programs that play strategies",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the programs that are found, and whether they have been accepted",
				Flags:  []cli.Flag{folder(), command.FormatFlag("table or json")},
				Action: func(c *cli.Context) error { return listPlugins(p, c) },
			},
			{
				Name: "lock", ArgsUsage: "[PROGRAM...]", Usage: "accept programs as they are now: only those are started",
				Description: "Writes the SHA-256 of the programs, or of all in the folder, into " + plugins.LockName + " beside them. A program\n" +
					"that was accepted without mTLS stays so until it is locked with --" + flagNoTLS + "=false.",
				Flags: []cli.Flag{folder(), &cli.BoolFlag{
					Name: flagNoTLS, Usage: "accept that they speak without mTLS, over a private socket",
				}},
				Action: func(c *cli.Context) error { return lockPlugins(p, c) },
			},
			{
				Name: "build", Usage: "build the examples in Go that come with the source, and accept them",
				Flags:  []cli.Flag{folder()},
				Action: func(c *cli.Context) error { return buildPlugins(p, c) },
			},
		},
	}
}

// listedPlugin is a program in the JSON form of the list.
type listedPlugin struct {
	Path   string `json:"path"`
	Status string `json:"status"` // accepted, changed, or new
	MTLS   bool   `json:"mtls"`
	Sum    string `json:"sha256"`
}

func listPlugins(p *command.Process, c *cli.Context) error {
	if _, err := command.Arguments(c); err != nil {
		return err
	}
	format, err := command.OneOf(c, command.FlagFormat, "table", "json")
	if err != nil {
		return err
	}
	folder := c.String(command.FlagPlugins)
	names, err := plugins.Find(p.Path(folder))
	if err != nil {
		return err
	}
	lock, err := plugins.ReadLock(p.Path(folder))
	if err != nil {
		return err
	}
	list := []listedPlugin{}
	for _, name := range names {
		sum, err := plugins.Sum(filepath.Join(p.Path(folder), name))
		if err != nil {
			return err
		}
		l := listedPlugin{Path: filepath.Join(folder, name), Status: "new", MTLS: !lock[name].NoTLS, Sum: sum}
		switch lock[name].Sum {
		case sum:
			l.Status = "accepted"
		case "":
		default:
			l.Status = "changed"
		}
		list = append(list, l)
	}
	if format == "json" {
		return command.PrintJSON(p.Stdout, list)
	}
	if len(list) == 0 {
		fmt.Fprintf(p.Stdout, "no programs in %s; 'strategylab plugins build' puts the examples there\n", folder)
		return nil
	}
	tw := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	for _, l := range list {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", l.Path, l.Status, l.Sum)
	}
	return tw.Flush()
}

func lockPlugins(p *command.Process, c *cli.Context) error {
	var paths []string
	for _, arg := range c.Args().Slice() {
		if !strings.ContainsAny(arg, `/\`) {
			arg = filepath.Join(c.String(command.FlagPlugins), arg)
		}
		paths = append(paths, arg)
	}
	if len(paths) == 0 {
		names, err := plugins.Find(p.Path(c.String(command.FlagPlugins)))
		if err != nil {
			return err
		}
		for _, name := range names {
			paths = append(paths, filepath.Join(c.String(command.FlagPlugins), name))
		}
	}
	if len(paths) == 0 {
		return command.WithHint(fmt.Errorf("there is no program in %s", c.String(command.FlagPlugins)), "name one: strategylab plugins lock PROGRAM")
	}
	var noTLS *bool
	if c.IsSet(flagNoTLS) {
		v := c.Bool(flagNoTLS)
		noTLS = &v
	}
	return accept(p, paths, noTLS)
}

// accept writes programs into the lock files of their folders. Without a word
// on TLS they keep what was said of them before.
func accept(p *command.Process, paths []string, noTLS *bool) error {
	for _, path := range paths {
		file := p.Path(path)
		if ok, err := plugins.Executable(file); err != nil {
			return command.Usagef("accept %s: %w", path, err)
		} else if !ok {
			return command.WithHint(fmt.Errorf("%s is not a program", path), "make it executable: chmod +x %s", path)
		}
		lock, err := plugins.ReadLock(filepath.Dir(file))
		if err != nil {
			return err
		}
		sum, err := plugins.Sum(file)
		if err != nil {
			return err
		}
		pin := plugins.Pin{Name: filepath.Base(file), Sum: sum, NoTLS: lock[filepath.Base(file)].NoTLS}
		if noTLS != nil {
			pin.NoTLS = *noTLS
		}
		lock[pin.Name] = pin
		for name := range lock { // those that are gone
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), name)); errors.Is(err, fs.ErrNotExist) {
				delete(lock, name)
			}
		}
		if err := disk.WriteFile(filepath.Join(filepath.Dir(file), plugins.LockName), lock.Bytes(), 0o644); err != nil {
			return fmt.Errorf("accept %s: %w", path, err)
		}
		fmt.Fprintf(p.Stdout, "accepted %s\n", pin)
	}
	return nil
}

func buildPlugins(p *command.Process, c *cli.Context) error {
	if _, err := command.Arguments(c); err != nil {
		return err
	}
	sources, err := filepath.Glob(filepath.Join(p.Path(examples), "*", "main.go"))
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return command.WithHint(fmt.Errorf("there is no %s here", examples), "run it in a clone of the source, at its top")
	}
	var paths []string
	for _, source := range sources {
		name := filepath.Base(filepath.Dir(source))
		path := filepath.Join(c.String(command.FlagPlugins), name)
		build := exec.CommandContext(c.Context, "go", "build", "-o", path, "./"+filepath.ToSlash(filepath.Join(examples, name)))
		build.Dir, build.Stderr = p.Dir, p.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("build %s: %w", path, err)
		}
		fmt.Fprintf(p.Stdout, "built %s\n", path)
		paths = append(paths, path)
	}
	return accept(p, paths, nil)
}
