package leagues

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/strategies/catalog"
)

const (
	flagReferees  = "referees"
	flagAllowHost = "allow-host"
	flagProbe     = "probe"
)

// noAdminToken lets every program on the host's machine start the league, as
// launchers expect that know of no token.
const noAdminToken = "none"

func hostFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: command.FlagLeagueID, Value: "league", Usage: "names the league"},
		&cli.IntFlag{Name: command.FlagLegs, Value: 1, Usage: "how often each pair meets"},
		command.SeedFlag(),
		command.DrawFlag(),
	}
}

func openFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: command.FlagPlayers, Usage: "start by itself when so many players have registered (default: wait for 'start')"},
		&cli.StringFlag{Name: command.FlagAdminToken, Usage: "what 'start' must show; none lets every program on this machine start (default: one is made and printed)"},
		&cli.StringSliceFlag{Name: flagAllowHost, Usage: "pattern of hosts outside this machine that agents may be on; repeatable"},
		&cli.StringFlag{Name: flagProbe, Value: "warn", Usage: "off, warn or require: try an agent's endpoint when it registers"},
	}
}

func leagueCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "league", Usage: "play one league over real sockets in this process, to watch it happen",
		Flags: command.Join(hostFlags(), []cli.Flag{
			&cli.StringFlag{Name: command.FlagField, Usage: "names, paths and copies such as markov-2,scripts/mine.lua,random*3 (default: everything found)"},
			&cli.IntFlag{Name: flagReferees, Value: 1, Usage: "referees"},
		}, liveFlags("127.0.0.1:0"), command.LiveCatalogFlags()),
		Action: func(c *cli.Context) error { return hostLeague(p, c, true) },
	}
}

func hostCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "host", Usage: "run a league for others: manager and referees in one process",
		Description: "Prints where agents register. The league starts by itself with --players N, or with 'strategylab start'.\n" +
			"With --field, house players take part beside those who come.",
		Flags: command.Join(hostFlags(), openFlags(), []cli.Flag{
			&cli.StringFlag{Name: command.FlagField, Usage: "house players: names, paths and copies such as markov-2,scripts/mine.lua"},
			&cli.IntFlag{Name: flagReferees, Value: 1, Usage: "referees in this process"},
		}, liveFlags("127.0.0.1:8000"), command.LiveCatalogFlags()),
		Action: func(c *cli.Context) error { return hostLeague(p, c, false) },
	}
}

func managerCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "manager", Usage: "run a league manager alone; referees and players come from elsewhere",
		Flags:  command.Join(hostFlags(), openFlags(), liveFlags("127.0.0.1:8000")),
		Action: func(c *cli.Context) error { return hostLeague(p, c, false) },
	}
}

// hostLeague runs a league: a closed one among its own field, or an open one.
func hostLeague(p *command.Process, c *cli.Context, closed bool) (err error) {
	if _, err := command.Arguments(c); err != nil {
		return err
	}
	l, err := newLive(p, c, protocol.Strict)
	if err != nil {
		return err
	}
	draw, err := command.Draw(c)
	if err != nil {
		return err
	}
	league := &host.League{Network: l.network("manager"), Server: l.server, MCP: l.mcp}
	if league.Manager, err = l.managerConfig(c, draw); err != nil {
		return err
	}
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
		conducting := l.refereeConfig(l.drawer(c, draw, key))
		conducting.Events = l.conducted
		league.Referees = append(league.Referees, conducting)
	}
	rec, err := startRecording(p, c)
	if err != nil {
		return err
	}
	defer rec.end(&err)
	if rec.rec != nil {
		league.Tap = rec.tap
	}
	valid, err := l.validation(c)
	if err != nil {
		return err
	}
	defer valid.end()
	league.Validation = valid.Validation
	league.Started = func(url string) { l.started(c, url, league, closed) }
	if err := l.refereeCount(c, closed); err != nil {
		return err
	}
	played, err := league.Play(c.Context)
	if summary := l.trouble.summary(l.mode); summary != "" {
		l.out.say("%s", summary)
	}
	if c.Context.Err() != nil {
		return fmt.Errorf("%w: %w", command.ErrStopped, context.Cause(c.Context))
	}
	if err == nil && played.Before {
		l.out.say("the league in %s is complete; another --%s or --%s begins a new one", l.data, command.FlagLeagueID, command.FlagData)
		l.out.table(played.Standings)
	}
	return command.Remedy(c, err)
}

// refereeCount checks how many referees a host is to have.
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
		LeagueID: c.String(command.FlagLeagueID), DataDir: l.data, Legs: c.Int(command.FlagLegs), Draw: draw, Mode: l.mode,
		Timeout: l.timeout, JoinTimeout: l.join, ChoiceTimeout: l.choice, Backoff: l.backoff,
		Now: l.p.Now, Log: l.log, Events: l.managed,
		AdminToken: c.String(command.FlagAdminToken), AllowHosts: c.StringSlice(flagAllowHost), Players: c.Int(command.FlagPlayers),
	}
	switch cfg.AdminToken {
	case "":
		cfg.AdminToken = newAdminToken()
	case noAdminToken:
		cfg.AdminToken = ""
	}
	if !protocol.ValidID(cfg.LeagueID) {
		return cfg, command.Usagef("--%s is %q, want letters, digits, '_', '.' and '-', at most 64, beginning with a letter or digit", command.FlagLeagueID, cfg.LeagueID)
	}
	if cfg.Legs < 1 {
		return cfg, command.Usagef("--%s is %d, want at least 1", command.FlagLegs, cfg.Legs)
	}
	if cfg.Players < 0 || cfg.Players == 1 || cfg.Players > game.MaxPlayers {
		return cfg, command.Usagef("--%s is %d, want %d to %d", command.FlagPlayers, cfg.Players, game.MinPlayers, game.MaxPlayers)
	}
	for _, pattern := range cfg.AllowHosts {
		if err := manager.CheckHostPattern(pattern); err != nil {
			return cfg, command.Usagef("--%s: %w", flagAllowHost, err)
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

// seedLeague returns the seed of a live league, and says loudly if it was
// given: then its draws can be foreseen.
func (l *live) seedLeague(c *cli.Context) (uint64, error) {
	s, err := command.Seed(l.p, c)
	if err == nil && c.IsSet(command.FlagSeed) {
		l.p.Warn("with --%s everybody who knows the seed can foresee the draws; leave it out when it matters", command.FlagSeed)
	}
	return s, err
}

// drawer returns the referees' draw. Without a seed it cannot be foreseen.
func (l *live) drawer(c *cli.Context, draw game.Draw, key uint64) func(referee.Match) (int, error) {
	if c.IsSet(command.FlagSeed) {
		return func(m referee.Match) (int, error) { return draw.Pick(game.LiveWord(key, m.League, m.ID)), nil }
	}
	return func(referee.Match) (int, error) {
		word, err := l.p.Entropy()
		return draw.Pick(word), err
	}
}

// house seats the house players of a league.
func (l *live) house(c *cli.Context, cat *catalog.Catalog, league *host.League, key uint64, closed bool) error {
	refs, err := catalog.ParseRefs(c.String(command.FlagField))
	if err != nil {
		return command.Usagef("--%s: %w", command.FlagField, err)
	}
	field, err := cat.Field(refs)
	if err != nil {
		return lab.NameError(err)
	}
	for _, w := range field.Warnings {
		l.p.Warn("%s", w)
	}
	for i, f := range field.Players {
		cfg := l.playerConfig()
		cfg.Factory, cfg.Name = f.Factory, f.Name
		cfg.Key, cfg.Coin = game.StrategyKey(key, 0, i), game.CoinKey(key, 0, i)
		cfg.Print = l.log.With("strategy", f.Name)
		league.Seats = append(league.Seats, host.Seat{Config: cfg})
	}
	if closed {
		league.Manager.Players = len(league.Seats)
	}
	switch n := len(league.Seats); {
	case closed && n < game.MinPlayers:
		return command.Usagef("a league needs %d players, and the field has %d", game.MinPlayers, n)
	case league.Manager.Players > 0 && n > league.Manager.Players:
		return command.Usagef("--%s has %d players, more than --%s %d", command.FlagField, n, command.FlagPlayers, league.Manager.Players)
	}
	return nil
}

// started tells what to do next.
func (l *live) started(c *cli.Context, url string, league *host.League, closed bool) {
	if closed {
		return
	}
	l.out.write(map[string]any{"event": "listening", "manager": url}, "the manager listens at "+url)
	l.out.say("players join with:   strategylab player --strategy NAME --manager %s", url)
	if c.Int(flagReferees) == 0 {
		l.out.say("referees join with:  strategylab referee --manager %s", url)
	}
	if n := league.Manager.Players; n > 0 {
		l.out.say("the league starts when %d players have registered", n)
		return
	}
	line := "start the league with:  strategylab start --manager " + url
	if token := league.Manager.AdminToken; token != "" {
		line += " --admin-token " + token
	}
	l.out.say("%s", line)
}

// newAdminToken makes a token that nobody can guess.
func newAdminToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return "admin-" + hex.EncodeToString(b[:])
}
