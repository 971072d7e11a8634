// Package catalog resolves the names of strategies to factories.
//
// A strategy is built in, a script, or part of a plugin. Users name it (markov-2, or mine for
// scripts/mine.lua) or give its path (scripts/mine.lua, ./x.js); random*8 stands for eight copies,
// and scripts for all of a [Group]. A target with a dot or a slash is a path.
//
// To use a catalog:
//
//  1. Load reads the built-in strategies and the scripts folder. A script that
//     does not load is kept with its error.
//  2. Resolve and Field find strategies. A script elsewhere is loaded when its
//     path is first named.
//  3. Close closes every factory. Close all seats before.
//
// A Format maps a file extension to a language.
package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/builtin"
	"github.com/strategylab/strategylab/strategies/jsscript"
	"github.com/strategylab/strategylab/strategies/luascript"
	"github.com/strategylab/strategylab/strategies/params"
	"github.com/strategylab/strategylab/strategies/wasmscript"
)

// DefaultScripts is the default folder of scripts.
const DefaultScripts = "scripts"

// Config is the settings of a catalog. The zero value is fine.
type Config struct {
	// Dir is the base of relative paths; default is the working directory. Messages do not show it.
	Dir string
	// Scripts is the folder of scripts, without its subfolders; default DefaultScripts.
	Scripts string
	// RequireScripts makes a missing Scripts folder an error.
	RequireScripts bool
	// Limits bound every call of a script.
	Limits budget.Limits
	// Builtins are the strategies without a file; nil means all of package
	// builtin. The catalog closes them.
	Builtins []strategies.Factory
	// Formats are the script languages; nil means Formats().
	Formats []Format
	// Lazy loads a script of the folder when it is first named, or when a field
	// of all strategies is made.
	Lazy bool
	// Plugins are the plugin programs. One is opened when a strategy of it is named or belongs to a
	// group that is. One of which nothing is known is opened, too, when its file or a name is named
	// that resembles no other. One that does not start is an entry with its error.
	Plugins []Program
	// OpenPlugin opens a plugin program; nil means no plugins.
	OpenPlugin PluginOpener
	// Closing, if not nil, is called by Close after the factories are closed.
	Closing func() error
}

// Entry is one strategy of the catalog.
type Entry struct {
	// Info describes the strategy. If it does not load, only name, kind and source are set.
	Info strategies.Info
	// Factory makes its seats; nil if it does not load or is not loaded yet. All
	// copies share it; the catalog owns it.
	Factory strategies.Factory
	// Err is why its name does not resolve: a *strategies.Error if it does not load, or says that
	// another strategy has the same name. An ambiguous strategy still resolves by its path.
	Err error

	// Params are its parameters, with the values that it has as defaults.
	Params []params.Param

	broken  error    // why it does not load
	unread  bool     // not loaded yet
	loaded  stamp    // of the file when it was read
	program *program // of a plugin's strategy
}

// Catalog finds strategies by name and by path. It is not safe for concurrent
// use; its factories are.
type Catalog struct {
	options  Config
	entries  []*Entry          // built-ins, then scripts by name, then plugins
	files    map[string]*Entry // by absolute path
	programs []*program        // plugins

	mine      []string // names or paths of the members of GroupMine
	knowsMine bool
	others    []string // in the scripts folder, and no scripts
}

// Load returns a catalog. Scripts that do not load become entries with errors. Load fails if the
// scripts folder cannot be read or ctx is done. The caller closes the catalog.
func Load(ctx context.Context, o Config) (*Catalog, error) {
	o.Scripts = cmp.Or(o.Scripts, DefaultScripts)
	if o.Builtins == nil {
		o.Builtins = builtin.All()
	}
	if o.Formats == nil {
		o.Formats = Formats()
	}
	c := &Catalog{options: o, files: make(map[string]*Entry)}
	for _, f := range o.Builtins {
		c.entries = append(c.entries, &Entry{Info: f.Info(), Factory: f})
	}
	if err := c.scan(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if err := c.scanPlugins(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.markAmbiguous()
	return c, nil
}

// scan registers every script of the folder and loads it unless Lazy.
func (c *Catalog) scan(ctx context.Context) error {
	names, others, err := c.options.list()
	if err != nil {
		return fmt.Errorf("list scripts: %w", err)
	}
	c.others = others
	scripts := make([]*Entry, 0, len(names))
	for _, name := range names {
		if ctx.Err() != nil {
			return fmt.Errorf("load scripts: %w", context.Cause(ctx))
		}
		e, err := c.register(filepath.Join(c.options.Scripts, name))
		if err != nil {
			return err
		}
		if !c.options.Lazy {
			if err := c.load(ctx, e); err != nil {
				return err
			}
		}
		scripts = append(scripts, e)
	}
	slices.SortStableFunc(scripts, func(a, b *Entry) int {
		return cmp.Or(cmp.Compare(a.Info.Name, b.Info.Name), cmp.Compare(a.Info.Source, b.Info.Source))
	})
	c.entries = append(c.entries, scripts...)
	return nil
}

// markAmbiguous sets the errors of strategies that share a name. A file cannot take a
// built-in strategy out of the fields of others.
func (c *Catalog) markAmbiguous() {
	byName := make(map[string][]*Entry)
	for _, e := range c.entries {
		if e.program == nil || !e.program.undescribed() { // that has another name, maybe
			byName[e.Info.Name] = append(byName[e.Info.Name], e)
		}
	}
	for name, same := range byName {
		for _, e := range same {
			if e.Err = e.broken; len(same) > 1 && e.Info.Kind != strategies.Builtin {
				e.Err = ambiguous(name, same)
			}
		}
	}
}

// ambiguous returns the error for a name that several strategies share.
func ambiguous(name string, same []*Entry) error {
	var sources []string
	for _, e := range same {
		source := cmp.Or(e.Info.Source, "built-in")
		if e.Info.Kind == strategies.Agent {
			source = "an agent"
		}
		sources = append(sources, source)
	}
	return fmt.Errorf("%d strategies are called %q: %s; rename all but one, or name one by its path", len(same), name, some(sources, 3))
}

// Entries returns what Load found: the built-in strategies in order, then the
// scripts by name, then the plugins. Entries with errors are included. A program of which
// nothing is known has one entry, with the name of its file, until it is opened.
func (c *Catalog) Entries() []Entry {
	entries := make([]Entry, len(c.entries))
	for i, e := range c.entries {
		entries[i] = *e
	}
	return entries
}

// Ignored is a sentence about what else is in the scripts folder and no script; empty if
// there is nothing.
func (c *Catalog) Ignored() string {
	const most = 5
	if len(c.others) == 0 {
		return ""
	}
	var shown []string
	for _, name := range c.others[:min(most, len(c.others))] {
		shown = append(shown, strconv.Quote(name))
	}
	if more := len(c.others) - most; more > 0 {
		shown = append(shown, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%s in %s left out: a strategy is a file there that ends in %s",
		strings.Join(shown, ", "), c.options.Scripts, c.options.endings(", "))
}

// Close closes every factory. Close all seats before. Later calls do nothing.
func (c *Catalog) Close() error {
	var errs []error
	all := slices.Collect(maps.Values(c.files))
	for _, p := range c.programs {
		all = append(all, p.entries...)
	}
	for _, e := range all {
		if !slices.Contains(c.entries, e) {
			c.entries = append(c.entries, e)
		}
	}
	for _, e := range c.entries {
		if e.Factory == nil {
			continue
		}
		if err := e.Factory.Close(); err != nil {
			errs = append(errs, fmt.Errorf("close strategy %s: %w", e.Info.Name, err))
		}
	}
	if c.options.Closing != nil {
		errs = append(errs, c.options.Closing())
		c.options.Closing = nil
	}
	c.entries, c.files, c.programs = nil, nil, nil
	return errors.Join(errs...)
}

// Format is the script language of one file extension.
type Format struct {
	Ext  string // in lower case, with the dot: ".lua"
	Kind strategies.Kind
	Load Loader
	// MaxSize is the largest size of a file, in bytes; default MaxSource.
	MaxSize int
}

// Loader compiles the content of a file. path is the file's name in messages. Errors in the script,
// and exceeded limits, are *strategies.Error of operation load. Those of Formats run in this
// process, where nothing bounds the time and the memory of parsing, and nothing interrupts it;
// package isolate has loaders that are bounded and that return when ctx is done.
type Loader func(ctx context.Context, name, path string, source []byte, limits budget.Limits) (strategies.Factory, error)

// Formats returns the script languages.
func Formats() []Format { return CachedFormats("") }

// CachedFormats returns the script languages, which keep compiled code in a folder; see
// wasmscript.Config.
func CachedFormats(code string) []Format {
	javaScript := func(_ context.Context, name, path string, source []byte, l budget.Limits) (strategies.Factory, error) {
		return jsscript.Compile(name, path, source, l)
	}
	return []Format{
		{Ext: ".lua", Kind: strategies.Lua, Load: func(_ context.Context, name, path string, source []byte, l budget.Limits) (strategies.Factory, error) {
			return luascript.Compile(name, path, source, l)
		}},
		{Ext: ".js", Kind: strategies.JavaScript, Load: javaScript},
		{Ext: ".mjs", Kind: strategies.JavaScript, Load: javaScript},
		{Ext: ".cjs", Kind: strategies.JavaScript, Load: javaScript},
		{Ext: ".wasm", Kind: strategies.WebAssembly, Load: func(_ context.Context, name, path string, source []byte, l budget.Limits) (strategies.Factory, error) {
			return wasmscript.Compile(name, path, source, wasmscript.Config{Limits: l, Code: code})
		}, MaxSize: wasmscript.MaxModule},
	}
}

// UnknownError is a name or path without a strategy.
type UnknownError struct {
	Target  string
	Nearest string  // the most similar target; may be empty
	Refused []error // why plugins do not start, to one of which it may belong
}

// Error names the target and the most similar one.
func (e *UnknownError) Error() string {
	what := "strategy"
	if isPath(e.Target) {
		what = "script"
	}
	msg := fmt.Sprintf("no %s %q", what, e.Target)
	if e.Nearest != "" {
		msg += fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	if len(e.Refused) > 0 {
		var why []string
		for _, err := range e.Refused {
			why = append(why, err.Error())
		}
		if e.Nearest == "" {
			msg += "."
		}
		msg += " It may be of a plugin that does not start: " + some(why, 2)
	}
	return msg
}

// refused returns why plugins do not start, since a name that is not found may be that of a
// strategy of one.
func (c *Catalog) refused() (why []error) {
	for _, e := range c.entries {
		if e.Info.Kind == strategies.Plugin && e.broken != nil {
			why = append(why, e.broken)
		}
	}
	return why
}

// some writes the first of several texts, and how many more there are.
func some(texts []string, most int) string {
	if more := len(texts) - most; more > 1 {
		texts = append(texts[:most:most], fmt.Sprintf("%d more", more))
	}
	last := len(texts) - 1
	if last <= 0 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + " and " + texts[last]
}
