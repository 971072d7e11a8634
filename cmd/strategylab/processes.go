package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/plugins/isolate"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/builtin"
	"github.com/strategylab/strategylab/strategies/catalog"
)

const (
	flagPlugins = "plugins"
	flagIsolate = "isolate"

	defaultPlugins = "plugins/bin"
)

// The hidden commands by which this program is started as a process of its
// own: as the plugin that comes with it, and as a script's worker.
const (
	commandServe  = "plugin-serve"
	commandWorker = "script-worker"
)

// served names the built-in strategies that this program also serves as a
// plugin, so that the way through another process is there to be seen.
var served = [...]string{"frequency"}

// servedSuffix makes the names of such strategies unlike those of the same
// strategies built in.
const servedSuffix = "-plugin"

func serveCommand() *cli.Command {
	return &cli.Command{
		Name: commandServe, Hidden: true, Usage: "serve built-in strategies to the strategylab that has started this process",
		Action: func(*cli.Context) error {
			var all []strategies.Factory
			for _, name := range served {
				if f, ok := builtin.Find(name); ok {
					all = append(all, f)
				}
			}
			plugins.Serve(all...)
			return nil
		},
	}
}

func workerCommand() *cli.Command {
	return &cli.Command{
		Name: commandWorker, Hidden: true, Usage: "run a script for the strategylab that has started this process",
		Action: func(*cli.Context) error {
			isolate.Serve(catalog.Formats())
			return nil
		},
	}
}

// supply says where strategies come from, and how they are run.
type supply struct {
	scripts  string // folder
	required bool   // which must be there
	plugins  string // folder
	limits   budget.Limits
	isolate  bool         // every script in a process of its own
	log      *slog.Logger // of other processes
}

// load loads the catalogue of what a supply has.
func (p *process) load(ctx context.Context, s supply) (*catalog.Catalog, error) {
	o := catalog.Config{Dir: p.dir, Scripts: s.scripts, RequireScripts: s.required, Limits: s.limits}
	if err := p.processes(ctx, s, &o); err != nil {
		return nil, err
	}
	cat, err := catalog.Load(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("load strategies: %w", err)
	}
	return cat, nil
}

// processes adds to the options of a catalogue what is played in other
// processes.
func (p *process) processes(ctx context.Context, s supply, o *catalog.Config) error {
	o.Builtins = builtin.All()
	if p.exe != "" {
		own, err := p.ownPlugin(ctx, s.log)
		if err != nil {
			return err
		}
		o.Builtins = append(o.Builtins, own...)
	}
	names, err := plugins.Find(p.path(s.plugins))
	if err != nil {
		return err
	}
	for _, name := range names {
		o.Plugins = append(o.Plugins, filepath.Join(s.plugins, name))
	}
	o.OpenPlugin = func(ctx context.Context, file, path string) ([]strategies.Factory, error) {
		return openPlugin(ctx, plugins.Config{Command: []string{file}, Source: path, CallTime: o.Limits.Time, Log: s.log})
	}
	if !s.isolate {
		return nil
	}
	if p.exe == "" {
		return withHint(errors.New("scripts cannot be isolated: this program does not know its own path"),
			"--%s=false runs them in this process", flagIsolate)
	}
	o.Formats = p.apart(s.log)
	o.Lazy = true // a worker for every script of the folder would be a waste
	return nil
}

// apart are the languages of scripts, each script in a process of its own.
func (p *process) apart(log *slog.Logger) []catalog.Format {
	return isolate.Formats(catalog.Formats(), isolate.Config{Worker: []string{p.exe, commandWorker}, Log: log})
}

// childLog is where other processes write: what they have to say is for people.
func (p *process) childLog(c *cli.Context) *slog.Logger {
	if c.Bool(flagQuiet) {
		return p.logger(slog.LevelError)
	}
	return p.logger(slog.LevelWarn)
}

// ownPlugin returns the strategies that this program serves itself. They are
// started when they are first played.
func (p *process) ownPlugin(ctx context.Context, log *slog.Logger) ([]strategies.Factory, error) {
	var infos []strategies.Info
	for _, name := range served {
		f, ok := builtin.Find(name)
		if !ok {
			return nil, fmt.Errorf("no built-in strategy %q to serve", name)
		}
		info := f.Info()
		info.Name, info.Kind = info.Name+servedSuffix, strategies.Plugin
		info.Title += " Served by this program as a plugin."
		infos = append(infos, info)
	}
	return plugins.Open(ctx, plugins.Config{
		Command: []string{p.exe, commandServe}, Name: "strategylab", Strategies: infos, Log: log,
	})
}

// openPlugin starts a plugin that has been accepted.
func openPlugin(ctx context.Context, config plugins.Config) ([]strategies.Factory, error) {
	file := config.Command[0]
	lock, err := plugins.ReadLock(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	pin, err := lock.Check(file)
	var unlocked *plugins.UnlockedError
	if errors.As(err, &unlocked) {
		unlocked.Path = config.Source
		return nil, fmt.Errorf("%w; to accept it as it is: strategylab plugins lock %s", err, config.Source)
	}
	if err != nil {
		return nil, err
	}
	config.Sum, config.NoTLS = pin.Sum, pin.NoTLS
	return plugins.Open(ctx, config)
}

// Leagues that are best played in lockstep, by where scripts run.
const (
	scriptsHere  = 4
	scriptsApart = 32
	noScripts    = 256
)

// blockOf returns how many leagues are best played in lockstep. All seats of a
// block are alive at once: machines of scripts take memory, and what falls out
// of the processors' caches takes time. On the other hand every round of a block
// is an exchange with each plugin.
func blockOf(factories []strategies.Factory) int {
	block := noScripts
	for _, f := range factories {
		if k := f.Info().Kind; k != strategies.Lua && k != strategies.JavaScript {
			continue
		}
		if _, apart := f.(strategies.Batcher); !apart {
			return scriptsHere
		}
		block = scriptsApart
	}
	return block
}
