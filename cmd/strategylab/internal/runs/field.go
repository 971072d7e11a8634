package runs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// namedIn returns the names or paths that a flag has, and the field indices of the
// strategies of a recorded run that they stand for.
func namedIn(plan results.Plan, flag, text string) (names []string, indices []int, err error) {
	refs, err := catalog.ParseRefs(text)
	if err != nil {
		return nil, nil, command.Usagef("--%s: %w", flag, err)
	}
	for _, ref := range refs {
		target := ref.Target
		if ref.IsPath() {
			target = filepath.Clean(target)
		}
		played := subjects(plan, []string{target})
		if len(played) == 0 {
			return nil, nil, command.WithHint(fmt.Errorf("--%s: %q did not play in this run", flag, ref.Target), "its players are %s", playerNames(plan))
		}
		names, indices = append(names, target), append(indices, played...)
	}
	return names, indices, nil
}

// playerIn returns the field index of the player of a name in the run in a folder.
func playerIn(plan results.Plan, op, dir, name string) (int, error) {
	i := slices.IndexFunc(plan.Field, func(f results.Entrant) bool { return f.Name == name })
	if i < 0 {
		return i, command.WithHint(fmt.Errorf("%s: no player %q in %s", op, name, dir), "the players are %s", playerNames(plan))
	}
	return i, nil
}

// playerNames lists the players of a run.
func playerNames(plan results.Plan) string {
	names := make([]string, len(plan.Field))
	for i, f := range plan.Field {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}

// firstLook is the default field: some classics, and everything that is not built in.
var firstLook = []catalog.Ref{
	{Target: string(catalog.GroupClassics), Copies: 1},
	{Target: string(catalog.GroupScripts), Copies: 1},
	{Target: string(catalog.GroupPlugins), Copies: 1},
}

// firstLookText is the default field as a user would write it.
func firstLookText() string { return strings.Join(targets(firstLook), ",") }

// load loads the catalog that the field is from.
func (e *experimentRun) load(ctx context.Context) (*catalog.Catalog, error) {
	supply, err := e.p.SupplyAgents(e.c, e.opt.Isolation, &e.opt.Agents, e.opt.Field, e.opt.Mine)
	if err != nil {
		return nil, err
	}
	return e.p.LoadCatalog(ctx, supply)
}

// field returns the field of a new run.
func (e *experimentRun) field(ctx context.Context, cat *catalog.Catalog) (catalog.Field, error) {
	field, err := e.named(ctx, cat)
	if err != nil {
		return field, err
	}
	out, err := catalog.ParseRefs(e.opt.Without)
	if err != nil {
		return field, command.Usagef("--without: %w", err)
	}
	for _, name := range targets(out) {
		rest := slices.DeleteFunc(slices.Clone(field.Players), func(p catalog.Player) bool { return p.IsNamed(name) })
		if len(rest) == len(field.Players) {
			return field, command.Usagef("--without: %w", &catalog.MissingError{Target: name})
		}
		field.Players = rest
	}
	return field, nil
}

// named returns the strategies that --field names. The user's strategies and those that
// a test compares are among them, whether it names them or not.
func (e *experimentRun) named(ctx context.Context, cat *catalog.Catalog) (catalog.Field, error) {
	named, err := catalog.ParseRefs(e.opt.Mine)
	if err != nil {
		return catalog.Field{}, command.Usagef("--mine: %w", err)
	}
	if len(named) == 0 { // agents of the command line are the user's
		if named, err = e.opt.Refs(e.p); err != nil {
			return catalog.Field{}, err
		}
	}
	if e.mine, err = e.findMine(ctx, cat, named); err != nil {
		return catalog.Field{}, lab.NameError(fmt.Errorf("--mine: %w", err))
	}
	refs := e.refs
	if len(refs) == 0 {
		refs = firstLook
	}
	field, err := cat.Field(ctx, refs)
	if err != nil {
		return field, lab.FieldError(err)
	}
	if len(e.refs) == 0 {
		e.beyond = cat.Missing(field)
	}
	wanted, flag := targets(named), "mine"
	if e.stop.stop != nil && e.stop.stop.Ratio != nil {
		wanted, flag = append(wanted, e.stop.stop.Ratio.New, e.stop.stop.Ratio.Old), "sprt"
	}
	for _, target := range wanted { // two may be one strategy, by other names of it
		var absent *catalog.MissingError
		if _, err := field.Find(target); !errors.As(err, &absent) {
			continue // other mistakes are reported where it is used
		}
		refs = append(slices.Clip(refs), catalog.Ref{Target: target, Copies: 1})
		if field, err = cat.Field(ctx, refs); err != nil {
			return field, lab.NameError(fmt.Errorf("--%s: %w", flag, err))
		}
	}
	return field, nil
}

func targets(refs []catalog.Ref) []string {
	var list []string
	for _, ref := range refs {
		list = append(list, ref.Target)
	}
	return list
}

// findMine returns the sources, or names without one, of the strategies that --mine
// names; without the flag those that changed since the last run beside the new one. They
// are the group of that name.
func (e *experimentRun) findMine(ctx context.Context, cat *catalog.Catalog, named []catalog.Ref) ([]string, error) {
	if len(named) == 0 {
		edited := e.p.Edited(filepath.Dir(e.out()), cat.Entries())
		cat.SetMine(edited)
		return edited, nil
	}
	cat.SetMine(targets(named))
	var mine []string
	for _, ref := range named {
		entry, err := cat.Resolve(ctx, ref.Target)
		if err != nil {
			return nil, err
		}
		if entry.Info.Source != "" {
			mine = append(mine, filepath.Clean(entry.Info.Source))
		} else {
			mine = append(mine, entry.Info.Name)
		}
	}
	return mine, nil
}

// subjects returns the field indices of the user's strategies.
func subjects(plan results.Plan, mine []string) []int {
	var list []int
	for i, f := range plan.Field {
		name, _, _ := strings.Cut(f.Name, "#")
		if f.Source != "" && slices.Contains(mine, filepath.Clean(f.Source)) || slices.Contains(mine, f.Name) || slices.Contains(mine, name) {
			list = append(list, i)
		}
	}
	return list
}
