package leagues

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
)

type startOptions struct {
	asking
	Announce int `flag:"announce-round" want:"1.." usage:"announce this round instead of starting"`
}

func startLeague(p *command.Process, c *cli.Context, o *startOptions) error {
	if o.Announce > 0 {
		return announceRound(p, c, o)
	}
	told, err := o.ask(p, c, protocol.New(protocol.TypeStartLeague))
	if err != nil {
		return fmt.Errorf("start: %w", command.ExplainStart(o.Manager, err))
	}
	if status, ok := told.Message.(*protocol.LeagueStatus); ok && status.TotalRounds.Value() > 0 {
		_, err = fmt.Fprintf(p.Stdout, "the league is %s: round %d of %d\n", status.Status, status.CurrentRound.Value(), status.TotalRounds.Value())
		return err
	}
	fmt.Fprintf(p.Stdout, "the manager accepted %s: %s\n", told.How, host.Shown(told.Raw))
	if dialect.FindBeginning(told.Raw) == protocol.Unsaid {
		_, err = fmt.Fprintln(p.Stdout, "it does not say that the league has started; if nobody is called, look whether it has more ways to start it")
	}
	return err
}

// announceRound tells a manager to announce a round. Some want that for each.
func announceRound(p *command.Process, c *cli.Context, o *startOptions) error {
	answer, err := host.Ask{Manager: o.Manager, Timeout: o.Timeout}.AnnounceRound(c.Context, o.Announce)
	if err != nil {
		return fmt.Errorf("announce round %d: %w", o.Announce, err)
	}
	_, err = fmt.Fprintf(p.Stdout, "the manager accepted announce_round: %s\n", answer)
	return err
}
