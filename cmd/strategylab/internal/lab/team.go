package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/params"
)

// Bounds of an experiment with the scripts of others.
const (
	maxPlayers = 32        // in a field, copies included
	maxSources = 8         // of players with source
	maxBytes   = 512 << 10 // of all sources
	maxScripts = 16        // with source or not, each in its own process
	maxMatches = 5_000_000 // of all leagues
)

// Draft is a player of a field: a strategy that the catalog knows by its name, or one
// with a source, which is in no file.
type Draft struct {
	Name   string
	Kind   strategies.Kind // of source
	Source string          // empty: the catalog knows it
	Copies int             // at least 1
}

// Team is the field of an experiment with its factories. Close releases them.
type Team struct {
	Field     []results.Entrant
	Factories []strategies.Factory
	Sources   map[string]string // of drafts, by file name

	cat *catalog.Catalog
	own []strategies.Factory // loaded from sources
}

// Close ends the processes of the team.
func (t *Team) Close() error {
	var errs []error
	for _, f := range t.own {
		errs = append(errs, f.Close())
	}
	return errors.Join(append(errs, t.cat.Close())...)
}

// Assemble loads the players of a field, every script in a process of its own. Scripts
// of the catalog are in the given folder; the field refers to sources as files in the
// folder sources. The caller closes the team.
func (l Lab) Assemble(ctx context.Context, s Supply, folder Folder, players []Draft, sources string) (_ *Team, err error) {
	if err := CheckDrafts(players); err != nil {
		return nil, err
	}
	cat, err := l.Load(ctx, s)
	if err != nil {
		return nil, err
	}
	t := &Team{cat: cat, Sources: map[string]string{}}
	if n := scriptsAmong(cat, players); n > maxScripts {
		return nil, errors.Join(mistake("%d players are scripts, each in its own process; want at most %d", n, maxScripts), cat.Close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Close())
		}
	}()
	for _, p := range players {
		if ctx.Err() != nil {
			return t, context.Cause(ctx)
		}
		var f strategies.Factory
		entrant := results.Entrant{Name: p.Name, Ref: p.Name}
		if p.Source == "" {
			e, err := Resolve(ctx, cat, folder, p.Name)
			if err != nil {
				return t, err
			}
			f, entrant.Name, entrant.Source = e.Factory, e.Info.Name, e.Info.Source
		} else {
			if f, err = l.LoadScript(ctx, s, p.Name, p.Kind, []byte(p.Source)); err != nil {
				return t, fmt.Errorf("player %s does not load: %w", p.Name, err)
			}
			t.own = append(t.own, f)
			file := p.Name + "." + string(p.Kind)
			t.Sources[file] = p.Source
			entrant.Source = filepath.Join(sources, file)
			entrant.Ref = entrant.Source
		}
		entrant.Kind, entrant.Fingerprint = string(f.Info().Kind), f.Info().Fingerprint
		name := entrant.Name
		for i := range p.Copies {
			if p.Copies > 1 {
				entrant.Name = fmt.Sprintf("%s#%d", name, i+1)
			}
			t.Field, t.Factories = append(t.Field, entrant), append(t.Factories, f)
		}
	}
	return t, nil
}

func scriptsAmong(cat *catalog.Catalog, players []Draft) int {
	kinds := map[string]strategies.Kind{}
	for _, e := range cat.Entries() {
		kinds[e.Info.Name] = e.Info.Kind
	}
	n := 0
	for _, p := range players {
		if name, _ := params.Split(p.Name); p.Source != "" || kinds[name].Script() {
			n++
		}
	}
	return n
}

// CheckDrafts validates a field before anything is loaded.
func CheckDrafts(players []Draft) error {
	count, sources, bytes := 0, 0, 0
	seen := map[string]bool{}
	for _, p := range players {
		switch {
		case !IsName(p.Name) && (p.Source != "" || !isTarget(p.Name)):
			return badName(p.Name)
		case seen[p.Name]:
			return mistake("two players are called %s: rename one, or set copies: 2", p.Name)
		case (p.Source == "") != (p.Kind == ""):
			return mistake("player %s: source and language (lua or js) need each other; without both, name a known strategy", p.Name)
		}
		seen[p.Name] = true
		count += p.Copies
		if p.Source != "" {
			sources++
			bytes += len(p.Source)
		}
	}
	switch {
	case count < game.MinPlayers:
		return mistake("a league needs at least %d players, but this field has %d: add players or copies", game.MinPlayers, count)
	case count > maxPlayers:
		return mistake("the field has %d players, copies included; want at most %d", count, maxPlayers)
	case sources > maxSources:
		return mistake("%d players have a source, each in its own process; want at most %d", sources, maxSources)
	case bytes > maxBytes:
		return mistake("the sources have %d bytes together; want at most %d", bytes, maxBytes)
	}
	return nil
}

// CheckSize refuses too many matches.
func CheckSize(players, legs, runs int) error {
	if matches := players * (players - 1) / 2 * legs * runs; matches > maxMatches {
		return mistake("%d leagues of %d players and %d legs have %d matches, want at most %d: use fewer runs or legs", runs, players, legs, matches, maxMatches)
	}
	return nil
}

// Resolve finds a strategy by name. It refuses scripts behind links that lead out of
// their folder.
func Resolve(ctx context.Context, cat *catalog.Catalog, folder Folder, name string) (catalog.Entry, error) {
	if !isTarget(name) {
		return catalog.Entry{}, badName(name)
	}
	plain, _ := params.Split(name)
	for _, e := range cat.Entries() {
		if e.Info.Name == plain && e.Info.Kind.Script() {
			if _, err := folder.Read(filepath.Base(e.Info.Source), catalog.MaxSource); err != nil {
				return catalog.Entry{}, err
			}
		}
	}
	e, err := cat.Resolve(ctx, name)
	var broken *strategies.Error
	if err != nil && !errors.As(err, &broken) {
		return e, mistake("%w", err)
	}
	return e, err
}
