package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/mcptools"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

// Flags that the live commands have in common.
const (
	flagListen        = "listen"
	flagData          = "data-dir"
	flagLeagueID      = "league-id"
	flagValidation    = "validation"
	flagJoinTimeout   = "join-timeout"
	flagChoiceTimeout = "choice-timeout"
	flagTimeout       = "timeout"
	flagRetries       = "retries"
	flagRetryDelay    = "retry-delay"
	flagManager       = "manager"
	flagPublicURL     = "public-url"
	flagName          = "name"
	flagTLSCert       = "tls-cert"
	flagTLSKey        = "tls-key"
	flagVerbose       = "verbose"
)

func liveFlags(listen string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: flagListen, Value: listen, Usage: "HOST:PORT to listen on; port 0 takes a free one"},
		&cli.StringFlag{Name: flagData, Usage: "folder for journal and views, to go on after a restart (default: keep nothing)"},
		&cli.StringFlag{Name: flagValidation, Value: "", Usage: "strict or tolerant: how much is asked of messages"},
		&cli.DurationFlag{Name: flagJoinTimeout, Value: referee.DefaultJoinTimeout, Usage: "time to answer an invitation"},
		&cli.DurationFlag{Name: flagChoiceTimeout, Value: referee.DefaultChoiceTimeout, Usage: "time to choose"},
		&cli.DurationFlag{Name: flagTimeout, Value: agent.DefaultTimeout, Usage: "time to answer everything else"},
		&cli.IntFlag{Name: flagRetries, Value: game.LeagueBackoff().Retries, Usage: "how often a message is tried again"},
		&cli.DurationFlag{Name: flagRetryDelay, Value: game.LeagueBackoff().First, Usage: "before the first retry; doubled for each that follows"},
		&cli.StringFlag{Name: flagTLSCert, Usage: "PEM file: serve HTTPS"},
		&cli.StringFlag{Name: flagTLSKey, Usage: "PEM file of the certificate's key"},
		&cli.StringFlag{Name: flagFormat, Value: "text", Usage: "text, or json: events as JSON lines"},
		recordFlag(), auditFlag(), mcpFlag(),
		envelopeFlag(), validationLogFlag(), validationLogSizeFlag(), validationLogSeedFlag(),
		&cli.BoolFlag{Name: flagVerbose, Usage: "log what agents have to say, on stderr"},
	}
}

// live is what the live commands have read from their flags.
type live struct {
	p       *process
	mode    protocol.Mode
	host    string
	port    int
	join    time.Duration
	choice  time.Duration
	timeout time.Duration
	backoff game.Backoff
	server  jsonrpc.Config
	data    string
	log     *slog.Logger
	out     *eventWriter
	trouble troubles
	mcp     *mcptools.Config // nil for none
}

func newLive(p *process, c *cli.Context, mode protocol.Mode) (*live, error) {
	p.forLive()
	l := &live{p: p, mode: mode, data: p.path(c.String(flagData)), log: p.logger(slog.LevelWarn)}
	switch v := c.String(flagValidation); v {
	case "":
	case "strict":
		l.mode = protocol.Strict
	case "tolerant":
		l.mode = protocol.Tolerant
	default:
		return nil, usagef("--%s is %q, want strict or tolerant", flagValidation, v)
	}
	format, err := oneOf(c, flagFormat, "text", "json")
	if err != nil {
		return nil, err
	}
	l.out = &eventWriter{w: p.stdout, json: format == "json"}
	host, port, err := net.SplitHostPort(c.String(flagListen))
	if err == nil {
		l.host = host
		l.port, err = strconv.Atoi(port)
	}
	if err != nil || l.port < 0 || l.port > 65535 {
		return nil, usagef("--%s is %q, want HOST:PORT, for example 127.0.0.1:8000", flagListen, c.String(flagListen))
	}
	for flag, d := range map[string]*time.Duration{flagJoinTimeout: &l.join, flagChoiceTimeout: &l.choice, flagTimeout: &l.timeout} {
		if *d = c.Duration(flag); *d <= 0 {
			return nil, usagef("--%s is %v, want more than nothing", flag, *d)
		}
	}
	l.backoff = game.Backoff{Retries: c.Int(flagRetries), First: c.Duration(flagRetryDelay), Most: max(game.LeagueBackoff().Most, c.Duration(flagRetryDelay))}
	if l.backoff.Retries < 0 || l.backoff.First < 0 {
		return nil, usagef("--%s and --%s cannot be negative", flagRetries, flagRetryDelay)
	}
	if (c.String(flagTLSCert) == "") != (c.String(flagTLSKey) == "") {
		return nil, usagef("--%s and --%s go together", flagTLSCert, flagTLSKey)
	}
	l.server = jsonrpc.Config{TLSCert: p.path(c.String(flagTLSCert)), TLSKey: p.path(c.String(flagTLSKey)), AcceptObjects: l.mode == protocol.Tolerant}
	if l.mcp, err = mcpOffer(c); err != nil {
		return nil, err
	}
	if c.Bool(flagVerbose) {
		l.log = p.logger(slog.LevelDebug)
		l.server.Logger = l.log
	}
	if l.mcp != nil {
		l.mcp.Logger = l.log
	}
	return l, nil
}

// network listens on the address of --listen for the named agent, on the ports
// that league.v2 gives to the others, and on free ones where that was asked
// for.
func (l *live) network(first string) *host.Sockets {
	n := host.NewSockets()
	n.Addr = func(name string) string {
		port := l.port
		if port != 0 && name != first {
			port = standardPort(name)
		}
		return net.JoinHostPort(l.host, strconv.Itoa(port))
	}
	return n
}

// standardPort is the default port of league.v2: referees 8001 to 8010,
// players 8101 to 8200; beyond that a free one.
func standardPort(name string) int {
	var n int
	if _, err := fmt.Sscanf(name, "REF%d", &n); err == nil && n >= 1 && n <= 10 {
		return 8000 + n
	}
	if _, err := fmt.Sscanf(name, "P%d", &n); err == nil && n >= 1 && n <= 100 {
		return 8100 + n
	}
	return 0
}

// eventWriter prints what happens, a line each. It is safe for concurrent use.
type eventWriter struct {
	mu   sync.Mutex
	w    io.Writer
	json bool
}

// write prints an event: as JSON, or as text if there is any.
func (e *eventWriter) write(v any, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.json {
		// A sink that cannot be written to is noticed at the end.
		_ = json.NewEncoder(e.w).Encode(v)
		return
	}
	if text != "" {
		fmt.Fprintln(e.w, text)
	}
}

// say prints a line that is for people only.
func (e *eventWriter) say(format string, args ...any) {
	if e.json {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	fmt.Fprintf(e.w, format+"\n", args...)
}

// managed prints what the manager tells.
func (l *live) managed(e manager.Event) {
	text := ""
	l.trouble.managed(e)
	switch e.Kind {
	case manager.MessageRefused:
		text = refusedText(e)
	case manager.AgentRegistered:
		text = fmt.Sprintf("%-5s %s registered", e.Agent, e.Name) + again(e.Again) + manner(e.Dialect)
	case manager.AgentState:
		if e.State == manager.LifeSuspended {
			text = fmt.Sprintf("%-5s %s does not answer; it is tried again", e.Agent, e.Name)
		}
	case manager.LeagueStarted:
		text = fmt.Sprintf("the league begins: %d rounds", e.Total)
	case manager.MatchesReassigned:
		text = fmt.Sprintf("round %d: %v go to another referee", e.Round, e.Matches)
	case manager.MatchReported:
		text = matchLine(*e.Match)
	case manager.RoundCompleted:
		text = fmt.Sprintf("round %d of %d is over", e.Round, e.Total)
	}
	l.out.write(e, text)
	if e.Kind == manager.LeagueCompleted {
		l.out.table(e.Standings)
	}
}

func again(again bool) string {
	if again {
		return " again"
	}
	return ""
}

func matchLine(m manager.Match) string {
	var sides [2]string
	for i, id := range m.Players {
		choice := m.Choices[i].String()
		if m.Results[i] == game.TechnicalLoss {
			choice = "technical loss"
		}
		sides[i] = fmt.Sprintf("%s %-4s", id, choice)
	}
	drawn := "no draw"
	if m.Drawn {
		drawn = fmt.Sprintf("drawn %d", m.Number)
	}
	return fmt.Sprintf("%-7s %s  %s  %-8s  %d:%d", m.ID, sides[0], sides[1], drawn, m.Points[0], m.Points[1])
}

// table prints the final standings.
func (e *eventWriter) table(standings []manager.Standing) {
	if e.json {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	fmt.Fprintln(e.w)
	tw := tabwriter.NewWriter(e.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "place\tplayer\tname\tplayed\twon\tdrawn\tlost\ttechnical\tpoints\t")
	for _, s := range standings {
		fmt.Fprintf(tw, "%d\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t\n",
			s.Rank, s.PlayerID, s.DisplayName, s.Played, s.Wins, s.Draws, s.Losses, s.TechnicalLosses, s.Points)
	}
	_ = tw.Flush() // a sink that cannot be written to is noticed at the end
}

// refereeConfig is a referee as the flags ask for it.
func (l *live) refereeConfig(draw func(referee.Match) (int, error)) referee.Config {
	return referee.Config{
		Config:        agent.Config{Mode: l.mode, Timeout: l.timeout, Backoff: l.backoff, Data: l.data, Now: l.p.now, Log: l.log},
		JoinTimeout:   l.join,
		ChoiceTimeout: l.choice,
		Draw:          draw,
	}
}

// playerConfig is a player as the flags ask for it.
func (l *live) playerConfig() player.Config {
	return player.Config{
		Config:        agent.Config{Mode: l.mode, Timeout: l.timeout, Backoff: l.backoff, Data: l.data, Now: l.p.now, Log: l.log},
		ChoiceTimeout: l.choice,
	}
}
