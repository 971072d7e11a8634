package assistants

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// team is the field of an experiment with its factories. close releases them.
type team struct {
	cat       *catalog.Catalog
	own       []strategies.Factory // loaded from sources
	field     []results.Entrant
	factories []strategies.Factory
	sources   map[string]string // by file name
}

func (t *team) close() error {
	var errs []error
	for _, f := range t.own {
		errs = append(errs, f.Close())
	}
	return errors.Join(append(errs, t.cat.Close())...)
}

// assemble loads the players of a field. The plan refers to sources as files in
// folder. The caller closes the team.
func (l *labTools) assemble(ctx context.Context, players []Player, folder string) (_ *team, err error) {
	if err := checkPlayers(players); err != nil {
		return nil, err
	}
	cat, err := l.cfg.lab.Load(ctx, l.cfg.supply)
	if err != nil {
		return nil, err
	}
	t := &team{cat: cat, sources: map[string]string{}}
	if n := scriptsAmong(cat, players); n > maxScripts {
		return nil, errors.Join(mistake("%d players are scripts, each in its own process; want at most %d", n, maxScripts), cat.Close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close())
		}
	}()
	for _, p := range players {
		if ctx.Err() != nil {
			return t, context.Cause(ctx)
		}
		var f strategies.Factory
		entrant := results.Entrant{Name: p.Name, Ref: p.Name}
		if p.Source == "" {
			e, err := l.resolve(cat, p.Name)
			if err != nil {
				return t, err
			}
			f, entrant.Source = e.Factory, e.Info.Source
		} else {
			kind, _ := kindOf(p.Language)
			if f, err = l.cfg.lab.LoadScript(l.cfg.supply, p.Name, kind, []byte(p.Source)); err != nil {
				return t, fmt.Errorf("player %s does not load: %w; call check_strategy for details", p.Name, err)
			}
			t.own = append(t.own, f)
			file := p.Name + extension(kind)
			t.sources[file] = p.Source
			entrant.Source = filepath.Join(folder, sourcesFolder, file)
			entrant.Ref = entrant.Source
		}
		entrant.Kind, entrant.Fingerprint = string(f.Info().Kind), f.Info().Fingerprint
		t.add(entrant, f, p.Copies)
	}
	return t, nil
}

// scriptsAmong counts the players that are scripts.
func scriptsAmong(cat *catalog.Catalog, players []Player) int {
	kinds := map[string]strategies.Kind{}
	for _, e := range cat.Entries() {
		kinds[e.Info.Name] = e.Info.Kind
	}
	n := 0
	for _, p := range players {
		if p.Source != "" || kinds[p.Name].Script() {
			n++
		}
	}
	return n
}

// add adds the copies of a player.
func (t *team) add(e results.Entrant, f strategies.Factory, copies int) {
	name := e.Name
	for i := range copies {
		if copies > 1 {
			e.Name = fmt.Sprintf("%s#%d", name, i+1)
		}
		t.field, t.factories = append(t.field, e), append(t.factories, f)
	}
}

// checkPlayers validates a field before anything is loaded.
func checkPlayers(players []Player) error {
	count, sources, bytes := 0, 0, 0
	seen := map[string]bool{}
	for _, p := range players {
		switch {
		case !isName(p.Name):
			return mistake("invalid strategy name %q: use at most 40 letters, digits, - and _", strategies.OneLine(p.Name, 60))
		case seen[p.Name]:
			return mistake("two players are called %s: rename one, or set copies: 2", p.Name)
		case (p.Source == "") != (p.Language == ""):
			return mistake("player %s: source and language (lua or js) need each other; without both, name a strategy of list_strategies", p.Name)
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

// resolve finds a strategy by name. It refuses scripts behind links that lead out
// of the folder.
func (l *labTools) resolve(cat *catalog.Catalog, name string) (catalog.Entry, error) {
	if !isName(name) {
		return catalog.Entry{}, mistake("invalid strategy name %q: use at most 40 letters, digits, - and _", strategies.OneLine(name, 60))
	}
	for _, e := range cat.Entries() {
		if e.Info.Name == name && e.Info.Kind.Script() {
			if _, err := l.openScript(e.Info.Source); err != nil {
				return catalog.Entry{}, err
			}
		}
	}
	e, err := cat.Resolve(name)
	var broken *strategies.Error
	if err != nil && !errors.As(err, &broken) {
		return e, mistake("%w (call list_strategies for all names, or pass a source)", err)
	}
	return e, err
}

// openScript reads a script of the folder. It does not follow links that lead out
// of it.
func (l *labTools) openScript(source string) ([]byte, error) {
	root, err := os.OpenRoot(l.cfg.scripts)
	if err != nil {
		return nil, fmt.Errorf("open the folder of scripts %s: %w", l.cfg.scriptsName, bare(err))
	}
	defer root.Close()
	content, err := readBounded(root, filepath.Base(source), catalog.MaxSource)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", source, bare(err))
	}
	return content, nil
}

// bare removes the path from an error: a model does not learn where files lie on
// this machine.
func bare(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
