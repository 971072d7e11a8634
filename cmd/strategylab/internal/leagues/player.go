package leagues

import (
	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
)

const flagOnce = "once"

func playerCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "player", Usage: "play in a league with a strategy",
		Flags: command.Join(agentFlags(), []cli.Flag{
			&cli.StringFlag{Name: command.FlagStrategy, Usage: "name or path of the strategy", Required: true},
			&cli.BoolFlag{Name: flagOnce, Usage: "leave when the league is complete (default: stay)"},
			&cli.DurationFlag{Name: flagIdleExit, Usage: "leave when nothing has been heard for so long after a match, for managers that never say that the league is over (default: 5m with --once, else never)"},
			command.SeedFlag(),
		}, liveFlags("127.0.0.1:0"), command.LiveCatalogFlags()),
		Action: func(c *cli.Context) error { return playLive(p, c) },
	}
}

func playLive(p *command.Process, c *cli.Context) (err error) {
	l, err := newLive(p, c, protocol.Tolerant) // toward a manager it does not control
	if err != nil {
		return err
	}
	a, err := l.agentOf(c, "player")
	if err != nil {
		return err
	}
	ways, err := dialects(c)
	if err != nil {
		return err
	}
	if err := idleExit(c); err != nil {
		return err
	}
	cat, e, err := command.LoadStrategy(p, c, c.String(command.FlagStrategy))
	if err != nil {
		return err
	}
	defer cat.Close()
	s, err := command.Seed(p, c)
	if err != nil {
		return err
	}
	rec, err := startRecording(p, c)
	if err != nil {
		return err
	}
	defer rec.end(&err)
	a.Tap = rec.tap(a.Name)
	valid, err := l.validation(c)
	if err != nil {
		return err
	}
	defer valid.end()
	a.Validation = valid.Validation
	cfg := l.playerConfig()
	cfg.Factory, cfg.Name, cfg.ID, cfg.Once = e.Factory, c.String(command.FlagName), c.String(command.FlagID), c.Bool(flagOnce)
	cfg.Dialects, cfg.IdleExit = ways, c.Duration(flagIdleExit)
	cfg.Key, cfg.Coin = game.StrategyKey(s, 0, 0), game.CoinKey(s, 0, 0)
	took := new(lab.Latencies)
	cfg.Print, cfg.Events = p.Logger(0), func(e player.Event) {
		if e.Kind == player.Answered {
			took.Add(e.Took)
			return
		}
		l.played(e)
	}
	err = a.Player(c.Context, cfg)
	if f, ok := took.Forecast(l.choice, l.backoff.Retries); ok {
		l.out.write(map[string]any{"event": "forecast", "forecast": f}, forecastText(f))
	}
	return l.agentError(c, err)
}
