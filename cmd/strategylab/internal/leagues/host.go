package leagues

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
)

const (
	flagReferees   = "referees"
	flagPace       = "pace"
	flagPerAddress = "max-per-address"
	flagMaxPlayers = "max-players"
	flagMaxRefs    = "max-referees"
	flagProbe      = "probe"
	flagStay       = "stay"
	flagWeb        = "web"
)

func hostFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: command.FlagLeagueID, Value: manager.DefaultLeagueID, Usage: "`ID`: name of the league", Action: command.ValidID(command.FlagLeagueID)},
		&cli.IntFlag{Name: command.FlagLegs, Value: game.DefaultLegs, Usage: "matches of each pair", Action: command.AtLeast(command.FlagLegs, 1)},
		&cli.DurationFlag{Name: flagPace, Usage: "pause after each round, to watch", DefaultText: "none"},
		command.SeedFlag(),
		command.DrawFlag(),
		&cli.BoolFlag{Name: flagWeb, Value: true, Usage: "serve a page to watch the league"},
	}
}

func openFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: command.FlagPlayers, Usage: "start when this many players have registered", DefaultText: "wait for 'strategylab start'"},
		&cli.StringFlag{Name: command.FlagAdminToken, Usage: "`TOKEN`: admin token; none lets local programs start the league", DefaultText: "generated, shown once on stderr"},
		&cli.StringFlag{Name: command.FlagAdminFile, Usage: "`FILE`: file of the admin token, kept over restarts", DefaultText: "in --data-dir, if that is given"},
		&cli.IntFlag{Name: flagMaxPlayers, Usage: "maximum number of players", DefaultText: fmt.Sprintf("--players, or %d", game.MaxPlayers), Action: command.AtLeast(flagMaxPlayers, game.MinPlayers)},
		&cli.IntFlag{Name: flagMaxRefs, Usage: "maximum number of referees", DefaultText: strconv.Itoa(manager.DefaultMaxReferees), Action: command.AtLeast(flagMaxRefs, 1)},
		&cli.IntFlag{Name: flagPerAddress, Usage: "maximum number of players from one other machine", DefaultText: "any number", Action: command.AtLeast(flagPerAddress, 1)},
		&cli.BoolFlag{Name: flagStay, Usage: "serve page and queries after the league, until Ctrl-C"},
		&cli.StringFlag{Name: flagProbe, Value: "warn", Usage: "`off|warn|require`: call an agent when it registers"},
	}
}

func hostCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "host", Usage: "host a league for others: manager and referees in one process",
		Description: "Prints the URL at which agents register. The league starts with 'strategylab start', or with --players N\n" +
			"as soon as N players have registered. With --field, house players take part.",
		Flags: slices.Concat(hostFlags(), openFlags(), []cli.Flag{
			&cli.StringFlag{Name: command.FlagField, Usage: "`STRATEGIES`: house players, such as markov-2,scripts/mine.lua"},
			&cli.IntFlag{Name: flagReferees, Value: 1, Usage: "number of referees in this process"},
			drawsFlag(),
			watchFlag(),
		}, liveFlags("127.0.0.1:8000"), []cli.Flag{command.IsolateFlag(true)}),
		Action: command.Action(p, hostOpen),
	}
}

func managerCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "manager", Usage: "run a league manager without referees",
		Flags:  slices.Concat(hostFlags(), openFlags(), liveFlags("127.0.0.1:8000")),
		Action: command.Action(p, hostOpen),
	}
}

func hostOpen(p *command.Process, c *cli.Context) error { return hostLeague(p, c, false) }

// hostLeague runs a league: a closed one with its own field, or an open one.
func hostLeague(p *command.Process, c *cli.Context, closed bool) (err error) {
	l, err := newLive(p, c, protocol.Strict)
	if err != nil {
		return err
	}
	draw := command.Draw(c)
	network := l.network("manager")
	league := &host.League{Network: network, Server: l.server, MCP: l.mcp}
	if league.Manager, err = l.managerConfig(c, draw); err != nil {
		return err
	}
	l.houseReached(network, &league.Manager, net.InterfaceAddrs)
	admin := new(adminToken)
	if !closed {
		if admin, err = l.adminToken(c); err != nil {
			return err
		}
	}
	league.Manager.AdminToken = admin.token
	l.hang(c, league)
	key, err := l.seedLeague(c)
	if err != nil {
		return err
	}
	if closed || c.String(command.FlagField) != "" {
		cat, err := command.LoadCatalog(c.Context, p, c)
		if err != nil {
			return err
		}
		defer cat.Close()
		if err := l.house(c, cat, league, key, closed); err != nil {
			return err
		}
	}
	for range c.Int(flagReferees) {
		conducting, err := l.refereeConfig(c, key)
		if err != nil {
			return err
		}
		conducting.Events = l.conducted
		league.Referees = append(league.Referees, conducting)
	}
	seen, err := l.observe(c)
	if err != nil {
		return err
	}
	defer seen.end(&err)
	if seen.rec != nil {
		league.Tap = seen.tap
	}
	league.Validation = seen.Validation
	league.Started = func(url string, begun bool) {
		if closed {
			l.watch(c, url)
		} else {
			l.started(c, url, league, admin, begun)
		}
	}
	if c.Bool(flagStay) {
		league.Stay = func(played *host.Played) { l.stay(c, played) }
	}
	if err := l.refereeCount(c, closed); err != nil {
		return err
	}
	played, err := league.Play(c.Context)
	switch {
	case played != nil && league.Stay != nil: // it has summed up, and was stopped
		return nil
	case played != nil:
		l.sumUp(c, played)
	default:
		l.sumUp(c, new(host.Played))
	}
	if c.Context.Err() != nil {
		return fmt.Errorf("%w: %w", command.ErrStopped, context.Cause(c.Context))
	}
	return command.Remedy(c, err)
}

// sumUp prints how many draws were verified, what went wrong, and the table of a league that was complete before.
func (l *live) sumUp(c *cli.Context, played *host.Played) {
	sumUpDraws(l.out, played.Draws)
	l.edits.sumUp(l.out)
	if summary := l.trouble.summary(l.mode, played.Standings); summary != "" {
		l.out.say("%s", summary)
	}
	if played.Before {
		l.out.say("the league in %s is complete; to start a new one, choose another --%s or --%s", l.data, command.FlagLeagueID, command.FlagData)
		l.out.table(played.Standings)
	} else if l.wall != nil && len(played.Standings) > 0 {
		l.keepPage(c.String(command.FlagLeagueID))
	}
}

// stay sums up and waits for the end of the command.
func (l *live) stay(c *cli.Context, played *host.Played) {
	l.sumUp(c, played)
	l.out.say("the host stays to show its page and answer queries; Ctrl-C ends it")
	<-c.Context.Done()
}

// refereeCount checks --referees.
func (l *live) refereeCount(c *cli.Context, closed bool) error {
	least, n := 0, c.Int(flagReferees)
	if closed {
		least = 1
	}
	if n < least || n > manager.DefaultMaxReferees {
		return command.Usagef("--%s is %d, want %d to %d", flagReferees, n, least, manager.DefaultMaxReferees)
	}
	return nil
}

func (l *live) managerConfig(c *cli.Context, draw game.Draw) (manager.Config, error) {
	cfg := manager.Config{
		LeagueID: c.String(command.FlagLeagueID), DataDir: l.data, Legs: c.Int(command.FlagLegs), Pace: c.Duration(flagPace), Draw: draw, Mode: l.mode,
		Timeout: l.timeout, JoinTimeout: l.join, ChoiceTimeout: l.choice, Backoff: l.backoff,
		Now: l.p.Now, Log: l.log, Events: l.managed,
		AllowHosts: c.StringSlice(command.FlagAllowHost), Players: c.Int(command.FlagPlayers), MaxPlayers: c.Int(flagMaxPlayers), MaxReferees: c.Int(flagMaxRefs), MaxPerAddress: c.Int(flagPerAddress),
	}
	if cfg.Players < 0 || cfg.Players == 1 || cfg.Players > game.MaxPlayers {
		return cfg, command.Usagef("--%s is %d, want %d to %d", command.FlagPlayers, cfg.Players, game.MinPlayers, game.MaxPlayers)
	}
	if cfg.MaxPlayers > game.MaxPlayers || cfg.MaxPlayers > 0 && cfg.MaxPlayers < cfg.Players {
		return cfg, command.Usagef("--%s is %d, want %d to %d", flagMaxPlayers, cfg.MaxPlayers, max(cfg.Players, game.MinPlayers), game.MaxPlayers)
	}
	if own := c.Int(flagReferees); cfg.MaxReferees > 0 && cfg.MaxReferees < own {
		return cfg, command.Usagef("--%s is %d, less than --%s %d", flagMaxRefs, cfg.MaxReferees, flagReferees, own)
	}
	if cfg.Pace < 0 {
		return cfg, command.Usagef("--%s is %v, want a duration of at least 0s", flagPace, cfg.Pace)
	}
	for _, pattern := range cfg.AllowHosts {
		if err := manager.CheckHostPattern(pattern); err != nil {
			return cfg, command.Usagef("--%s: %w", command.FlagAllowHost, err)
		}
	}
	if name := c.String(flagProbe); name != "" {
		probe, err := manager.ParseProbe(name)
		if err != nil {
			return cfg, command.Usagef("--%s: %w", flagProbe, err)
		}
		cfg.Probe = probe
	}
	return cfg, nil
}
