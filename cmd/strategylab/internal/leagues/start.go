package leagues

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

const flagAnnounce = "announce-round"

// startForm is a way in which managers are told to start that is not by the
// book.
type startForm struct {
	name   string
	method string // of JSON-RPC; empty for a plain POST
	path   string // of the URL, instead of the manager's own
}

// startForms are tried in this order where START_LEAGUE is not understood.
var startForms = []startForm{
	{name: "start_league without parameters", method: "start_league"},
	{name: "POST /start_league", path: "/start_league"},
}

// understood reports whether a manager has refused to start, rather than not
// known what it was asked.
func understood(err error) bool {
	switch dialect.CodeOf(err) {
	case "", protocol.CodeUnknownMessageType, protocol.CodeMissingField, protocol.CodeInvalidFieldType, protocol.CodeContextMismatch, protocol.CodeInternalError:
		refusal, ok := errors.AsType[*dialect.Refusal](err)
		return !ok || refusal.RPC == 0 && refusal.Status < 400
	}
	return true
}

// startOtherwise starts the league of a manager that does not understand
// START_LEAGUE. Without success the error is that of START_LEAGUE.
func startOtherwise(p *command.Process, c *cli.Context, first error) error {
	for _, form := range startForms {
		answer, err := post(c, form, jsontext.Value(`{}`))
		if err == nil {
			_, err = fmt.Fprintf(p.Stdout, "the manager has taken %s: %s\n", form.name, answer)
			return err
		}
	}
	return first
}

// announceRound tells a manager to announce a round, which some want to be told
// once for each.
func announceRound(p *command.Process, c *cli.Context) error {
	round, err := command.AtLeast(c, flagAnnounce, 1)
	if err != nil {
		return err
	}
	answer, err := post(c, startForm{name: "announce_round", method: "announce_round"}, fmt.Appendf(nil, `{"round_id":%d}`, round))
	if err != nil {
		return fmt.Errorf("announce round %d: %w", round, err)
	}
	_, err = fmt.Fprintf(p.Stdout, "the manager has taken announce_round: %s\n", answer)
	return err
}

// post sends a message that is not league.v2's, and returns what came back.
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
		return nil, fmt.Errorf("the manager refuses: %s", answer.Raw)
	case answer.Status >= 400:
		return nil, fmt.Errorf("the manager answers with HTTP status %d", answer.Status)
	}
	if doc := answer.Raw; doc != nil {
		return doc, nil
	}
	return jsontext.Value("accepted"), nil
}
