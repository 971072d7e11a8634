package leagues

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/trace"
	"github.com/strategylab/strategylab/host/trace/playback"
)

type playbackOptions struct {
	Strategy string `flag:"strategy STRATEGY" usage:"name or path, such as markov-2, for a player"`
	Agent    string `flag:"agent" usage:"agent to replay, such as player, P01 or REF01"`
	All      bool   `flag:"all" usage:"print equal answers, too"`
	command.Seeding
	command.Isolated
}

func playBack(p *command.Process, c *cli.Context, o *playbackOptions) error {
	rec, err := readTrace(p, c)
	if err != nil {
		return err
	}
	part, agents := playback.Part(rec, o.Agent)
	switch {
	case len(agents) == 0:
		return command.Usagef("trace playback: the recording has no request to an agent, so there is nothing to replay")
	case part == nil && o.Agent == "":
		return command.WithHint(fmt.Errorf("%d agents recorded: %s", len(agents), strings.Join(agents, ", ")), "choose one with --agent")
	case part == nil:
		return command.WithHint(fmt.Errorf("--agent: no recording of %q, only of %s", o.Agent, strings.Join(agents, ", ")), "choose one with --agent")
	}
	other := playback.New(part)
	a := host.Agent{Network: other, Name: "agent", Manager: playback.Manager(part)}
	run, closing, err := agentFor(p, c, o, part)
	if err != nil {
		return err
	}
	defer closing()
	ctx, cancel := context.WithCancel(c.Context)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, a); cancel() }()
	steps, err := other.Run(ctx)
	cancel()
	if failed := <-ended; errors.Is(err, context.Canceled) || err == nil {
		err = failed
	}
	if c.Context.Err() != nil {
		return c.Context.Err()
	}
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(playback.WriteSteps(p.Stdout, steps, o.All), err)
}

// agentFor returns what runs the agent to replay: a player or a referee.
func agentFor(p *command.Process, c *cli.Context, o *playbackOptions, part []*trace.Exchange) (run func(context.Context, host.Agent) error, closing func(), err error) {
	const out, in = true, false
	asked := func(sent bool, t protocol.Type) bool {
		return slices.ContainsFunc(part, func(x *trace.Exchange) bool { return x.Sent == sent && x.Type == t })
	}
	s, err := o.Seed(p)
	if err != nil {
		return nil, nil, err
	}
	if !p.Quiet {
		p.Say("seed %d", s)
	}
	switch {
	case asked(in, protocol.TypeLeagueRegisterRequest), asked(in, protocol.TypeRefereeRegisterRequest), asked(in, protocol.TypeMatchResultReport):
		return nil, nil, command.Usagef("trace playback: this is the recording of a manager; only players and referees can be replayed")
	case asked(out, protocol.TypeGameInvitation):
		cfg := referee.Config{
			Config: agent.Config{Mode: protocol.Tolerant, Now: p.Now, Backoff: game.Backoff{Retries: 3, First: time.Millisecond, Most: time.Millisecond}},
			Draw: func(m referee.Match) (int, error) {
				return game.FairDraw().Pick(game.LiveWord(s, m.League, m.ID)), nil
			},
		}
		return func(ctx context.Context, a host.Agent) error { return a.Referee(ctx, cfg) }, func() {}, nil
	case o.Strategy == "":
		return nil, nil, command.WithHint(errors.New("trace playback: --strategy is missing, as this is the recording of a player"), "strategylab strategies list shows what there is")
	}
	cat, e, err := p.LoadStrategy(c.Context, p.Supply(c, command.Isolation{Isolated: o.Isolated}), o.Strategy)
	if err != nil {
		return nil, nil, err
	}
	cfg := player.Config{
		Config:  agent.Config{Mode: protocol.Tolerant, Now: p.Now},
		Factory: e.Factory,
		Watch:   -1,
		Print:   p.Logger(0),
		Key:     game.StrategyKey(s, 0, 0),
		Coin:    game.CoinKey(s, 0, 0),
	}
	return func(ctx context.Context, a host.Agent) error { return a.Player(ctx, cfg) }, func() { _ = cat.Close() }, nil // nothing was written
}
