package leagues

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/screen"
)

// queries maps arguments to query types.
var queries = map[string]string{
	"standings": protocol.QueryStandings, "schedule": protocol.QuerySchedule, "players": protocol.QueryPlayers,
	"status": protocol.QueryStatus, "next-match": protocol.QueryNextMatch,
}

// asking says which manager is asked, as whom.
type asking struct {
	command.Managed
	AdminToken string        `flag:"admin-token TOKEN" usage:"admin token that the host printed"`
	AdminFile  string        `flag:"admin-token-file FILE" usage:"file that holds the admin token"`
	LeagueID   string        `flag:"league-id ID" default:"league_2025_even_odd" usage:"name of the league"`
	Timeout    time.Duration `flag:"timeout" default:"10s" want:"positive" usage:"deadline for the answer"`
	recorded
}

func queryCommand(p *command.Process) *cli.Command {
	return command.New(p, &cli.Command{
		Name: "query", ArgsUsage: "standings|schedule|players|status|next-match", Usage: "query a manager about its league",
		Description: "Everybody may ask; with the admin token, players also shows where they listen.",
	}, new(queryOptions), queryLeague, "QUERY")
}

type queryOptions struct {
	asking
	Player string `flag:"player ID" usage:"the player, for next-match"`
	Round  int    `flag:"round" text:"all" want:"1.." usage:"round number, for schedule"`
	Format string `flag:"format text|json" want:"one" usage:"output format"`
}

// ask sends one message as the launcher and returns how the manager has taken it.
func (a *asking) ask(p *command.Process, c *cli.Context, m protocol.Message) (_ *host.Reply, err error) {
	token := a.AdminToken
	if a.AdminFile != "" {
		if token, err = readToken(p.Path(a.AdminFile)); err != nil {
			return nil, err
		}
	}
	rec, err := startRecording(p, c, a.Record, func(*error) {})
	if err != nil {
		return nil, err
	}
	defer rec.end(&err)
	told, err := host.Ask{
		Manager: a.Manager, Token: token, League: a.LeagueID, Guessed: !c.IsSet("league-id"), Timeout: a.Timeout, Tap: rec.tap("launcher"),
	}.Send(c.Context, p.Now(), m)
	return told, command.Remedy(a.Manager, err)
}

func queryLeague(p *command.Process, c *cli.Context, o *queryOptions) error {
	what := c.Args().First()
	kind, known := queries[what]
	switch {
	case !known:
		return command.Usagef("query: unknown query %q, want standings, schedule, players, status or next-match", what)
	case o.Round > 0 && kind != protocol.QuerySchedule:
		return command.Usagef("query %s: --round is for schedule only", what)
	case o.Player != "" && kind != protocol.QueryNextMatch:
		return command.Usagef("query %s: --player is for next-match only", what)
	case o.Player == "" && kind == protocol.QueryNextMatch:
		return command.Usagef("query %s: whose next match? Name a player with --player, for example --player P01", what)
	}
	q := &protocol.LeagueQuery{QueryType: kind}
	q.MessageType = protocol.TypeLeagueQuery
	if o.Player != "" || o.Round > 0 {
		q.QueryParams = &protocol.QueryParams{PlayerID: o.Player}
		if o.Round > 0 {
			q.QueryParams.RoundID = protocol.RoundNumber(o.Round)
		}
	}
	told, err := o.ask(p, c, q)
	if err != nil {
		return fmt.Errorf("query %s: %w", what, err)
	}
	r, ok := told.Message.(*protocol.LeagueQueryResponse)
	if !ok || r.Data == nil {
		return fmt.Errorf("query %s: the answer has no data", what)
	}
	if err := roundExists(r, o.Round); err != nil {
		return fmt.Errorf("query %s: %w", what, err)
	}
	if o.Format == "json" {
		return command.PrintJSON(p.Stdout, json.RawMessage(r.Data))
	}
	text, err := screen.Answer(r, kind, o.Player)
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
