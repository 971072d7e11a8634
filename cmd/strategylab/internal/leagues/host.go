package leagues

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
)

// hostOptions are the flags of a league that has a manager.
type hostOptions struct {
	LeagueID string        `flag:"league-id ID" default:"league_2025_even_odd" want:"league" usage:"name of the league"`
	Legs     int           `flag:"legs" default:"10" want:"1.." usage:"matches of each pair"`
	Pace     time.Duration `flag:"pace" text:"none" usage:"pause after each round, to watch"`
	Web      bool          `flag:"web" usage:"serve a page to watch the league"`
}

// openOptions are the flags of a league in which others take part.
type openOptions struct {
	Players    int    `flag:"players" text:"wait for 'strategylab start'" usage:"start when this many players have registered"`
	AdminToken string `flag:"admin-token TOKEN" text:"generated, shown once on stderr" usage:"admin token; none lets local programs start the league"`
	AdminFile  string `flag:"admin-token-file FILE" text:"in --data-dir, if that is given" usage:"file of the admin token, kept over restarts"`
	MaxPlayers int    `flag:"max-players" text:"--players, or 1000" want:"2.." usage:"maximum number of players"`
	MaxRefs    int    `flag:"max-referees" text:"64" want:"1.." usage:"maximum number of referees"`
	PerAddress int    `flag:"max-per-address" text:"any number" want:"1.." usage:"maximum number of players from one other machine"`
	Stay       bool   `flag:"stay" usage:"serve page and queries after the league, until Ctrl-C"`
	Probe      string `flag:"probe off|warn|require" default:"warn" usage:"call an agent when it registers"`
}

type openHostOptions struct {
	Field    string `flag:"field STRATEGIES" usage:"house players, such as markov-2,scripts/mine.lua"`
	Referees int    `flag:"referees" default:"1" usage:"number of referees in this process"`
	Draws    string `flag:"draws verifiable|plain" want:"one" text:"verifiable; plain with --seed or --draw" usage:"commit to draws before the choices, or not"`
	Watch    bool   `flag:"watch" usage:"reload an edited script between two matches"`
	managerOptions
	command.Isolated
}

type managerOptions struct {
	hostOptions
	openOptions
	command.Seeding
	command.Drawing
	liveOptions
}

// hosting is a league of this process.
type hosting struct {
	*liveOptions
	*hostOptions
	drawing
	openOptions // unless it is closed
	field       string
	referees    int
	watch       bool
	isolated    command.Isolated
	closed      bool // only its own field plays
}

func hostLeague(p *command.Process, c *cli.Context, h *hosting) (err error) {
	l, err := newLive(p, h.liveOptions, protocol.Strict)
	if err != nil {
		return err
	}
	network := l.network("manager")
	league := &host.League{Network: network, Server: l.server, MCP: l.mcp}
	if league.Manager, err = l.managerConfig(h); err != nil {
		return err
	}
	l.houseReached(network, &league.Manager, net.InterfaceAddrs)
	admin := new(adminToken)
	if !h.closed {
		if admin, err = l.adminToken(h); err != nil {
			return err
		}
	}
	league.Manager.AdminToken = admin.token
	if h.Web {
		l.hang(league)
	}
	key, err := h.key(p)
	if err != nil {
		return err
	}
	if h.closed || h.field != "" {
		cat, err := l.house(c, h, league, key)
		if err != nil {
			return err
		}
		defer cat.Close()
	}
	for range h.referees {
		conducting, err := l.refereeConfig(&h.drawing, key)
		if err != nil {
			return err
		}
		conducting.Events = l.conducted
		league.Referees = append(league.Referees, conducting)
	}
	seen, err := l.observe(c, announcedDraw(c, &h.Drawing))
	if err != nil {
		return err
	}
	defer seen.end(&err)
	if seen.rec != nil {
		league.Tap = seen.tap
	}
	league.Validation = seen.Validation
	league.Started = func(url string, begun bool) {
		switch {
		case !h.closed:
			l.started(h.referees, url, league, admin, begun)
		case l.wall != nil && (h.Pace > 0 || c.IsSet("listen")): // else it is over at once
			l.out.say("watch at:            %s", home(url))
		}
	}
	if h.Stay {
		league.Stay = func(played *host.Played) { l.stay(c, h, played) }
	}
	if err := h.refereeCount(); err != nil {
		return err
	}
	played, err := league.Play(c.Context)
	if played != nil && league.Stay != nil { // it has summed up, and was stopped
		return nil
	}
	l.sumUp(h, cmp.Or(played, new(host.Played)))
	if c.Context.Err() != nil {
		return fmt.Errorf("%w: %w", command.ErrStopped, context.Cause(c.Context))
	}
	return command.Remedy("", err)
}

// sumUp prints how many draws were verified, what went wrong, and the table of a league that was complete before.
func (l *live) sumUp(h *hosting, played *host.Played) {
	sumUpDraws(l.out, played.Draws)
	l.edits.sumUp(l.out)
	if summary := l.trouble.Summary(l.mode, played.Standings); summary != "" {
		l.out.say("%s", summary)
	}
	if played.Before {
		l.out.say("the league in %s is complete; to start a new one, choose another --league-id or --data-dir", l.data)
		l.out.table(played.Standings)
	} else if l.wall != nil && len(played.Standings) > 0 {
		l.keepPage(h.LeagueID)
	}
}

func (l *live) stay(c *cli.Context, h *hosting, played *host.Played) {
	l.sumUp(h, played)
	l.out.say("the host stays to show its page and answer queries; Ctrl-C ends it")
	<-c.Context.Done()
}

func (h *hosting) refereeCount() error {
	least, n := 0, h.referees
	if h.closed {
		least = 1
	}
	if n < least || n > manager.DefaultMaxReferees {
		return command.Usagef("--referees is %d, want %d to %d", n, least, manager.DefaultMaxReferees)
	}
	return nil
}

func (l *live) managerConfig(h *hosting) (manager.Config, error) {
	cfg := manager.Config{
		LeagueID: h.LeagueID, DataDir: l.data, Legs: h.Legs, Pace: h.Pace, Draw: h.Draw(), Mode: l.mode,
		Timeout: h.Timeout, JoinTimeout: h.JoinTimeout, ChoiceTimeout: h.ChoiceTimeout, Backoff: l.backoff,
		Now: l.p.Now, Log: l.log, Events: l.managed,
		AllowHosts: h.AllowHost, Players: h.Players, MaxPlayers: h.MaxPlayers, MaxReferees: h.MaxRefs, MaxPerAddress: h.PerAddress,
	}
	if cfg.Players < 0 || cfg.Players == 1 || cfg.Players > game.MaxPlayers {
		return cfg, command.Usagef("--players is %d, want %d to %d", cfg.Players, game.MinPlayers, game.MaxPlayers)
	}
	if cfg.MaxPlayers > game.MaxPlayers || cfg.MaxPlayers > 0 && cfg.MaxPlayers < cfg.Players {
		return cfg, command.Usagef("--max-players is %d, want %d to %d", cfg.MaxPlayers, max(cfg.Players, game.MinPlayers), game.MaxPlayers)
	}
	if cfg.MaxReferees > 0 && cfg.MaxReferees < h.referees {
		return cfg, command.Usagef("--max-referees is %d, less than --referees %d", cfg.MaxReferees, h.referees)
	}
	if cfg.Pace < 0 {
		return cfg, command.Usagef("--pace is %v, want a duration of at least 0s", cfg.Pace)
	}
	for _, pattern := range cfg.AllowHosts {
		if err := jsonrpc.CheckHostPattern(pattern); err != nil {
			return cfg, command.Usagef("--allow-host: %w", err)
		}
	}
	if h.Probe != "" {
		probe, err := manager.ParseProbe(h.Probe)
		if err != nil {
			return cfg, command.Usagef("--probe: %w", err)
		}
		cfg.Probe = probe
	}
	return cfg, nil
}
