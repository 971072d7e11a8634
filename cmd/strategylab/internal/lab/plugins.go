package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

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
