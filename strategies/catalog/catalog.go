// Package catalog turns what users call strategies into factories.
//
// A strategy is either built in or a script in a file. It is called by its
// name (markov-2, or mine for scripts/mine.lua) or by its path
// (scripts/mine.lua, ./x.js); random*8 stands for eight copies of one. What
// has a dot or a slash in it is a path, so the two cannot be confused.
//
// The life of a catalogue:
//
//  1. Load takes the built-in strategies and reads the scripts folder. A
//     script that cannot be used is kept with its error; it stops nobody else.
//  2. Resolve and Field find strategies by name. A script elsewhere is loaded
//     when its path is first named.
//  3. Close closes every factory, when no seat is open any more.
//
// How a file becomes a factory is given as data, by extension: another
// language is another Format.
package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/builtin"
	"github.com/strategylab/strategylab/strategies/jsscript"
	"github.com/strategylab/strategylab/strategies/luascript"
)

// DefaultScripts is the folder that is looked through for scripts.
const DefaultScripts = "scripts"

// Config say what a catalogue is made of. The zero value is fine.
type Config struct {
	// Dir is where relative paths are meant from; default is the working
	// directory. It does not appear in messages.
	Dir string
	// Scripts is the folder to look through; default DefaultScripts. Folders
	// in it are not entered.
	Scripts string
	// RequireScripts makes a missing folder an error: the user has named it.
	RequireScripts bool
	// Limits bound every call of a script.
	Limits budget.Limits
	// Builtins are strategies that need no file; nil means all of package
	// builtin. The catalogue closes them.
	Builtins []strategies.Factory
	// Formats say how files become factories; nil means Formats().
	Formats []Format
	// Lazy leaves scripts of the folder unread until they are first named, or
	// until a field of everything is made.
	Lazy bool
	// Plugins are the paths of programs that play strategies. What does not
	// start stands in the catalogue with its error.
	Plugins []string
	// OpenPlugin starts the program at a path, here or named by the user; nil
	// means that there are no plugins.
	OpenPlugin PluginOpener
}

// Entry is one strategy of a catalogue.
type Entry struct {
	// Info describes the strategy. Of one that does not load only name, kind
	// and source are known.
	Info strategies.Info
	// Factory makes its seats; nil if it does not load, or has not been read
	// yet. It is shared by all copies, and belongs to the catalogue.
	Factory strategies.Factory
	// Err says why it cannot be played under its name. It is a
	// *strategies.Error if it does not load, and an *AmbiguousError if another
	// strategy has the same name; then it can still be played by its path.
	Err error

	broken error // why it does not load
	unread bool  // it has not been tried yet
	loaded stamp // of the file, when it was read
}

// source is how an entry is told from others of the same name.
func (e *Entry) source() string {
	if e.Info.Source == "" {
		return "built-in"
	}
	return e.Info.Source
}

// Catalog knows strategies by name and by path. It is for one goroutine at a
// time; the factories are safe for concurrent use.
type Catalog struct {
	options Config
	entries []*Entry          // built in, then scripts by name
	files   map[string]*Entry // by absolute path: scanned, and named since
	apart   []*Entry          // of programs that were named by their paths
}

// Load makes a catalogue. Scripts that cannot be used do not make it fail;
// they stand in it with their errors. It fails if the scripts folder cannot be
// read, or when ctx is done. The caller closes the catalogue.
func Load(ctx context.Context, o Config) (*Catalog, error) {
	if o.Scripts == "" {
		o.Scripts = DefaultScripts
	}
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
	if err := c.scanPlugins(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.markAmbiguous()
	return c, nil
}

// scan loads every script of the folder.
func (c *Catalog) scan(ctx context.Context) error {
	names, err := c.options.list()
	if err != nil {
		return fmt.Errorf("look for scripts: %w", err)
	}
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
			c.load(e)
		}
		scripts = append(scripts, e)
	}
	slices.SortStableFunc(scripts, func(a, b *Entry) int {
		return cmp.Or(cmp.Compare(a.Info.Name, b.Info.Name), cmp.Compare(a.Info.Source, b.Info.Source))
	})
	c.entries = append(c.entries, scripts...)
	return nil
}

// markAmbiguous finds the strategies that cannot be told apart by name.
func (c *Catalog) markAmbiguous() {
	byName := make(map[string][]*Entry)
	for _, e := range c.entries {
		byName[e.Info.Name] = append(byName[e.Info.Name], e)
	}
	for name, same := range byName {
		if len(same) > 1 {
			err := ambiguous(name, same)
			for _, e := range same {
				e.Err = err
			}
		}
	}
}

func ambiguous(name string, same []*Entry) error {
	err := &AmbiguousError{Name: name}
	for _, e := range same {
		err.Sources = append(err.Sources, e.source())
	}
	return err
}

// Entries returns what Load found: the built-in strategies in their order,
// then the scripts by name, then the plugins, with those that cannot be used.
func (c *Catalog) Entries() []Entry {
	entries := make([]Entry, len(c.entries))
	for i, e := range c.entries {
		entries[i] = *e
	}
	return entries
}

// Close closes every factory. No seat may be open. Later calls do nothing.
func (c *Catalog) Close() error {
	var errs []error
	for _, e := range slices.Concat(slices.Collect(maps.Values(c.files)), c.apart) {
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
	c.entries, c.files, c.apart = nil, nil, nil
	return errors.Join(errs...)
}

// Format says how the files with one extension become factories.
type Format struct {
	Ext  string // in lower case, with the dot: ".lua"
	Kind strategies.Kind
	Load Loader
}

// Loader makes a factory of a file's content. The name is what the strategy is
// called, the path what the user calls the file. Errors that are the script's
// fault are *strategies.Error of operation load. Running over the limits is
// such an error; a Loader returns in any case.
type Loader func(name, path string, source []byte, limits budget.Limits) (strategies.Factory, error)

// Formats returns the languages that scripts can be written in.
func Formats() []Format {
	return []Format{
		{".lua", strategies.Lua, func(name, path string, source []byte, l budget.Limits) (strategies.Factory, error) {
			return luascript.Compile(name, path, source, luascript.Config{Limits: l})
		}},
		{".js", strategies.JavaScript, func(name, path string, source []byte, l budget.Limits) (strategies.Factory, error) {
			return jsscript.Compile(name, path, source, jsscript.Config{Limits: l})
		}},
	}
}

// UnknownError is a name or path that stands for no strategy.
type UnknownError struct {
	Target  string
	Nearest string // what may have been meant; may be empty
}

// Error names the target and what may have been meant.
func (e *UnknownError) Error() string {
	what := "strategy"
	if isPath(e.Target) {
		what = "script"
	}
	msg := fmt.Sprintf("no %s %q", what, e.Target)
	if e.Nearest != "" {
		msg += fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	return msg
}

// AmbiguousError is a name that several strategies have.
type AmbiguousError struct {
	Name    string
	Sources []string // files, or "built-in"; at least two
}

// Error names all that have the name.
func (e *AmbiguousError) Error() string {
	last := len(e.Sources) - 1
	return fmt.Sprintf("%d strategies are called %q: %s and %s; rename all but one of them, or leave them out",
		len(e.Sources), e.Name, strings.Join(e.Sources[:last], ", "), e.Sources[last])
}

// FormatError is a file whose extension says nothing of its language.
type FormatError struct {
	Path  string
	Known []string // extensions, ".lua"
}

// Error names the file and what is known.
func (e *FormatError) Error() string {
	return fmt.Sprintf("%s is no script: want a file that ends in %s", e.Path, strings.Join(e.Known, " or "))
}
