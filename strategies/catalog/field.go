package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/strategylab/strategylab/strategies"
)

// Resolve returns the strategy with a name or path. Errors are *UnknownError,
// *AmbiguousError, *FormatError, or the *strategies.Error of a strategy that does
// not load.
func (c *Catalog) Resolve(target string) (Entry, error) {
	e, err := c.find(target)
	if err != nil {
		return Entry{}, err
	}
	return *e, nil
}

func (c *Catalog) find(target string) (*Entry, error) {
	if isPath(target) {
		return c.findPath(target)
	}
	var names []string
	for _, e := range c.entries {
		if e.Info.Name == target {
			if e.Err == nil {
				c.load(e)
			}
			return e, e.Err
		}
		names = append(names, e.Info.Name)
	}
	return nil, &UnknownError{Target: target, Nearest: nearest(target, names)}
}

func (c *Catalog) findPath(path string) (*Entry, error) {
	e, err := c.open(path)
	if err != nil {
		return nil, err
	}
	if e.Factory != nil {
		return e, nil // whatever its name
	}
	if errors.Is(e.broken, fs.ErrNotExist) {
		return nil, &UnknownError{Target: path, Nearest: c.nearestScript(path)}
	}
	return nil, e.broken
}

// nearestScript returns the script with the same file name in the scripts folder,
// or else the one with the most similar path.
func (c *Catalog) nearestScript(path string) string {
	var paths []string
	for _, e := range c.entries {
		if e.Info.Source == "" {
			continue
		}
		if filepath.Base(e.Info.Source) == filepath.Base(path) {
			return e.Info.Source
		}
		paths = append(paths, e.Info.Source)
	}
	return nearest(path, paths)
}

// Player is one player of a field.
type Player struct {
	Name    string // unique in the field: "random", or "random#3" of several copies
	Target  string // the target that named it
	Info    strategies.Info
	Factory strategies.Factory // shared by all copies

	loaded stamp
}

// Field is the players of an experiment or a match, in order.
type Field struct {
	Players []Player
	// Warnings name the strategies left out of a field of everything, and why.
	Warnings []string

	everything bool
}

// Field resolves references. Copies of a strategy are numbered from 1 and share
// its factory. Without references the field is every strategy that Load found;
// those that do not load are left out with a warning. Naming one that does not
// load is an error, and two players of one name are an *AmbiguousError.
func (c *Catalog) Field(refs []Ref) (Field, error) {
	if len(refs) == 0 {
		return c.all()
	}
	var f Field
	named := make(map[*Entry]Ref)
	taken := make(map[string]*Entry)
	for _, ref := range refs {
		e, err := c.find(ref.Target)
		if err != nil {
			return Field{}, err
		}
		if first, twice := named[e]; twice {
			return Field{}, fmt.Errorf("strategy %s is named twice, as %q and %q; write %s*%d for several copies",
				e.Info.Name, first, ref, ref.Target, first.Copies+ref.Copies)
		}
		if other := taken[e.Info.Name]; other != nil {
			return Field{}, ambiguous(e.Info.Name, []*Entry{other, e})
		}
		named[e], taken[e.Info.Name] = ref, e
		for i := range ref.Copies {
			p := e.player(ref.Target)
			if ref.Copies > 1 {
				p.Name = fmt.Sprintf("%s#%d", p.Name, i+1)
			}
			f.Players = append(f.Players, p)
		}
	}
	return f, nil
}

func (c *Catalog) all() (Field, error) {
	f := Field{everything: true}
	for _, e := range c.entries {
		c.load(e)
		var twice *AmbiguousError
		switch {
		case e.Err == nil:
			f.Players = append(f.Players, e.player(e.Info.Name))
		case errors.As(e.Err, &twice):
			return Field{}, e.Err
		default:
			f.Warnings = append(f.Warnings, fmt.Sprintf("%q is left out: %v", e.Info.Name, e.Err))
		}
	}
	return f, nil
}

func (e *Entry) player(target string) Player {
	return Player{Name: e.Info.Name, Target: target, Info: e.Info, Factory: e.Factory, loaded: e.loaded}
}
