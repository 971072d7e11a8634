package leagues

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

func startCommand(p *command.Process) *cli.Command {
	return command.New(p, &cli.Command{
		Name: "start", Usage: "start the league of a manager",
		Description: "Sends START_LEAGUE in the ways that managers take, the commonest first, then start_league without a message\n" +
			"and POST /start_league. If the manager refuses the sender or the league id, tries others that it knows.\n" +
			"For managers that want each round announced, use --announce-round N.",
	}, new(startOptions), startLeague)
}

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
func announceRound(p *command.Process, c *cli.Context, o *startOptions) error {
	answer, err := o.post(c.Context, "announce_round", fmt.Appendf(nil, `{"round_id":%d}`, o.Announce))
	if err != nil {
		return fmt.Errorf("announce round %d: %w", o.Announce, err)
	}
	_, err = fmt.Fprintf(p.Stdout, "the manager accepted announce_round: %s\n", answer)
	return err
}

// post calls a method that is not in the protocol and returns the answer.
func (a *asking) post(ctx context.Context, method string, params jsontext.Value) (_ jsontext.Value, err error) {
	network := host.NewSockets()
	client := jsonrpc.NewClient(network.From("launcher"), jsonrpc.ClientConfig{})
	defer func() { err = errors.Join(err, network.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	answer, err := client.Call(ctx, a.Manager, jsonrpc.Message{Method: method, Params: params, ID: jsontext.Value("1")})
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
