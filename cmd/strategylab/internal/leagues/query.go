package leagues

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
)

const (
	flagPlayer = "player"
	flagRound  = "round"
)

// queries maps arguments to query types.
var queries = map[string]string{
	"standings": protocol.QueryStandings, "schedule": protocol.QuerySchedule, "players": protocol.QueryPlayers,
	"status": protocol.QueryStatus, "next-match": protocol.QueryNextMatch,
}

func askFlags(p *command.Process) []cli.Flag {
	return []cli.Flag{
		command.ManagerFlag(),
		&cli.StringFlag{Name: command.FlagAdminToken, Usage: "`TOKEN`: admin token that the host printed"},
		&cli.StringFlag{Name: command.FlagAdminFile, Usage: "`FILE`: file that holds the admin token", Action: func(c *cli.Context, name string) error { return readAdminToken(p, c, name) }},
		&cli.StringFlag{Name: command.FlagLeagueID, Value: manager.DefaultLeagueID, Usage: "`ID`: name of the league"},
		&cli.DurationFlag{Name: command.FlagTimeout, Value: 10 * time.Second, Usage: "deadline for the answer", Action: command.Positive(command.FlagTimeout)},
		recordFlag(),
	}
}

func queryCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "query", ArgsUsage: "standings|schedule|players|status|next-match", Usage: "query a manager about its league",
		Description: "Everybody may ask; with the admin token, players also shows where they listen.",
		Flags: slices.Concat(askFlags(p), []cli.Flag{
			&cli.StringFlag{Name: flagPlayer, Usage: "`ID`: the player, for next-match"},
			&cli.IntFlag{Name: flagRound, Usage: "round number, for schedule", DefaultText: "all", Action: command.AtLeast(flagRound, 1)},
			command.FormatFlag("text", "json"),
		}),
		Action: command.Action(p, queryLeague, "QUERY"),
	}
}

// askManager sends one message as the launcher and returns how the manager has
// taken it.
func askManager(p *command.Process, c *cli.Context, m protocol.Message) (_ *command.Reply, err error) {
	rec, err := startRecording(p, c)
	if err != nil {
		return nil, err
	}
	defer rec.end(&err)
	told, err := command.Ask{
		Manager: c.String(command.FlagManager), Token: c.String(command.FlagAdminToken), League: c.String(command.FlagLeagueID),
		Guessed: !c.IsSet(command.FlagLeagueID), Timeout: c.Duration(command.FlagTimeout), Tap: rec.tap("launcher"),
	}.Send(c.Context, p.Now(), m)
	return told, command.Remedy(c, err)
}

func queryLeague(p *command.Process, c *cli.Context) error {
	what := c.Args().First()
	kind, known := queries[what]
	switch {
	case !known:
		return command.Usagef("query: unknown query %q, want standings, schedule, players, status or next-match", what)
	case c.IsSet(flagRound) && kind != protocol.QuerySchedule:
		return command.Usagef("query %s: --%s is for schedule only", what, flagRound)
	case c.IsSet(flagPlayer) && kind != protocol.QueryNextMatch:
		return command.Usagef("query %s: --%s is for next-match only", what, flagPlayer)
	case c.String(flagPlayer) == "" && kind == protocol.QueryNextMatch:
		return command.Usagef("query %s: whose next match? Name a player with --%s, for example --%s P01", what, flagPlayer, flagPlayer)
	}
	q := &protocol.LeagueQuery{QueryType: kind}
	q.MessageType = protocol.TypeLeagueQuery
	if c.IsSet(flagPlayer) || c.IsSet(flagRound) {
		q.QueryParams = &protocol.QueryParams{PlayerID: c.String(flagPlayer)}
		if c.IsSet(flagRound) {
			q.QueryParams.RoundID = protocol.RoundNumber(c.Int(flagRound))
		}
	}
	told, err := askManager(p, c, q)
	if err != nil {
		return fmt.Errorf("query %s: %w", what, err)
	}
	r, ok := told.Message.(*protocol.LeagueQueryResponse)
	if !ok || r.Data == nil {
		return fmt.Errorf("query %s: the answer has no data", what)
	}
	if err := roundExists(r, c.Int(flagRound)); err != nil {
		return fmt.Errorf("query %s: %w", what, err)
	}
	if c.String(command.FlagFormat) == "json" {
		return command.PrintJSON(p.Stdout, json.RawMessage(r.Data))
	}
	text, err := answerText(r, kind, c.String(flagPlayer))
	if err != nil { // of a manager with data of its own
		return command.PrintJSON(p.Stdout, json.RawMessage(r.Data))
	}
	_, err = io.WriteString(p.Stdout, text)
	return err
}

// roundExists returns an error if an answer has no such round; 0 is every round.
func roundExists(r *protocol.LeagueQueryResponse, round int) error {
	if round == 0 {
		return nil
	}
	d, err := protocol.ReadData[protocol.ScheduleData](r)
	if err != nil || len(d.Rounds) > 0 {
		return nil
	}
	if d.TotalRounds.Value() == 0 {
		return fmt.Errorf("there is no round %d yet: the league has not started", round)
	}
	return fmt.Errorf("there is no round %d; the league has rounds 1 to %d", round, d.TotalRounds.Value())
}
