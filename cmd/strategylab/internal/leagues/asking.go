package leagues

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/screen"
)

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

// paceCommands are the commands by which an organiser pauses a league and sets its pace.
func paceCommands(p *command.Process) []*cli.Command {
	const kept = "The manager keeps it over restarts."
	return []*cli.Command{
		command.New(p, &cli.Command{
			Name: "pause", Usage: "pause a league after its current round",
			Description: "No round begins then, and no deadline runs; one that has begun is played to its end. " + kept,
		}, new(asking), pausing("pause", true)),
		command.New(p, &cli.Command{Name: "resume", Usage: "resume a paused league"}, new(asking), pausing("resume", false)),
		command.New(p, &cli.Command{
			Name: "pace", ArgsUsage: "DURATION", Usage: "set the pause after each round of a league",
			Description: "DURATION is such as 2s, or 0s for no pause. It holds instead of --pace from the current pause on. " + kept,
		}, new(asking), setPace, "DURATION"),
	}
}

// pausing returns the action that pauses a league, or lets it go on.
func pausing(name string, paused bool) func(*command.Process, *cli.Context, *asking) error {
	return func(p *command.Process, c *cli.Context, a *asking) error {
		return a.putPace(p, c, name, &protocol.Pace{Paused: protocol.Some(paused)})
	}
}

func setPace(p *command.Process, c *cli.Context, a *asking) error {
	text := c.Args().First()
	pace, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return command.Usagef("league pace: %q is not a duration, such as 2s or 500ms", text)
	case pace < 0 || pace > league.MaxPace || pace%time.Millisecond != 0:
		return command.Usagef("league pace: %v, want whole milliseconds from 0s to %v", pace, league.MaxPace)
	}
	return a.putPace(p, c, "pace", &protocol.Pace{PaceMS: protocol.Some(int(pace.Milliseconds()))})
}

// putPace sends SET_PACE and prints the pace that the league has now.
func (a *asking) putPace(p *command.Process, c *cli.Context, name string, m *protocol.Pace) error {
	m.MessageType = protocol.TypeSetPace
	told, err := a.ask(p, c, m)
	if err != nil {
		return fmt.Errorf("league %s: %w", name, err)
	}
	if now, ok := told.Message.(*protocol.Pace); ok {
		m = now
	}
	text := "the league is not paused"
	if m.Paused.Value() {
		text = "the league is paused: no round begins before 'strategylab league resume', and one that has begun is played to its end"
	}
	_, err = fmt.Fprintf(p.Stdout, "%s; pause after each round: %v\n", text, time.Duration(m.PaceMS.Value())*time.Millisecond)
	return err
}

// organizing is a command by which the organiser of a league changes the status of a
// player.
type organizing struct {
	name, usage string
	status      league.Life
	follows     string // what follows for the player
}

var organizings = []organizing{
	{"withdraw", "take a player out for good; before the start, remove its registration", league.Withdrawn,
		"withdrawn: it loses its remaining matches, and nobody waits for it; before the start its place is free again"},
	{"suspend", "take a player out of a running league for a while", league.Suspended,
		"suspended: it loses its matches, and nobody waits for it, until it is readmitted"},
	{"readmit", "let a player back in that is suspended or lost its token", league.Active,
		"readmitted: it plays, and when it registers again it needs no token and gets a new one"},
}

func statusCommands(p *command.Process) []*cli.Command {
	var all []*cli.Command
	for _, o := range organizings {
		all = append(all, command.New(p, &cli.Command{
			Name: o.name, ArgsUsage: "PLAYER", Usage: o.usage,
			Description: "Tells the manager, which keeps it over restarts. PLAYER is an id such as P03; strategylab query players lists them.",
		}, new(asking), o.set, "PLAYER"))
	}
	return all
}

func (o organizing) set(p *command.Process, c *cli.Context, a *asking) error {
	player := c.Args().First()
	if !protocol.ValidID(player) {
		return command.Usagef("league %s: %q cannot be the id of a player, such as P03", o.name, player)
	}
	m := &protocol.PlayerStatus{PlayerID: player, Status: string(o.status)}
	m.MessageType = protocol.TypeSetPlayerStatus
	told, err := a.ask(p, c, m)
	if err != nil {
		return fmt.Errorf("%s %s: %w", o.name, player, err)
	}
	who := player
	if status, ok := told.Message.(*protocol.PlayerStatus); ok {
		who = strings.TrimSpace(player + " " + status.DisplayName)
	}
	_, err = fmt.Fprintf(p.Stdout, "%s is %s\n", who, o.follows)
	return err
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
