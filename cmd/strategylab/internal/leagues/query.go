package leagues

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/protocol"
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
		&cli.StringFlag{Name: command.FlagManager, Value: "http://127.0.0.1:8000/mcp", Usage: "URL of the league manager"},
		&cli.StringFlag{Name: command.FlagAdminToken, Usage: "the token that the host printed; not needed on the host's machine if it has none"},
		&cli.StringFlag{Name: command.FlagLeagueID, Value: "league", Usage: "the league's name"},
		&cli.DurationFlag{Name: command.FlagTimeout, Value: 10 * time.Second, Usage: "time to answer"},
		recordFlag(),
	}
}

func startCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "start", Usage: "start the league of a manager",
		Description: "A manager that does not understand START_LEAGUE is sent start_league without parameters, and then\n" +
			"POST /start_league. One that wants every round announced is told so with --announce-round N.",
		Flags: command.Join(askFlags(), []cli.Flag{
			&cli.IntFlag{Name: flagAnnounce, Usage: "have this round announced instead, for managers that want that"},
		}),
		Action: func(c *cli.Context) error { return startLeague(p, c) },
	}
}

func queryCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "query", ArgsUsage: "standings|schedule|players|status|next-match", Usage: "ask a manager about its league",
		Flags: command.Join(askFlags(), []cli.Flag{
			&cli.StringFlag{Name: flagPlayer, Usage: "whose next match"},
			&cli.IntFlag{Name: flagRound, Usage: "which round of the schedule (default: all)"},
		}),
		Action: func(c *cli.Context) error { return queryLeague(p, c) },
	}
}

// tellManager sends one message as the launcher and returns the answer.
func tellManager(p *command.Process, c *cli.Context, m protocol.Message) (_ protocol.Message, err error) {
	if err := errors.Join(command.URLFlags(c, command.FlagManager), command.Positive(c, command.FlagTimeout)); err != nil {
		return nil, err
	}
	rec, err := startRecording(p, c)
	if err != nil {
		return nil, err
	}
	defer rec.end(&err)
	answer, err := command.Ask{
		Manager: c.String(command.FlagManager), Token: c.String(command.FlagAdminToken), League: c.String(command.FlagLeagueID),
		Timeout: c.Duration(command.FlagTimeout), Tap: rec.tap("launcher"),
	}.Tell(c.Context, p.Now(), m)
	return answer, command.Remedy(c, err)
}

func startLeague(p *command.Process, c *cli.Context) error {
	if _, err := command.Arguments(c); err != nil {
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
	fmt.Fprintf(p.Stdout, "the league is %s: round %d of %d\n", status.Status, status.CurrentRound.Value(), status.TotalRounds.Value())
	return nil
}

func queryLeague(p *command.Process, c *cli.Context) error {
	args, err := command.Arguments(c, "what to ask")
	if err != nil {
		return err
	}
	kind, known := queries[args[0]]
	if !known {
		return command.Usagef("query: %q is none of standings, schedule, players, status and next-match", args[0])
	}
	q := &protocol.LeagueQuery{QueryType: kind}
	q.MessageType = protocol.TypeLeagueQuery
	if c.IsSet(flagPlayer) || c.IsSet(flagRound) {
		q.QueryParams = &protocol.QueryParams{PlayerID: c.String(flagPlayer)}
		if c.IsSet(flagRound) {
			if _, err := command.AtLeast(c, flagRound, 1); err != nil {
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
	return command.PrintJSON(p.Stdout, json.RawMessage(r.Data))
}
