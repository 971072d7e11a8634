package leagues

import (
	"context"
	"encoding/json"
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
	told, err := putManager(p, c, protocol.New(protocol.TypeStartLeague))
	if command.TakesNoMessage(err) {
		return startPlainly(p, c, err)
	}
	if err != nil {
		refused := fmt.Errorf("start: %w", err)
		if token := dialect.CodeOf(err); c.String(command.FlagAdminToken) == "" && (token == protocol.CodeTokenInvalid || token == protocol.CodeTokenMissing) && startPlainly(p, c, err) == nil {
			return nil // some managers answer so whatever they do not know
		}
		return refused
	}
	if status, ok := told.Message.(*protocol.LeagueStatus); ok && status.TotalRounds.Value() > 0 {
		_, err = fmt.Fprintf(p.Stdout, "the league is %s: round %d of %d\n", status.Status, status.CurrentRound.Value(), status.TotalRounds.Value())
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "the manager accepted %s: %s\n", told.How, shown(told.Raw))
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

// startForm is a nonstandard way to start the league of a manager.
type startForm struct {
	name   string
	method string // of JSON-RPC; empty for a plain POST
	path   string // of the URL, instead of the manager's own
	params string
}

// startForms are tried in this order if the manager takes START_LEAGUE in no way.
// Such programs read no message, and stumble over one.
func startForms(league string) []startForm {
	id, _ := json.Marshal(map[string]string{"league_id": league}) // text always encodes
	return []startForm{
		{name: "start_league without parameters", method: "start_league", params: "{}"},
		{name: "start_league with the league id", method: "start_league", params: string(id)},
		{name: "POST /start_league", path: "/start_league", params: "{}"},
		{name: "POST /start_league with the league id", path: "/start_league", params: string(id)},
		{name: "POST /start", path: "/start", params: "{}"},
		{name: "POST /league/start", path: "/league/start", params: "{}"},
		{name: "POST /api/start_league", path: "/api/start_league", params: "{}"},
	}
}

// startPlainly starts the league of a manager that takes START_LEAGUE in no way.
// If nothing works the error says what was tried, and each answer.
func startPlainly(p *command.Process, c *cli.Context, before error) error {
	text := before.Error()
	for _, form := range startForms(c.String(command.FlagLeagueID)) {
		answer, err := post(c, form, jsontext.Value(form.params))
		if err == nil {
			_, err = fmt.Fprintf(p.Stdout, "the manager accepted %s: %s\n", form.name, shown(answer))
			return err
		}
		text += fmt.Sprintf("\n  %s: %s", form.name, shown(jsontext.Value(err.Error())))
	}
	return fmt.Errorf("start: %s", text)
}

// announceRound tells a manager to announce a round. Some want that for each.
func announceRound(p *command.Process, c *cli.Context) error {
	round := c.Int(flagAnnounce)
	answer, err := post(c, startForm{method: "announce_round"}, fmt.Appendf(nil, `{"round_id":%d}`, round))
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
	if err != nil {
		return nil, err
	}
	if answer.Raw == nil && answer.Status < 400 {
		return jsontext.Value("accepted"), nil
	}
	parsed, err := dialect.ParseAnswer(answer.Status, answer.Raw)
	if err != nil {
		return nil, fmt.Errorf("HTTP %d %q", answer.Status, shown(answer.Raw))
	}
	_, err = dialect.NewCodec(protocol.Tolerant).ReadAnswer(protocol.TypeStartLeague, parsed)
	if refusal, ok := errors.AsType[*dialect.Refusal](err); ok || answer.Status >= 400 {
		words := shown(answer.Raw)
		if ok && refusal.Message != "" {
			words = refusal.Message
		}
		return nil, fmt.Errorf("HTTP %d %q", answer.Status, words)
	}
	return answer.Raw, nil
}
