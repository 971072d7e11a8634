package leagues

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

const flagAnnounce = "announce-round"

func startCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "start", Usage: "start the league of a manager",
		Description: "Sends START_LEAGUE in the ways that managers take, the commonest first, then start_league without a message\n" +
			"and POST /start_league. If the manager refuses the sender or the league id, tries others that it knows.\n" +
			"For managers that want each round announced, use --announce-round N.",
		Flags: slices.Concat(askFlags(p), []cli.Flag{
			&cli.IntFlag{Name: flagAnnounce, Usage: "announce this round instead of starting", Action: command.AtLeast(flagAnnounce, 1)},
		}),
		Action: command.Action(p, startLeague),
	}
}

func startLeague(p *command.Process, c *cli.Context) error {
	if c.IsSet(flagAnnounce) {
		return announceRound(p, c)
	}
	told, err := askManager(p, c, protocol.New(protocol.TypeStartLeague))
	if err != nil {
		return fmt.Errorf("start: %w", command.ExplainStart(c, err))
	}
	if status, ok := told.Message.(*protocol.LeagueStatus); ok && status.TotalRounds.Value() > 0 {
		_, err = fmt.Fprintf(p.Stdout, "the league is %s: round %d of %d\n", status.Status, status.CurrentRound.Value(), status.TotalRounds.Value())
		return err
	}
	fmt.Fprintf(p.Stdout, "the manager accepted %s: %s\n", told.How, shown(told.Raw))
	if dialect.FindBeginning(told.Raw) == protocol.Unsaid {
		_, err = fmt.Fprintln(p.Stdout, "it does not say that the league has started; if nobody is called, look whether it has more ways to start it")
	}
	return err
}

// shown is an answer as the screen shows it.
func shown(raw jsontext.Value) string {
	const widest = 200
	switch {
	case len(raw) == 0:
		return "accepted"
	case len(raw) > widest:
		return string(raw[:widest]) + "..."
	}
	return string(raw)
}

// announceRound tells a manager to announce a round. Some want that for each.
func announceRound(p *command.Process, c *cli.Context) error {
	round := c.Int(flagAnnounce)
	answer, err := post(c, "announce_round", fmt.Appendf(nil, `{"round_id":%d}`, round))
	if err != nil {
		return fmt.Errorf("announce round %d: %w", round, err)
	}
	_, err = fmt.Fprintf(p.Stdout, "the manager accepted announce_round: %s\n", answer)
	return err
}

// post calls a method that is not in the protocol and returns the answer.
func post(c *cli.Context, method string, params jsontext.Value) (_ jsontext.Value, err error) {
	network := host.NewSockets()
	client := jsonrpc.NewClient(network.From("launcher"), jsonrpc.ClientConfig{})
	defer func() { err = errors.Join(err, network.Close()) }()
	ctx, cancel := context.WithTimeout(c.Context, c.Duration(command.FlagTimeout))
	defer cancel()
	answer, err := client.Call(ctx, c.String(command.FlagManager), jsonrpc.Message{Method: method, Params: params, ID: jsontext.Value("1")})
	if err != nil {
		return nil, err
	}
	if answer.Raw == nil && answer.Status < http.StatusBadRequest {
		return jsontext.Value("accepted"), nil
	}
	parsed, err := dialect.ParseAnswer(answer.Status, answer.Raw)
	if err != nil {
		return nil, fmt.Errorf("HTTP %d %q", answer.Status, shown(answer.Raw))
	}
	_, err = dialect.NewCodec(protocol.Tolerant).ReadAnswer(protocol.TypeStartLeague, parsed)
	if refusal, ok := errors.AsType[*dialect.Refusal](err); ok || answer.Status >= http.StatusBadRequest {
		words := shown(answer.Raw)
		if ok && refusal.Message != "" {
			words = refusal.Message
		}
		return nil, fmt.Errorf("HTTP %d %q", answer.Status, words)
	}
	return answer.Raw, nil
}
