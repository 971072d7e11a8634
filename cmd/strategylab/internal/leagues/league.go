package leagues

import (
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/screen"
	"github.com/strategylab/strategylab/strategies/catalog"
)

func leagueCommand(p *command.Process) *cli.Command {
	o := &leagueOptions{liveOptions: liveOptions{Listen: "127.0.0.1:0"}, hostOptions: hostOptions{Web: true}, Isolated: command.Isolated{Isolate: true}}
	c := command.New(p, &cli.Command{
		Name: "league", Usage: "play one league over real sockets and watch it",
		Description: "Without a command, plays a league of the strategies of --field. The commands are for the organiser of a\n" +
			"league that a host or a manager runs.",
	}, o, func(p *command.Process, c *cli.Context, o *leagueOptions) error {
		return hostLeague(p, c, &hosting{&o.liveOptions, &o.hostOptions, o.drawing, openOptions{}, o.Field, o.Referees, o.Watch, o.Isolated, true})
	})
	c.Subcommands = slices.Concat(statusCommands(p), paceCommands(p))
	return c
}

type leagueOptions struct {
	Field    string `flag:"field STRATEGIES" text:"all" usage:"names and paths, such as markov-2,scripts/mine.lua,random*3"`
	Referees int    `flag:"referees" default:"1" usage:"number of referees"`
	Watch    bool   `flag:"watch" usage:"reload an edited script between two matches"`
	hostOptions
	drawing
	liveOptions
	command.Isolated
}

// house adds the house players to a league. The caller closes their catalog.
func (l *live) house(c *cli.Context, h *hosting, league *host.League, key uint64) (_ *catalog.Catalog, err error) {
	supply, err := l.p.SupplyAgents(c, command.Isolation{Isolated: h.isolated}, new(command.Agents), h.field)
	if err != nil {
		return nil, err
	}
	cat, err := l.p.LoadCatalog(c.Context, supply)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			cat.Close()
		}
	}()
	refs, err := catalog.ParseRefs(h.field)
	if err != nil {
		return nil, command.Usagef("--field: %w", err)
	}
	field, err := cat.Field(c.Context, refs)
	if err != nil {
		return nil, lab.FieldError(err)
	}
	for _, w := range command.Few(field.Warnings) {
		l.p.Warn("%s", w)
	}
	l.p.WarnOfSlips(c, field.Players, true)
	edits, err := h.houseEdits(l.p, supply, field.Players)
	if err != nil {
		return nil, err
	}
	for i, f := range field.Players {
		cfg := l.playerConfig()
		if edits != nil {
			cfg.Versions = edits.Of(cat, f.Info, f.Factory)
		}
		cfg.Factory, cfg.Name = f.Factory, f.Name
		cfg.Key, cfg.Coin = game.StrategyKey(key, 0, i), game.CoinKey(key, 0, i)
		cfg.Events = func(e player.Event) {
			l.remark(f.Name, e)
			l.trouble.Failed(f.Name, e)
			l.edited(f.Name, e)
		}
		cfg.Print = l.log.With("strategy", f.Name)
		league.Seats = append(league.Seats, cfg)
	}
	if h.closed {
		league.Manager.Players = len(league.Seats)
	}
	switch n := len(league.Seats); {
	case h.closed && n < game.MinPlayers:
		return nil, command.Usagef("a league needs %d players, but the field has %d", game.MinPlayers, n)
	case league.Manager.MaxPlayers > 0 && n > league.Manager.MaxPlayers:
		return nil, command.Usagef("--field has %d players, more than --max-players %d", n, league.Manager.MaxPlayers)
	case league.Manager.Players > 0 && n > league.Manager.Players:
		return nil, command.Usagef("--field has %d players, more than --players %d", n, league.Manager.Players)
	}
	return cat, nil
}

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
