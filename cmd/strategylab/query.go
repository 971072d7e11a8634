package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

const (
	flagPlayer = "player"
	flagRound  = "round"
)

// queries are what can be asked, by the name on the command line.
var queries = map[string]string{
	"standings": protocol.QueryStandings, "schedule": protocol.QuerySchedule, "players": protocol.QueryPlayers,
	"status": protocol.QueryStatus, "next-match": protocol.QueryNextMatch,
}

func askFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: flagManager, Value: "http://127.0.0.1:8000/mcp", Usage: "URL of the league manager"},
		&cli.StringFlag{Name: flagAdminToken, Usage: "the token that the host printed; not needed on the host's machine if it has none"},
		&cli.StringFlag{Name: flagLeagueID, Value: "league", Usage: "the league's name"},
		&cli.DurationFlag{Name: flagTimeout, Value: 10 * time.Second, Usage: "time to answer"},
		recordFlag(),
	}
}

func startCommand(p *process) *cli.Command {
	return &cli.Command{
		Name: "start", Usage: "start the league of a manager",
		Description: "A manager that does not understand START_LEAGUE is sent start_league without parameters, and then\n" +
			"POST /start_league. One that wants every round announced is told so with --announce-round N.",
		Flags: join(askFlags(), []cli.Flag{
			&cli.IntFlag{Name: flagAnnounce, Usage: "have this round announced instead, for managers that want that"},
		}),
		Action: func(c *cli.Context) error { return startLeague(p, c) },
	}
}

func queryCommand(p *process) *cli.Command {
	return &cli.Command{
		Name: "query", ArgsUsage: "standings|schedule|players|status|next-match", Usage: "ask a manager about its league",
		Flags: join(askFlags(), []cli.Flag{
			&cli.StringFlag{Name: flagPlayer, Usage: "whose next match"},
			&cli.IntFlag{Name: flagRound, Usage: "which round of the schedule (default: all)"},
		}),
		Action: func(c *cli.Context) error { return queryLeague(p, c) },
	}
}

// tellManager sends one message as the launcher and returns the answer.
func tellManager(p *process, c *cli.Context, m protocol.Message) (_ protocol.Message, err error) {
	if err := urlFlag(c, flagManager); err != nil {
		return nil, err
	}
	if d := c.Duration(flagTimeout); d <= 0 {
		return nil, usagef("--%s is %v, want more than nothing", flagTimeout, d)
	}
	rec, err := startRecording(p, c)
	if err != nil {
		return nil, err
	}
	defer rec.end(&err)
	answer, err := ask{
		manager: c.String(flagManager), token: c.String(flagAdminToken), league: c.String(flagLeagueID),
		timeout: c.Duration(flagTimeout), tap: rec.tap("launcher"),
	}.tell(c.Context, p, m)
	return answer, remedy(c, err)
}

// ask says whom to ask about a league, and as whom.
type ask struct {
	manager string // URL
	token   string // may be empty
	league  string // its name
	timeout time.Duration
	tap     jsonrpc.Tap // may be nil
}

// tell sends one message as the launcher and returns the answer.
func (a ask) tell(ctx context.Context, p *process, m protocol.Message) (_ protocol.Message, err error) {
	network := host.NewSockets()
	defer func() { err = errors.Join(err, network.Close()) }()
	caller := &wire.Caller{
		Client: jsonrpc.NewClient(network.From("launcher"), jsonrpc.ClientConfig{Tap: a.tap}), Codec: protocol.NewCodec(protocol.Tolerant),
	}
	h := m.Head()
	*h = protocol.NewHeader(h.MessageType, string(protocol.RoleLauncher), protocol.Timestamp(p.now()), jsonrpc.RandomID())
	h.AuthToken, h.LeagueID = a.token, a.league
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	return caller.Call(ctx, wire.NewPeer(a.manager, protocol.Contracts), m)
}

func startLeague(p *process, c *cli.Context) error {
	if _, err := arguments(c); err != nil {
		return err
	}
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
		return fmt.Errorf("start: answered by a %s", answer.Head().MessageType)
	}
	fmt.Fprintf(p.stdout, "the league is %s: round %d of %d\n", status.Status, status.CurrentRound.Value(), status.TotalRounds.Value())
	return nil
}

func queryLeague(p *process, c *cli.Context) error {
	args, err := arguments(c, "what to ask")
	if err != nil {
		return err
	}
	kind, known := queries[args[0]]
	if !known {
		return usagef("query: %q is none of standings, schedule, players, status and next-match", args[0])
	}
	q := &protocol.LeagueQuery{QueryType: kind}
	q.MessageType = protocol.TypeLeagueQuery
	if c.IsSet(flagPlayer) || c.IsSet(flagRound) {
		q.QueryParams = &protocol.QueryParams{PlayerID: c.String(flagPlayer)}
		if c.IsSet(flagRound) {
			if _, err := atLeast(c, flagRound, 1); err != nil {
				return err
			}
			q.QueryParams.RoundID = protocol.RoundNumber(c.Int(flagRound))
		}
	}
	answer, err := tellManager(p, c, q)
	if err != nil {
		return fmt.Errorf("query %s: %w", args[0], err)
	}
	r, ok := answer.(*protocol.LeagueQueryResponse)
	if !ok || r.Data == nil {
		return fmt.Errorf("query %s: the answer holds no data", args[0])
	}
	return printJSON(p.stdout, json.RawMessage(r.Data))
}
