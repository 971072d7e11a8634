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
	return &cli.Command{
		Name: "league", Usage: "play one league over real sockets and watch it",
		Description: "Without a command, plays a league of the strategies of --field. The commands are for the organiser of a\n" +
			"league that a host or a manager runs.",
		Flags: slices.Concat(hostFlags(), []cli.Flag{
			&cli.StringFlag{Name: command.FlagField, Usage: "`STRATEGIES`: names and paths, such as markov-2,scripts/mine.lua,random*3", DefaultText: "all"},
			&cli.IntFlag{Name: flagReferees, Value: 1, Usage: "number of referees"},
			drawsFlag(),
			watchFlag(),
		}, liveFlags("127.0.0.1:0"), []cli.Flag{command.IsolateFlag(true)}),
		Action:      command.Action(p, func(p *command.Process, c *cli.Context) error { return hostLeague(p, c, true) }),
		Subcommands: slices.Concat(statusCommands(p), paceCommands(p)),
	}
}

// house adds the house players to a league.
func (l *live) house(c *cli.Context, cat *catalog.Catalog, league *host.League, key uint64, closed bool) error {
	refs, err := catalog.ParseRefs(c.String(command.FlagField))
	if err != nil {
		return command.Usagef("--%s: %w", command.FlagField, err)
	}
	field, err := cat.Field(c.Context, refs)
	if err != nil {
		return lab.FieldError(err)
	}
	for _, w := range command.Few(field.Warnings) {
		l.p.Warn("%s", w)
	}
	command.WarnOfSlips(l.p, c, field.Players, true)
	edits, err := houseEdits(l.p, c, field.Players)
	if err != nil {
		return err
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
			l.trouble.failed(f.Name, e)
			l.edited(f.Name, e)
		}
		cfg.Print = l.log.With("strategy", f.Name)
		league.Seats = append(league.Seats, host.Seat{Config: cfg})
	}
	if closed {
		league.Manager.Players = len(league.Seats)
	}
	switch n := len(league.Seats); {
	case closed && n < game.MinPlayers:
		return command.Usagef("a league needs %d players, but the field has %d", game.MinPlayers, n)
	case league.Manager.MaxPlayers > 0 && n > league.Manager.MaxPlayers:
		return command.Usagef("--%s has %d players, more than --%s %d", command.FlagField, n, flagMaxPlayers, league.Manager.MaxPlayers)
	case league.Manager.Players > 0 && n > league.Manager.Players:
		return command.Usagef("--%s has %d players, more than --%s %d", command.FlagField, n, command.FlagPlayers, league.Manager.Players)
	}
	return nil
}
