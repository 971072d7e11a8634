package leagues

import (
	"cmp"
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies/catalog"
)

const flagOnce = "once"

func playerCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "player", Usage: "play in a league with a strategy",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: command.FlagStrategy, Usage: "`STRATEGY`: name or path of the strategy, such as markov-2", Required: true},
			&cli.BoolFlag{Name: flagOnce, Usage: "exit when the league is complete"},
			watchFlag(),
		}, agentFlags("5m with --once, else never"), liveFlags("127.0.0.1:8101-8200"), []cli.Flag{command.IsolateFlag(true)}),
		Action: command.Action(p, play),
	}
}

func play(p *command.Process, c *cli.Context) (err error) {
	l, a, own, err := newAgent(p, c, protocol.RolePlayer)
	if err != nil {
		return err
	}
	cat, e, edited, err := loadWatched(p, c)
	if err != nil {
		return err
	}
	defer cat.Close()
	if e.Factory != nil {
		command.WarnOfSlips(p, c, []catalog.Player{{Info: e.Info, Factory: e.Factory}}, true)
	}
	s, err := command.Seed(p, c)
	if err != nil {
		return err
	}
	seen, err := l.observe(c)
	if err != nil {
		return err
	}
	defer seen.end(&err)
	a.Tap, a.Validation = seen.tap(a.Name), seen.Validation
	own.Name = cmp.Or(own.Name, e.Info.Name)
	took, wrong := new(lab.Latencies), new(mishaps)
	err = a.Player(c.Context, player.Config{
		Config: own, ChoiceTimeout: l.choice, Factory: e.Factory, Versions: edited, Once: c.Bool(flagOnce), Print: p.Logger(0),
		Key: game.StrategyKey(s, 0, 0), Coin: game.CoinKey(s, 0, 0),
		Events: func(e player.Event) {
			if e.Kind == player.Answered {
				took.Add(e.Took)
				return
			}
			l.remark(e.Player, e)
			wrong.note(e)
			l.played(e)
		},
	})
	if errors.Is(err, player.ErrNoVersion) { // the file does not load, either
		return lab.NameError(e.Err)
	}
	if f, ok := took.Forecast(l.choice, l.backoff.Retries); ok {
		l.out.write(map[string]any{"event": "forecast", "forecast": f}, forecastText(f))
	}
	if text := wrong.summary(); text != "" {
		l.out.say("%s", text)
	}
	if err = agentError(c, err); err == nil && wrong.allLost() {
		return command.ErrAllLost
	}
	return err
}
