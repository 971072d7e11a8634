package leagues

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/player"
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
		league.Seats = append(league.Seats, host.Seat{Config: cfg})
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
