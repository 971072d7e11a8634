package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/strategylab/strategylab/strategies"
)

// PluginOpener starts the program in a file and returns the strategies that it
// plays, at least one. path is what the user calls the file.
type PluginOpener func(ctx context.Context, file, path string) ([]strategies.Factory, error)

// scanPlugins starts the programs that the options name.
func (c *Catalog) scanPlugins(ctx context.Context) error {
	if c.options.OpenPlugin == nil {
		return nil
	}
	for _, path := range c.options.Plugins {
		key, err := filepath.Abs(c.options.absolute(path))
		if err != nil {
			return fmt.Errorf("find %s: %w", path, err)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("start plugins: %w", context.Cause(ctx))
		}
		c.entries = append(c.entries, c.start(ctx, key, filepath.Clean(path))...)
	}
	return nil
}

// program starts the plugin at a path that the user has named. It returns nil
// if there is none.
func (c *Catalog) program(key, path string) *Entry {
	if c.options.OpenPlugin == nil || !executable(key) {
		return nil
	}
	// Its start has a time limit of its own.
	c.apart = append(c.apart, c.start(context.Background(), key, path)...)
	return c.files[key]
}

func executable(file string) bool {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if runtime.GOOS == "windows" {
		return strings.EqualFold(filepath.Ext(file), ".exe")
	}
	return info.Mode()&0o111 != 0
}

// start starts a program and returns an entry for each of its strategies, or
// one with the error. By its path a program stands for its only strategy.
func (c *Catalog) start(ctx context.Context, key, path string) []*Entry {
	failed := &Entry{Info: strategies.Info{Name: stem(path), Kind: strategies.Plugin, Source: path}}
	c.files[key] = failed
	factories, err := c.options.OpenPlugin(ctx, key, path)
	if err != nil {
		failed.broken = failed.refuse(err, "")
		failed.Err = failed.broken
		return []*Entry{failed}
	}
	var all []*Entry
	for _, f := range factories {
		e := &Entry{Info: f.Info(), Factory: f}
		if !validName(e.Info.Name) {
			e.Info.Source = path
			e.Err = e.refuse(fmt.Errorf("%q cannot be the name of a strategy", e.Info.Name), nameRule)
		}
		all = append(all, e)
	}
	if c.files[key] = all[0]; len(all) > 1 {
		failed.broken = failed.refuse(fmt.Errorf("it plays %d strategies", len(all)),
			"name one of them, with the program in the folder of plugins")
		c.files[key] = failed
	}
	return all
}
