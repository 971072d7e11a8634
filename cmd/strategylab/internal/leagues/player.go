package leagues

import (
	"cmp"
	"errors"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/screen"
	"github.com/strategylab/strategylab/strategies/catalog"
)

type playerOptions struct {
	Strategy string        `flag:"strategy STRATEGY" required:"yes" usage:"name or path of the strategy, such as markov-2"`
	Once     bool          `flag:"once" usage:"exit when the league is complete"`
	Watch    bool          `flag:"watch" usage:"reload an edited script between two matches"`
	IdleExit time.Duration `flag:"idle-exit" text:"5m with --once, else never" usage:"exit after this long without messages following a match"`
	command.Seeding
	command.Isolated
	agentOptions
}

func play(p *command.Process, c *cli.Context, o *playerOptions) (err error) {
	l, a, own, err := newAgent(p, c, &o.agentOptions, o.IdleExit, protocol.RolePlayer)
	if err != nil {
		return err
	}
	cat, e, edited, err := o.load(p, c)
	if err != nil {
		return err
	}
	defer cat.Close()
	if e.Factory != nil {
		p.WarnOfSlips(c, []catalog.Player{{Info: e.Info, Factory: e.Factory}}, true)
	}
	s, err := o.Seed(p)
	if err != nil {
		return err
	}
	seen, err := l.observe(c, game.Draw{})
	if err != nil {
		return err
	}
	defer seen.end(&err)
	a.Tap, a.Validation = seen.tap(a.Name), seen.Validation
	own.Name = cmp.Or(own.Name, e.Info.Name)
	took, wrong := new(lab.Latencies), new(screen.Mishaps)
	err = a.Player(c.Context, player.Config{
		Config: own, ChoiceTimeout: o.ChoiceTimeout, Factory: e.Factory, Versions: edited, Once: o.Once, Print: p.Logger(0),
		Key: game.StrategyKey(s, 0, 0), Coin: game.CoinKey(s, 0, 0),
		Events: func(e player.Event) {
			if e.Kind == player.Answered {
				took.Add(e.Took)
				return
			}
			l.remark(e.Player, e)
			wrong.Note(e)
			l.out.write(e, screen.Played(e))
		},
	})
	if errors.Is(err, player.ErrNoVersion) { // the file does not load, either
		return lab.NameError(e.Err)
	}
	if f, ok := took.Forecast(o.ChoiceTimeout, l.backoff.Retries); ok {
		l.out.write(map[string]any{"event": "forecast", "forecast": f}, screen.Forecast(f))
	}
	if l.recorded != nil { // not before the end: who knows the seed knows what comes
		l.out.say("seed %d: trace playback --seed %d repeats these choices", s, s)
	}
	if text := wrong.Summary(); text != "" {
		l.out.say("%s", text)
	}
	if err = agentError(c, o.Manager, err); err == nil && wrong.AllLost() {
		return command.ErrAllLost
	}
	return err
}
