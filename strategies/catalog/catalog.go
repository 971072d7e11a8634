package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// DefaultScripts is the folder that is looked through for scripts.
const DefaultScripts = "scripts"

// Options say what a catalogue is made of. The zero value is fine.
type Options struct {
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
	options Options
	entries []*Entry          // built in, then scripts by name
	files   map[string]*Entry // by absolute path: scanned, and named since
	apart   []*Entry          // of programs that were named by their paths
}

// Load makes a catalogue. Scripts that cannot be used do not make it fail;
// they stand in it with their errors. It fails if the scripts folder cannot be
// read, or when ctx is done. The caller closes the catalogue.
func Load(ctx context.Context, o Options) (*Catalog, error) {
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
