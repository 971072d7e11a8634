package leagues

import (
	"context"
	"errors"
	"fmt"
	"net/url"
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
		Description: "Sends START_LEAGUE. To a manager that does not understand it, sends start_league without parameters and\n" +
			"then POST /start_league. For managers that want each round announced, use --announce-round N.",
		Flags: slices.Concat(askFlags(), []cli.Flag{
			&cli.IntFlag{Name: flagAnnounce, Usage: "announce this round instead of starting", Action: command.AtLeast(flagAnnounce, 1)},
		}),
		Action: command.Action(p, startLeague),
	}
}

func startLeague(p *command.Process, c *cli.Context) error {
	if c.IsSet(flagAnnounce) {
		return announceRound(p, c)
	}
	answer, err := tellManager(p, c, protocol.New(protocol.TypeStartLeague))
	if err != nil && !understood(err) {
		err = startOtherwise(p, c, err)
		if err == nil {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	status, ok := answer.(*protocol.LeagueStatus)
	if !ok {
		return fmt.Errorf("start: unexpected answer %s", answer.Head().MessageType)
	}
	fmt.Fprintf(p.Stdout, "the league is %s: round %d of %d\n", status.Status, status.CurrentRound.Value(), status.TotalRounds.Value())
	return nil
}

// startForm is a nonstandard way to start the league of a manager.
type startForm struct {
	name   string
	method string // of JSON-RPC; empty for a plain POST
	path   string // of the URL, instead of the manager's own
}

// startForms are tried in this order if the manager does not understand
// START_LEAGUE.
var startForms = []startForm{
	{name: "start_league without parameters", method: "start_league"},
	{name: "POST /start_league", path: "/start_league"},
}

// understood reports whether a manager understood START_LEAGUE and refused it.
func understood(err error) bool {
	switch dialect.CodeOf(err) {
	case "", protocol.CodeUnknownMessageType, protocol.CodeMissingField, protocol.CodeInvalidFieldType, protocol.CodeContextMismatch, protocol.CodeInternalError:
		refusal, ok := errors.AsType[*dialect.Refusal](err)
		return !ok || refusal.RPC == 0 && refusal.Status < 400
	}
	return true
}

// startOtherwise starts the league of a manager that does not understand
// START_LEAGUE. If nothing works it returns the error of START_LEAGUE.
func startOtherwise(p *command.Process, c *cli.Context, first error) error {
	for _, form := range startForms {
		answer, err := post(c, form, jsontext.Value(`{}`))
		if err == nil {
			_, err = fmt.Fprintf(p.Stdout, "the manager accepted %s: %s\n", form.name, answer)
			return err
		}
	}
	return first
}

// announceRound tells a manager to announce a round. Some want that for each.
func announceRound(p *command.Process, c *cli.Context) error {
	round := c.Int(flagAnnounce)
	answer, err := post(c, startForm{name: "announce_round", method: "announce_round"}, fmt.Appendf(nil, `{"round_id":%d}`, round))
	if err != nil {
		return fmt.Errorf("announce round %d: %w", round, err)
	}
	_, err = fmt.Fprintf(p.Stdout, "the manager accepted announce_round: %s\n", answer)
	return err
}

// post sends a nonstandard message and returns the answer.
func post(c *cli.Context, form startForm, params jsontext.Value) (_ jsontext.Value, err error) {
	target, err := url.Parse(c.String(command.FlagManager))
	if err != nil {
		return nil, err
	}
	m := jsonrpc.Message{Method: form.method, Params: params}
	if form.method == "" {
		m = jsonrpc.Message{Body: params}
		target.Path = form.path
	}
	network := host.NewSockets()
	client := jsonrpc.NewClient(network.From("launcher"), jsonrpc.ClientConfig{})
	defer func() { err = errors.Join(err, network.Close()) }()
	ctx, cancel := context.WithTimeout(c.Context, c.Duration(command.FlagTimeout))
	defer cancel()
	answer, err := client.Call(ctx, target.String(), m)
	switch {
	case err != nil:
		return nil, err
	case answer.Kind == jsonrpc.AnswerError:
		return nil, fmt.Errorf("the manager refused: %s", answer.Raw)
	case answer.Status >= 400:
		return nil, fmt.Errorf("the manager answered with HTTP status %d", answer.Status)
	}
	if doc := answer.Raw; doc != nil {
		return doc, nil
	}
	return jsontext.Value("accepted"), nil
}
