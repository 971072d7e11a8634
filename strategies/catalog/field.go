package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/params"
	"github.com/strategylab/strategylab/strategies/script"
)

// Resolve returns the strategy with a name or path. Errors are an *UnknownError, the
// *strategies.Error of a strategy that does not load, the cause of ctx, or say what is wrong
// with the name or the values of parameters.
func (c *Catalog) Resolve(ctx context.Context, target string) (Entry, error) {
	e, err := c.find(ctx, target)
	if err != nil {
		return Entry{}, err
	}
	return *e, nil
}

func (c *Catalog) find(ctx context.Context, target string) (*Entry, error) {
	if strings.Contains(target, "://") {
		return c.findAgent(target)
	}
	if strategy, values := params.Split(target); values != "" {
		return c.variant(ctx, strategy, values)
	}
	if isPath(target) {
		return c.findPath(ctx, target)
	}
	same, err := c.called(ctx, target)
	if err != nil {
		return nil, err
	}
	switch len(same) {
	case 0:
		var names []string
		for _, e := range c.entries {
			names = append(names, e.Info.Name)
		}
		return nil, &UnknownError{Target: target, Nearest: script.Nearest(target, names), Refused: c.refused()}
	case 1:
		if err := c.load(ctx, same[0]); err != nil {
			return nil, err
		}
		return same[0], same[0].Err
	}
	return same[0], ambiguous(target, same)
}

// searchTime is the time that programs of which nothing is known have to say whether an
// unknown name is theirs.
const searchTime = 3 * time.Second

// called returns the entries with a name. It opens programs of which nothing is known:
// those whose file has the name or, if it is nobody's and resembles no other, all.
func (c *Catalog) called(ctx context.Context, target string) ([]*Entry, error) {
	named := func() (same []*Entry) {
		for _, e := range c.entries {
			if e.Info.Name == target {
				same = append(same, e)
			}
		}
		return same
	}
	var programs []*program
	for _, e := range named() {
		if e.program != nil {
			programs = append(programs, e.program)
		}
	}
	if err := c.describe(ctx, programs); err != nil {
		return nil, err
	}
	if same := named(); len(same) > 0 || c.nearestInField(target) != "" {
		return same, nil
	}
	short, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	if err := c.describe(short, c.programs); err != nil && ctx.Err() != nil {
		return nil, err
	}
	return named(), nil
}

// findAgent returns the agent at a URL. A catalog reaches only agents that it was given.
func (c *Catalog) findAgent(url string) (*Entry, error) {
	for _, e := range c.entries {
		if e.Info.Kind == strategies.Agent && e.Info.Source == url {
			return e, e.Err
		}
	}
	return nil, fmt.Errorf("no agent at %q is known here; give it a name where strategies come from: --agent NAME=%s", url, url)
}

func (c *Catalog) findPath(ctx context.Context, path string) (*Entry, error) {
	e, err := c.at(ctx, path)
	if err != nil {
		return nil, err
	}
	if e.program != nil {
		return e.program.only()
	}
	if e.Factory != nil {
		return e, nil // whatever its name
	}
	if errors.Is(e.broken, fs.ErrNotExist) {
		return nil, &UnknownError{Target: path, Nearest: c.nearestScript(path)}
	}
	return nil, e.broken
}

// Describe returns what is known of the script with a name or path, even if it does not
// load. Without such a script it returns false.
func (c *Catalog) Describe(target string) (strategies.Info, bool) {
	if isPath(target) {
		e, err := c.register(target)
		if err != nil {
			return strategies.Info{}, false
		}
		return e.Info, e.Info.Kind.Script()
	}
	for _, e := range c.entries {
		if e.Info.Name == target && e.Info.Kind.Script() {
			return e.Info, true
		}
	}
	return strategies.Info{}, false
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
	return script.Nearest(path, paths)
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
	// Warnings name the members of groups that are left out, and why.
	Warnings []string

	open bool // a new script may join it
}

// Field resolves references. Copies of a strategy are numbered from 1 and share
// its factory. A group stands for those of its members that the field names
// neither by themselves nor by an earlier group; members that do not load are left
// out with a warning. Without references the field is GroupAll.
//
// Naming a strategy that does not load, or one strategy twice, is an error, and so are two
// players of one name.
func (c *Catalog) Field(ctx context.Context, refs []Ref) (Field, error) {
	b := fieldBuilder{ctx: ctx, catalog: c, named: make(map[*Entry]Ref), taken: make(map[string]*Entry)}
	if len(refs) == 0 {
		err := b.addGroup(GroupAll, 1)
		return b.field, err
	}
	entries := make([]*Entry, len(refs)) // nil for a group
	for i, ref := range refs {
		if _, ok := c.group(ref); ok {
			continue
		}
		var err error
		if entries[i], err = b.name(ref); err != nil {
			return Field{}, err
		}
	}
	for i, ref := range refs {
		if e := entries[i]; e != nil {
			b.addCopies(e, ref)
		} else if err := b.addGroup(Group(ref.Target), ref.Copies); err != nil {
			return Field{}, err
		}
	}
	return b.field, nil
}

// fieldBuilder makes a field. Strategies that references name are in named before
// the first group is added.
type fieldBuilder struct {
	ctx     context.Context // of Field
	catalog *Catalog
	field   Field
	named   map[*Entry]Ref
	taken   map[string]*Entry
}

// name finds the strategy of a reference, which must be new in the field.
func (b *fieldBuilder) name(ref Ref) (*Entry, error) {
	e, err := b.catalog.find(b.ctx, ref.Target)
	var unknown *UnknownError
	if errors.As(err, &unknown) && !ref.IsPath() {
		unknown.Nearest = b.catalog.nearestInField(ref.Target)
	}
	if err != nil {
		return nil, err
	}
	if first, twice := b.named[e]; twice {
		return nil, fmt.Errorf("strategy %s is named twice, as %q and %q; write %s*%d for several copies",
			e.Info.Name, first, ref, ref.Target, first.Copies+ref.Copies)
	}
	return e, b.take(e, ref)
}

// take reserves the name of a strategy.
func (b *fieldBuilder) take(e *Entry, ref Ref) error {
	if other := b.taken[e.Info.Name]; other != nil {
		return ambiguous(e.Info.Name, []*Entry{other, e})
	}
	b.named[e], b.taken[e.Info.Name] = ref, e
	return nil
}

// addCopies adds the players of a reference.
func (b *fieldBuilder) addCopies(e *Entry, ref Ref) {
	for i := range ref.Copies {
		p := e.player(ref.Target)
		if ref.Copies > 1 {
			p.Name = fmt.Sprintf("%s#%d", p.Name, i+1)
		}
		b.field.Players = append(b.field.Players, p)
	}
}

// addGroup adds the members of a group that the field does not have yet.
func (b *fieldBuilder) addGroup(g Group, copies int) error {
	if g == GroupAll || g == GroupPlugins {
		if err := b.catalog.describe(b.ctx, b.catalog.programs); err != nil {
			return err
		}
	}
	members, err := b.catalog.members(b.ctx, g)
	if err != nil {
		return err
	}
	b.field.open = true
	if ignored := b.catalog.Ignored(); ignored != "" && (g == GroupAll || g == GroupScripts) && !slices.Contains(b.field.Warnings, ignored) {
		b.field.Warnings = append(b.field.Warnings, ignored)
	}
	for _, e := range members {
		if _, twice := b.named[e]; twice {
			continue
		}
		if e.program != nil && e.program.Err != nil && e.unread {
			b.leaveOut(e, e.Err)
			continue
		}
		if err := b.catalog.load(b.ctx, e); err != nil {
			return err
		}
		if e.Err != nil {
			b.leaveOut(e, e.Err)
			continue
		}
		target := e.Info.Name
		if !slices.Contains(b.catalog.entries, e) {
			target = e.Info.Source // of GroupMine, elsewhere than in the scripts folder
		}
		ref := Ref{Target: target, Copies: copies}
		if err := b.take(e, ref); err != nil {
			b.leaveOut(e, err)
			continue
		}
		b.addCopies(e, ref)
	}
	return nil
}

// leaveOut warns that a member of a group does not play: once for several of one reason.
func (b *fieldBuilder) leaveOut(e *Entry, why error) {
	warning := fmt.Sprintf("%q is left out: %v", e.Info.Name, why)
	if !slices.Contains(b.field.Warnings, warning) {
		b.field.Warnings = append(b.field.Warnings, warning)
	}
}

// nearestInField returns the most similar name of a strategy or a group.
func (c *Catalog) nearestInField(target string) string {
	var names []string
	for _, e := range c.entries {
		names = append(names, e.Info.Name)
	}
	for _, g := range Groups() {
		if _, ok := c.group(Ref{Target: string(g)}); ok {
			names = append(names, string(g))
		}
	}
	return script.Nearest(target, names)
}

func (e *Entry) player(target string) Player {
	return Player{Name: e.Info.Name, Target: target, Info: e.Info, Factory: e.Factory, loaded: e.loaded}
}

// MissingError names a strategy that is not in a field.
type MissingError struct{ Target string }

// Error says so.
func (e *MissingError) Error() string { return fmt.Sprintf("%q is not in the field", e.Target) }

// Find returns the name of the player that a name or a path stands for. Without one the error is a
// [MissingError]; a name of several stands for none.
func (f Field) Find(target string) (string, error) {
	var found []string
	for _, p := range f.Players {
		switch {
		case p.Name == target:
			return p.Name, nil
		case p.IsNamed(target):
			found = append(found, p.Name)
		}
	}
	switch len(found) {
	case 0:
		return "", &MissingError{target}
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%q matches several players: name one of %s", target, strings.Join(found, ", "))
}

// IsNamed reports whether a name or a path stands for a player; that of a strategy stands
// for all its copies.
func (p Player) IsNamed(target string) bool {
	return p.Name == target || p.Target == target || p.Info.Name == target ||
		p.Info.Source != "" && filepath.Clean(p.Info.Source) == filepath.Clean(target)
}
