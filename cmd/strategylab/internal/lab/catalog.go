package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/plugins/isolate"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/builtin"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/served"
)

// The arguments with which this program starts itself: as its own plugin, as the worker of
// a script, and as a worker that plays leagues.
const (
	argPlugin = "plugin-serve"
	argWorker = "script-worker"
)

// Service returns what a process does that this program started, nil for any other command
// line. It needs no command tree, so such a process does not make one.
func (l Lab) Service(args []string) func() error {
	if len(args) != 2 {
		return nil
	}
	switch args[1] {
	case argPlugin:
		return func() error { servePlugin(); return nil }
	case argWorker:
		return l.serveTasks
	}
	return nil
}

// builtinPlugins names the built-in strategies that this program also serves as a
// plugin, to show how a plugin plays.
var builtinPlugins = [...]string{"frequency"}

// servedSuffix distinguishes them from the built-in strategies.
const servedSuffix = "-plugin"

// servePlugin serves built-in strategies as a plugin until the process that started
// this one ends.
func servePlugin() {
	var all []strategies.Factory
	for _, name := range builtinPlugins {
		if f, ok := builtin.Find(name); ok {
			all = append(all, f)
		}
	}
	plugins.Serve(all...)
}

// Supply says where strategies come from and how they run.
type Supply struct {
	Scripts  string // folder of scripts
	Required bool   // whether that folder must exist
	Plugins  string // folder of plugins
	Limits   budget.Limits
	Isolate  bool // run every script in a process of its own
	// InProcess runs scripts in this process, which they can then block, starve and
	// end. Unless it or Isolate is set, leagues are played in worker processes.
	InProcess bool
	Log       *slog.Logger // of the other processes
	All       bool         // load every script of the folder now, to list them
	Agents    []served.Spec
	Serving   served.Config // of the agents
}

// Load loads the catalog of a supply. The caller closes it.
func (l Lab) Load(ctx context.Context, s Supply) (*catalog.Catalog, error) {
	o := catalog.Config{Dir: l.Dir, Scripts: s.Scripts, RequireScripts: s.Required, Limits: s.Limits}
	if err := l.addProcesses(ctx, s, &o); err != nil {
		return nil, err
	}
	if err := l.addAgents(s, &o); err != nil {
		return nil, err
	}
	cat, err := catalog.Load(ctx, o)
	if missing, is := errors.AsType[*fs.PathError](err); is && missing.Path == s.Scripts && errors.Is(err, fs.ErrNotExist) {
		return nil, &InputError{fmt.Errorf("load strategies: %w", err), "name the folder that holds the scripts: --scripts DIR, from here or from /"}
	}
	if err != nil {
		return nil, fmt.Errorf("load strategies: %w", err)
	}
	return cat, nil
}

// Names returns the names of the strategies of a supply and those of its plugin programs,
// without loading or starting any. What cannot be read has no names.
func (l Lab) Names(ctx context.Context, s Supply) []string {
	var names []string
	if cat, err := catalog.Load(ctx, catalog.Config{Dir: l.Dir, Scripts: s.Scripts, Lazy: true}); err == nil {
		for _, e := range cat.Entries() {
			names = append(names, e.Info.Name)
		}
		_ = cat.Close() // nothing is loaded
	}
	for _, name := range builtinPlugins {
		names = append(names, name+servedSuffix)
	}
	programs, _ := plugins.Find(l.Path(s.Plugins))
	return append(names, programs...)
}

// addProcesses adds the strategies that run in other processes to the options of
// a catalog.
func (l Lab) addProcesses(ctx context.Context, s Supply, o *catalog.Config) error {
	o.Builtins, o.Formats = builtin.All(), l.bounded(l.Formats(), s.Log)
	if l.Exe != "" {
		own, err := l.ownPlugin(ctx, s)
		if err != nil {
			return err
		}
		o.Builtins = append(o.Builtins, own...)
	}
	var err error
	if o.Plugins, err = l.programs(s.Plugins); err != nil {
		return err
	}
	o.OpenPlugin = l.pluginOpener(s)
	if s.InProcess || !s.Isolate && l.Exe == "" {
		return nil
	}
	if !s.Isolate {
		var pool *plugins.Pool
		o.Formats, pool = l.pooledFormats(s.Log)
		o.Lazy, o.Closing = !s.All, pool.Close
		return nil
	}
	if l.Exe == "" {
		return &InputError{errors.New("load strategies: scripts cannot be isolated: the path of this program is unknown"), "run the scripts in this process: --isolate=false"}
	}
	o.Formats = l.isolatedFormats(s.Log)
	o.Lazy = true // starting a worker for every script of the folder would be wasteful
	return nil
}

// isolatedFormats returns the script languages, each script in its own process.
func (l Lab) isolatedFormats(log *slog.Logger) []catalog.Format {
	return l.bounded(isolate.Formats(l.Formats(), l.worker(log), nil), log)
}

// pooledFormats returns the script languages for scripts that the workers of a pool play.
// The caller closes the pool.
func (l Lab) pooledFormats(log *slog.Logger) ([]catalog.Format, *plugins.Pool) {
	c := l.worker(log)
	c.Workers = plugins.NewPool(c, 0)
	return isolate.Formats(l.Formats(), c, l.Loader), c.Workers
}

// worker says how a process starts that runs scripts and carries out tasks.
func (l Lab) worker(log *slog.Logger) plugins.Config {
	return plugins.Config{Command: []string{l.Exe, argWorker}, Name: "worker", Memory: budget.Memory, Env: []string{CodeVariable + "=" + l.Code}, Log: log}
}

// LoadScript loads a script in a process of its own. An error that is the
// script's fault is a *strategies.Error. The caller closes the factory.
func (l Lab) LoadScript(ctx context.Context, s Supply, name string, kind strategies.Kind, source []byte) (strategies.Factory, error) {
	return loadFormat(l.isolatedFormats(s.Log), kind, func(f catalog.Format) (strategies.Factory, error) {
		return f.Load(ctx, name, name+f.Ext, source, s.Limits)
	})
}

// DescribeScript describes a script that need not be in a file. An error that is the
// script's fault is a *strategies.Error.
func (l Lab) DescribeScript(ctx context.Context, s Supply, name string, kind strategies.Kind, source []byte) (info strategies.Info, err error) {
	if l.Loader == nil {
		f, err := l.LoadScript(ctx, s, name, kind, source)
		if err != nil {
			return info, err
		}
		return f.Info(), f.Close()
	}
	_, err = loadFormat(l.Formats(), kind, func(f catalog.Format) (strategies.Factory, error) {
		info, err = l.Loader.Describe(ctx, plugins.Script{Name: name, Path: name + f.Ext, Kind: kind, Source: source, Limits: s.Limits.OrDefaults()}, s.Log)
		return nil, err
	})
	return info, err
}

func loadFormat(formats []catalog.Format, kind strategies.Kind, load func(catalog.Format) (strategies.Factory, error)) (strategies.Factory, error) {
	for _, f := range formats {
		if f.Kind == kind {
			return load(f)
		}
	}
	return nil, fmt.Errorf("no runtime for scripts of kind %q", kind)
}

// ownPlugin returns the strategies that this program serves as a plugin. The
// process starts when one first plays.
func (l Lab) ownPlugin(ctx context.Context, s Supply) ([]strategies.Factory, error) {
	var infos []strategies.Info
	for _, name := range builtinPlugins {
		f, ok := builtin.Find(name)
		if !ok {
			return nil, fmt.Errorf("no built-in strategy %q to serve", name)
		}
		info := f.Info()
		info.Name, info.Kind = info.Name+servedSuffix, strategies.Plugin
		info.Title += ", served by this program as a plugin"
		infos = append(infos, info)
	}
	return plugins.Open(ctx, plugins.Config{
		Command: []string{l.Exe, argPlugin}, Name: "strategylab", Strategies: infos, CallTime: s.Limits.Time, Log: s.Log,
		// It is this program, over a socket that nobody else can reach: certificates would
		// only delay its start.
		NoTLS: true, NoChildren: true,
	})
}

// NameError adds a hint to a catalog's error about a name, unless the strategy
// itself is at fault, or the user has stopped the command.
func NameError(err error) error {
	var broken *strategies.Error
	if err == nil || errors.As(err, &broken) || errors.Is(err, context.Canceled) {
		return err
	}
	return &InputError{err, "strategylab strategies list shows what there is"}
}

// FieldError is [NameError] for a field, in which groups can be named, too.
func FieldError(err error) error {
	var unknown *catalog.UnknownError
	switch {
	case errors.Is(err, catalog.ErrEmptyGroup):
		return &InputError{err, "name your strategies: --mine scripts/mine.lua"}
	case errors.As(err, &unknown):
		return &InputError{err, "strategylab strategies list shows the names; the groups are " + catalog.GroupNames()}
	}
	return NameError(err)
}

// programs returns the plugins of a folder, with what its lock file knows of them.
func (l Lab) programs(folder string) ([]catalog.Program, error) {
	names, err := plugins.Find(l.Path(folder))
	if err != nil || len(names) == 0 {
		return nil, err
	}
	lock, err := plugins.ReadLock(l.Path(folder))
	if err != nil {
		lock = nil // who opens a program says so
	}
	var all []catalog.Program
	for _, name := range names {
		p := catalog.Program{Path: filepath.Join(folder, name), Strategies: lock[name].Strategies}
		if lock[name].Dev { // it may be another now
			p.Strategies = nil
		}
		if lock[name].Broken {
			p.Err = fmt.Errorf("it did not start when it was accepted; to try again: strategylab plugins lock %s", p.Path)
		}
		all = append(all, p)
	}
	return all, nil
}

// pluginOpener returns what opens plugins, each if its lock file accepts it. It keeps in
// there what a program is found to serve.
func (l Lab) pluginOpener(s Supply) catalog.PluginOpener {
	var learning sync.Mutex // one change of a lock file at a time
	return func(ctx context.Context, file, path, values string) ([]strategies.Factory, error) {
		config := plugins.Config{Command: []string{file}, Source: path, CallTime: s.Limits.Time, Log: s.Log, Values: values}
		pin, all, err := openPlugin(ctx, config)
		if err != nil || pin.Strategies != nil || pin.Dev {
			return all, err
		}
		learning.Lock()
		defer learning.Unlock()
		pin.Broken = false
		if err := learn(file, pin, all); err != nil && s.Log != nil { // it is found out again next time
			s.Log.Debug("what a plugin serves is not kept", "plugin", path, "error", err)
		}
		return all, nil
	}
}

// learn keeps in the lock file what an accepted program serves.
func learn(file string, pin plugins.Pin, all []strategies.Factory) error {
	for _, f := range all {
		pin.Strategies = append(pin.Strategies, f.Info())
	}
	return plugins.Learn(filepath.Dir(file), pin)
}

// openPlugin opens a plugin if its lock file accepts it, without starting it if the lock
// file says what it serves.
func openPlugin(ctx context.Context, config plugins.Config) (plugins.Pin, []strategies.Factory, error) {
	file := config.Command[0]
	lock, err := plugins.ReadLock(filepath.Dir(file))
	if err != nil {
		return plugins.Pin{}, nil, err
	}
	pin, err := lock.Check(file)
	var unlocked *plugins.UnlockedError
	if errors.As(err, &unlocked) {
		unlocked.Path = config.Source
		return pin, nil, fmt.Errorf("%w; to accept it as it is: strategylab plugins lock %s", err, config.Source)
	}
	if err != nil {
		return pin, nil, err
	}
	if pin.Sum != lock[pin.Name].Sum && config.Log != nil {
		config.Log.Warn("plugin has changed, and is accepted because it was locked with --dev", "plugin", config.Source)
	}
	config.Sum, config.NoTLS = pin.Sum, pin.NoTLS
	for _, info := range pin.Strategies {
		info.Source = config.Source
		config.Strategies = append(config.Strategies, info)
	}
	all, err := plugins.Open(ctx, config)
	return pin, all, err
}

// DescribePlugins starts accepted plugins, at the same time, and keeps in their lock files
// what they serve, or that they do not start: the error of each says why. paths are those
// of the user.
func (l Lab) DescribePlugins(ctx context.Context, s Supply, paths []string) ([]error, error) {
	failed := make([]error, len(paths))
	var learning sync.Mutex
	var all errgroup.Group
	all.SetLimit(catalog.ProgramsAtOnce)
	for i, path := range paths {
		all.Go(func() error {
			file, err := filepath.Abs(l.Path(path))
			if err != nil {
				return err
			}
			pin, served, err := openPlugin(ctx, plugins.Config{Command: []string{file}, Source: path, CallTime: s.Limits.Time, Log: s.Log})
			defer closeAll(served)
			failed[i] = err
			if ctx.Err() != nil || pin.Name == "" {
				return context.Cause(ctx)
			}
			learning.Lock()
			defer learning.Unlock()
			pin.Broken = err != nil
			return learn(file, pin, served)
		})
	}
	return failed, all.Wait()
}

func closeAll(all []strategies.Factory) {
	for _, f := range all {
		_ = f.Close() // nothing was played
	}
}
