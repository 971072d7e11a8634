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
	"github.com/strategylab/strategylab/plugins"
)

const examples = "plugins/examples"

type pluginsOptions struct {
	Format string `flag:"format table|json" want:"one" usage:"output format"`
}

type lockOptions struct {
	NoTLS bool `flag:"no-tls" usage:"accept them without mTLS, over a private socket"`
	Dev   bool `flag:"dev" usage:"accept later changes too, with a note"`
}

type listedPlugin struct {
	Path   string `json:"path"`
	Status string `json:"status"` // accepted, development, changed, or new
	MTLS   bool   `json:"mtls"`
	Sum    string `json:"sha256"`
}

func listPlugins(p *command.Process, _ *cli.Context, o *pluginsOptions) error {
	folder := p.Plugins
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
		switch pin := lock[name]; {
		case pin.Dev:
			l.Status = "development"
		case pin.Sum == sum:
			l.Status = "accepted"
		case pin.Sum != "":
			l.Status = "changed"
		}
		list = append(list, l)
	}
	if o.Format == "json" {
		return command.PrintJSON(p.Stdout, list)
	}
	if len(list) == 0 {
		fmt.Fprintf(p.Stdout, "no plugins in %s; 'strategylab plugins build' adds the examples\n", folder)
		return nil
	}
	tw := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	for _, l := range list {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", l.Path, l.Status, l.Sum)
	}
	return tw.Flush()
}

func lockPlugins(p *command.Process, c *cli.Context, o *lockOptions) error {
	var paths []string
	for _, arg := range c.Args().Slice() {
		if !strings.ContainsAny(arg, `/\`) {
			arg = filepath.Join(p.Plugins, arg)
		}
		paths = append(paths, arg)
	}
	if len(paths) == 0 {
		names, err := plugins.Find(p.Path(p.Plugins))
		if err != nil {
			return err
		}
		for _, name := range names {
			paths = append(paths, filepath.Join(p.Plugins, name))
		}
	}
	if len(paths) == 0 {
		return command.WithHint(fmt.Errorf("no plugins in %s", p.Plugins), "name one: strategylab plugins lock PROGRAM")
	}
	return accept(p, c, paths, func(pin *plugins.Pin) {
		if c.IsSet("no-tls") {
			pin.NoTLS = o.NoTLS
		}
		if c.IsSet("dev") {
			pin.Dev = o.Dev
		}
	})
}

// accept adds programs to the lock files of their folders, with what they serve. They keep
// the settings that change does not set.
func accept(p *command.Process, c *cli.Context, paths []string, change func(*plugins.Pin)) error {
	for _, path := range paths {
		file := p.Path(path)
		if ok, err := plugins.Executable(file); err != nil {
			return command.Usagef("accept %s: %w", path, err)
		} else if !ok {
			return command.WithHint(fmt.Errorf("%s is not executable", path), "run chmod +x %s", path)
		}
		lock, err := plugins.ReadLock(filepath.Dir(file))
		if err != nil {
			return err
		}
		sum, err := plugins.Sum(file)
		if err != nil {
			return err
		}
		pin := lock[filepath.Base(file)]
		pin.Name, pin.Sum, pin.Broken, pin.Strategies = filepath.Base(file), sum, false, nil
		change(&pin)
		lock[pin.Name] = pin
		for name := range lock { // programs that no longer exist
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), name)); errors.Is(err, fs.ErrNotExist) {
				delete(lock, name)
			}
		}
		if err := plugins.WriteLock(filepath.Dir(file), lock); err != nil {
			return fmt.Errorf("accept %s: %w", path, err)
		}
		fmt.Fprintf(p.Stdout, "accepted %s\n", pin)
	}
	failed, err := p.DescribePlugins(c.Context, p.Supply(c, command.Isolation{}), paths)
	for i, why := range failed {
		if why != nil && c.Context.Err() == nil {
			p.Warn("%s is accepted, but plays only where it is named: %v", paths[i], why)
		}
	}
	return err
}

func buildPlugins(p *command.Process, c *cli.Context) error {
	sources, err := filepath.Glob(filepath.Join(p.Path(examples), "*", "main.go"))
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return command.WithHint(fmt.Errorf("no folder %s here", examples), "run this in the top folder of the source")
	}
	var paths []string
	for _, source := range sources {
		name := filepath.Base(filepath.Dir(source))
		path := filepath.Join(p.Plugins, name)
		build := exec.CommandContext(c.Context, "go", "build", "-o", path, "./"+filepath.ToSlash(filepath.Join(examples, name)))
		build.Dir, build.Stderr = p.Dir, p.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("build %s: %w", path, err)
		}
		fmt.Fprintf(p.Stdout, "built %s\n", path)
		paths = append(paths, path)
	}
	return accept(p, c, paths, func(*plugins.Pin) {})
}
