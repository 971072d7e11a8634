package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/strategies/catalog"
)

const (
	flagReferees   = "referees"
	flagPlayers    = "players"
	flagAdminToken = "admin-token"
	flagAllowHost  = "allow-host"
	flagProbe      = "probe"
)

// noAdminToken lets every program on the host's machine start the league, as
// launchers expect that know of no token.
const noAdminToken = "none"

func hostFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: flagLeagueID, Value: "league", Usage: "names the league"},
		&cli.IntFlag{Name: flagLegs, Value: 1, Usage: "how often each pair meets"},
		seedFlag(),
		&cli.StringFlag{Name: flagDraw, Value: game.FairDraw().String(), Usage: "the referees' draw: uniform:1-10 or weights:1=3,2=1"},
	}
}

func openFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: flagPlayers, Usage: "start by itself when so many players have registered (default: wait for 'start')"},
		&cli.StringFlag{Name: flagAdminToken, Usage: "what 'start' must show; none lets every program on this machine start (default: one is made and printed)"},
		&cli.StringSliceFlag{Name: flagAllowHost, Usage: "pattern of hosts outside this machine that agents may be on; repeatable"},
		&cli.StringFlag{Name: flagProbe, Value: "warn", Usage: "off, warn or require: try an agent's endpoint when it registers"},
	}
}

func leagueCommand(p *process) *cli.Command {
	return &cli.Command{
		Name: "league", Usage: "play one league over real sockets in this process, to watch it happen",
		Flags: join(hostFlags(), []cli.Flag{
			&cli.StringFlag{Name: flagField, Usage: "names, paths and copies such as markov-2,scripts/mine.lua,random*3 (default: everything found)"},
			&cli.IntFlag{Name: flagReferees, Value: 1, Usage: "referees"},
		}, liveFlags("127.0.0.1:0"), liveCatalogFlags()),
		Action: func(c *cli.Context) error { return hostLeague(p, c, true) },
	}
}

func hostCommand(p *process) *cli.Command {
	return &cli.Command{
		Name: "host", Usage: "run a league for others: manager and referees in one process",
		Description: "Prints where agents register. The league starts by itself with --players N, or with 'strategylab start'.\n" +
			"With --field, house players take part beside those who come.",
		Flags: join(hostFlags(), openFlags(), []cli.Flag{
			&cli.StringFlag{Name: flagField, Usage: "house players: names, paths and copies such as markov-2,scripts/mine.lua"},
			&cli.IntFlag{Name: flagReferees, Value: 1, Usage: "referees in this process"},
		}, liveFlags("127.0.0.1:8000"), liveCatalogFlags()),
		Action: func(c *cli.Context) error { return hostLeague(p, c, false) },
	}
}

func managerCommand(p *process) *cli.Command {
	return &cli.Command{
		Name: "manager", Usage: "run a league manager alone; referees and players come from elsewhere",
		Flags:  join(hostFlags(), openFlags(), liveFlags("127.0.0.1:8000")),
		Action: func(c *cli.Context) error { return hostLeague(p, c, false) },
	}
}

func join(lists ...[]cli.Flag) []cli.Flag {
	var all []cli.Flag
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// hostLeague runs a league: a closed one among its own field, or an open one.
func hostLeague(p *process, c *cli.Context, closed bool) (err error) {
	if _, err := arguments(c); err != nil {
		return err
	}
	l, err := newLive(p, c, protocol.Strict)
	if err != nil {
		return err
	}
	draw, err := game.ParseDraw(c.String(flagDraw))
	if err != nil {
		return usagef("--%s: %w", flagDraw, err)
	}
	league := &host.League{Network: l.network("manager"), Server: l.server, MCP: l.mcp}
	if league.Manager, err = l.managerConfig(c, draw); err != nil {
		return err
	}
	key, err := l.seedLeague(c)
	if err != nil {
		return err
	}
	if closed || c.String(flagField) != "" {
		cat, err := loadCatalog(c.Context, p, c)
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
		return fmt.Errorf("%w: %w", errStopped, context.Cause(c.Context))
	}
	if err == nil && played.Before {
		l.out.say("the league in %s is complete; another --%s or --%s begins a new one", l.data, flagLeagueID, flagData)
		l.out.table(played.Standings)
	}
	return remedy(c, err)
}

// refereeCount checks how many referees a host is to have.
func (l *live) refereeCount(c *cli.Context, closed bool) error {
	least, n := 0, c.Int(flagReferees)
	if closed {
		least = 1
	}
	if n < least || n > manager.DefaultMaxReferees {
		return usagef("--%s is %d, want %d to %d", flagReferees, n, least, manager.DefaultMaxReferees)
	}
	return nil
}

func (l *live) managerConfig(c *cli.Context, draw game.Draw) (manager.Config, error) {
	cfg := manager.Config{
		LeagueID: c.String(flagLeagueID), DataDir: l.data, Legs: c.Int(flagLegs), Draw: draw, Mode: l.mode,
		Timeout: l.timeout, JoinTimeout: l.join, ChoiceTimeout: l.choice, Backoff: l.backoff,
		Now: l.p.now, Log: l.log, Events: l.managed,
		AdminToken: c.String(flagAdminToken), AllowHosts: c.StringSlice(flagAllowHost), Players: c.Int(flagPlayers),
	}
	switch cfg.AdminToken {
	case "":
		cfg.AdminToken = newAdminToken()
	case noAdminToken:
		cfg.AdminToken = ""
	}
	if !protocol.ValidID(cfg.LeagueID) {
		return cfg, usagef("--%s is %q, want letters, digits, '_', '.' and '-', at most 64, beginning with a letter or digit", flagLeagueID, cfg.LeagueID)
	}
	if cfg.Legs < 1 {
		return cfg, usagef("--%s is %d, want at least 1", flagLegs, cfg.Legs)
	}
	if cfg.Players < 0 || cfg.Players == 1 || cfg.Players > game.MaxPlayers {
		return cfg, usagef("--%s is %d, want %d to %d", flagPlayers, cfg.Players, game.MinPlayers, game.MaxPlayers)
	}
	for _, pattern := range cfg.AllowHosts {
		if err := manager.CheckHostPattern(pattern); err != nil {
			return cfg, usagef("--%s: %w", flagAllowHost, err)
		}
	}
	if name := c.String(flagProbe); name != "" {
		probe, err := manager.ParseProbe(name)
		if err != nil {
			return cfg, usagef("--%s: %w", flagProbe, err)
		}
		cfg.Probe = probe
	}
	return cfg, nil
}

// seedLeague returns the seed of a live league, and says loudly if it was
// given: then its draws can be foreseen.
func (l *live) seedLeague(c *cli.Context) (uint64, error) {
	s, err := seed(l.p, c)
	if err == nil && c.IsSet(flagSeed) {
		l.p.warn("with --%s everybody who knows the seed can foresee the draws; leave it out when it matters", flagSeed)
	}
	return s, err
}

// drawer returns the referees' draw. Without a seed it cannot be foreseen.
func (l *live) drawer(c *cli.Context, draw game.Draw, key uint64) func(referee.Match) (int, error) {
	if c.IsSet(flagSeed) {
		return func(m referee.Match) (int, error) { return draw.Pick(game.LiveWord(key, m.League, m.ID)), nil }
	}
	return func(referee.Match) (int, error) {
		word, err := l.p.entropy()
		return draw.Pick(word), err
	}
}

// house seats the house players of a league.
func (l *live) house(c *cli.Context, cat *catalog.Catalog, league *host.League, key uint64, closed bool) error {
	refs, err := catalog.ParseRefs(c.String(flagField))
	if err != nil {
		return usagef("--%s: %w", flagField, err)
	}
	field, err := cat.Field(refs)
	if err != nil {
		return named(err)
	}
	for _, w := range field.Warnings {
		l.p.warn("%s", w)
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
		return usagef("a league needs %d players, and the field has %d", game.MinPlayers, n)
	case league.Manager.Players > 0 && n > league.Manager.Players:
		return usagef("--%s has %d players, more than --%s %d", flagField, n, flagPlayers, league.Manager.Players)
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
