package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// Group is a word for several strategies in a reference. Only the name of GroupMine may be
// that of a strategy, too, which takes precedence.
type Group string

// The groups. GroupMine exists once [Catalog.SetMine] has been called.
const (
	GroupAll      Group = "all"      // everything that Load found
	GroupBuiltins Group = "builtins" // what comes with the program
	GroupClassics Group = "classics" // the built-in strategies for a first look
	GroupMine     Group = "mine"     // what the user works on
	GroupPlugins  Group = "plugins"  // of other processes
	GroupScripts  Group = "scripts"  // of the scripts folder
)

// Groups returns all groups.
func Groups() []Group {
	return []Group{GroupClassics, GroupMine, GroupScripts, GroupPlugins, GroupBuiltins, GroupAll}
}

// GroupNames lists the groups: "classics, mine, ...".
func GroupNames() string {
	var names []string
	for _, g := range Groups() {
		names = append(names, string(g))
	}
	return strings.Join(names, ", ")
}

// SetMine sets the members of GroupMine, by their names or paths.
func (c *Catalog) SetMine(targets []string) { c.mine, c.knowsMine = targets, true }

// group returns the group that a reference names.
func (c *Catalog) group(ref Ref) (Group, bool) {
	g := Group(ref.Target)
	if !slices.Contains(Groups(), g) || g == GroupMine && !c.knowsMine {
		return "", false
	}
	return g, g != GroupMine || !slices.ContainsFunc(c.entries, func(e *Entry) bool { return e.Info.Name == ref.Target })
}

// members returns the strategies of a group, in the order of Entries.
func (c *Catalog) members(ctx context.Context, g Group) ([]*Entry, error) {
	var list []*Entry
	for _, e := range c.entries {
		if e.in(g) {
			list = append(list, e)
		}
	}
	if g != GroupMine {
		return list, nil
	}
	for _, target := range c.mine {
		find := c.find
		if isPath(target) {
			find = c.at // one that does not load is a member
		}
		e, err := find(ctx, target)
		if e == nil {
			return nil, err
		}
		list = append(list, e)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("group %q is %w", string(g), ErrEmptyGroup)
	}
	return list, nil
}

func (e *Entry) in(g Group) bool {
	switch g {
	case GroupAll:
		return true
	case GroupBuiltins:
		return e.Info.Kind == strategies.Builtin
	case GroupClassics:
		return e.Info.Kind == strategies.Builtin && slices.Contains(builtin.Classics(), e.Info.Name)
	case GroupPlugins:
		return e.Info.Kind == strategies.Plugin
	case GroupScripts:
		return e.Info.Kind.Script()
	}
	return false
}

// Missing counts the strategies of Entries that a field leaves out.
func (c *Catalog) Missing(f Field) int {
	n := 0
	for _, e := range c.entries {
		plays := slices.ContainsFunc(f.Players, func(p Player) bool { return p.Info == e.Info })
		if !plays && e.Err == nil {
			n++
		}
	}
	return n
}

// ErrEmptyGroup is the error of a group without members.
var ErrEmptyGroup = errors.New("empty: no script is yours")
