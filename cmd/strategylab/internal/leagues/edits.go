package leagues

import (
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/screen"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// load loads the strategy of a player. With --watch it returns its versions, too,
// and with --data-dir a script that does not load is an entry without a factory: an
// earlier version may have been kept. The caller closes the catalog.
func (o *playerOptions) load(p *command.Process, c *cli.Context) (*catalog.Catalog, catalog.Entry, player.Versions, error) {
	target, supply := o.Strategy, p.Supply(c, command.Isolation{Isolated: o.Isolated})
	if !o.Watch {
		cat, e, err := p.LoadStrategy(c.Context, supply, target)
		return cat, e, nil, err
	}
	cat, err := p.LoadCatalog(c.Context, supply)
	if err != nil {
		return nil, catalog.Entry{}, nil, err
	}
	e, err := cat.Resolve(c.Context, target)
	if info, known := cat.Describe(target); err != nil && known && o.Data != "" {
		e, err = catalog.Entry{Info: info, Err: err}, nil
	}
	if err != nil {
		_ = cat.Close() // the name is the error to report
		return nil, catalog.Entry{}, nil, lab.NameError(err)
	}
	if v := p.NewEdits(supply).Of(cat, e.Info, e.Factory); v != nil {
		return cat, e, v, nil
	}
	_ = cat.Close()
	err = command.Usagef("--watch: %s is a strategy of kind %s, which cannot be reloaded", e.Info.Name, e.Info.Kind)
	return nil, catalog.Entry{}, nil, command.WithHint(err, "name a script: --strategy scripts/mine.lua")
}

// houseEdits returns the edits of house players; nil without --watch.
func (h *hosting) houseEdits(p *command.Process, supply lab.Supply, players []catalog.Player) (*lab.Edits, error) {
	if !h.watch {
		return nil, nil
	}
	if !slices.ContainsFunc(players, func(f catalog.Player) bool { return f.Info.Kind.Script() }) {
		return nil, command.WithHint(command.Usagef("--watch: --field has no script to reload"), "name a script: --field scripts/mine.lua,random")
	}
	return p.NewEdits(supply), nil
}

// edits collects the versions that house players have played with. It is safe for
// concurrent use; the zero value is empty.
type edits struct {
	mu    sync.Mutex
	lines []string
}

// edited prints an edit of a house player's script.
func (l *live) edited(name string, e player.Event) {
	switch e.Kind {
	case player.Reloaded, player.Kept:
		l.out.write(e, name+": "+screen.Version(e))
	case player.Completed, player.Left:
		if len(e.Versions) > 1 {
			l.edits.mu.Lock()
			defer l.edits.mu.Unlock()
			l.edits.lines = append(l.edits.lines, name+":"+strings.ReplaceAll(screen.Versions(e.Versions), "\n", "\n  "))
		}
	}
}

// sumUp prints which versions have played, where there were several.
func (s *edits) sumUp(out *eventWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.lines {
		out.say("%s", line)
	}
}
