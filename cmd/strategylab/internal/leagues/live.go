// Package leagues holds the commands around live leagues: those that play one,
// those that steer one, those that read a recording, and conformance.
package leagues

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/mcptools"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire/eventlog"
)

// Commands are the commands that play live leagues, and those that record
// and check what agents say.
func Commands(p *command.Process) []*cli.Command {
	return command.Categorize("Leagues",
		leagueCommand(p),
		hostCommand(p),
		managerCommand(p),
		refereeCommand(p),
		playerCommand(p),
		startCommand(p),
		queryCommand(p),
		traceCommand(p),
		conformanceCommand(p),
	)
}

// Flags that the live commands have in common.
const (
	flagValidation    = "validation"
	flagJoinTimeout   = "join-timeout"
	flagChoiceTimeout = "choice-timeout"
	flagRetries       = "retries"
	flagRetryDelay    = "retry-delay"
	flagPublicURL     = "public-url"
)

func liveFlags(listen string) []cli.Flag {
	return command.Join([]cli.Flag{
		&cli.StringFlag{Name: command.FlagListen, Value: listen, Usage: "HOST:PORT to listen on; port 0 takes a free one"},
		&cli.StringFlag{Name: command.FlagData, Usage: "folder for journal and views, to go on after a restart (default: keep nothing)"},
		&cli.StringFlag{Name: flagValidation, Value: "", Usage: "strict or tolerant: how much is asked of messages"},
		&cli.DurationFlag{Name: flagJoinTimeout, Value: referee.DefaultJoinTimeout, Usage: "time to answer an invitation"},
		&cli.DurationFlag{Name: flagChoiceTimeout, Value: referee.DefaultChoiceTimeout, Usage: "time to choose"},
		&cli.DurationFlag{Name: command.FlagTimeout, Value: agent.DefaultTimeout, Usage: "time to answer everything else"},
		&cli.IntFlag{Name: flagRetries, Value: game.LeagueBackoff().Retries, Usage: "how often a message is tried again"},
		&cli.DurationFlag{Name: flagRetryDelay, Value: game.LeagueBackoff().First, Usage: "before the first retry; doubled for each that follows"},
	}, command.TLSFlags(), []cli.Flag{
		&cli.StringFlag{Name: command.FlagFormat, Value: "text", Usage: "text, or json: events as JSON lines"},
		recordFlag(), auditFlag(), mcpFlag(),
		envelopeFlag(), command.ValidationLogFlag(), command.ValidationLogSizeFlag(), command.ValidationLogSeedFlag(),
		&cli.BoolFlag{Name: command.FlagVerbose, Usage: "log what agents have to say, on stderr"},
	})
}

// live is what the live commands have read from their flags.
type live struct {
	p       *command.Process
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

func newLive(p *command.Process, c *cli.Context, mode protocol.Mode) (*live, error) {
	p.ForLive()
	l := &live{p: p, mode: mode, data: p.Path(c.String(command.FlagData)), log: p.Logger(slog.LevelWarn)}
	switch v := c.String(flagValidation); v {
	case "":
	case "strict":
		l.mode = protocol.Strict
	case "tolerant":
		l.mode = protocol.Tolerant
	default:
		return nil, command.Usagef("--%s is %q, want strict or tolerant", flagValidation, v)
	}
	format, err := command.OneOf(c, command.FlagFormat, "text", "json")
	if err != nil {
		return nil, err
	}
	l.out = &eventWriter{w: p.Stdout, json: format == "json"}
	host, port, err := net.SplitHostPort(c.String(command.FlagListen))
	if err == nil {
		l.host = host
		l.port, err = strconv.Atoi(port)
	}
	if err != nil || l.port < 0 || l.port > 65535 {
		return nil, command.Usagef("--%s is %q, want HOST:PORT, for example 127.0.0.1:8000", command.FlagListen, c.String(command.FlagListen))
	}
	if err := command.Positive(c, flagJoinTimeout, flagChoiceTimeout, command.FlagTimeout); err != nil {
		return nil, err
	}
	l.join, l.choice, l.timeout = c.Duration(flagJoinTimeout), c.Duration(flagChoiceTimeout), c.Duration(command.FlagTimeout)
	l.backoff = game.Backoff{Retries: c.Int(flagRetries), First: c.Duration(flagRetryDelay), Most: max(game.LeagueBackoff().Most, c.Duration(flagRetryDelay))}
	if l.backoff.Retries < 0 || l.backoff.First < 0 {
		return nil, command.Usagef("--%s and --%s cannot be negative", flagRetries, flagRetryDelay)
	}
	cert, key, err := command.TLSFiles(p, c)
	if err != nil {
		return nil, err
	}
	l.server = jsonrpc.Config{TLSCert: cert, TLSKey: key, AcceptObjects: l.mode == protocol.Tolerant}
	if l.mcp, err = mcpOffer(c); err != nil {
		return nil, err
	}
	if c.Bool(command.FlagVerbose) {
		l.log = p.Logger(slog.LevelDebug)
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

// refereeConfig is a referee as the flags ask for it.
func (l *live) refereeConfig(draw func(referee.Match) (int, error)) referee.Config {
	return referee.Config{
		Config:        l.agentConfig(),
		JoinTimeout:   l.join,
		ChoiceTimeout: l.choice,
		Draw:          draw,
	}
}

// agentConfig is what players and referees have in common.
func (l *live) agentConfig() agent.Config {
	return agent.Config{Mode: l.mode, Timeout: l.timeout, Backoff: l.backoff, Data: l.data, Now: l.p.Now, Log: l.log}
}

// playerConfig is a player as the flags ask for it.
func (l *live) playerConfig() player.Config {
	return player.Config{Config: l.agentConfig(), ChoiceTimeout: l.choice}
}

const flagStdio = "stdio"

func stdioFlag() cli.Flag {
	return &cli.BoolFlag{Name: flagStdio, Usage: "also take messages on stdin, one JSON document a line, and answer on stdout; events go to stderr"}
}

// stdio returns the streams on which an agent is to be served, nil without
// --stdio. Nothing else may then be written to stdout.
func (l *live) stdio(c *cli.Context) (io.Reader, io.Writer) {
	if !c.Bool(flagStdio) {
		return nil, nil
	}
	l.out.w = l.p.Stderr
	return l.p.Stdin, l.p.Stdout
}

const flagMCP = "mcp"

func mcpFlag() cli.Flag {
	return &cli.StringFlag{Name: flagMCP, Value: "on", Usage: "on or off: offer the agents' messages as tools to clients of the Model Context Protocol, on the same endpoints"}
}

// mcpOffer returns what agents offer to such clients, nil for nothing.
func mcpOffer(c *cli.Context) (*mcptools.Config, error) {
	answer, err := command.OneOf(c, flagMCP, "on", "off")
	if err != nil || answer == "off" {
		return nil, err
	}
	return new(mcptools.Config), nil
}

const flagEnvelope = "envelope"

func envelopeFlag() cli.Flag {
	return &cli.StringFlag{Name: flagEnvelope, Value: "league", Usage: "league or strict: strict wants of every request a string as id, a method, and an object as params"}
}

// validated is how a live command validates requests.
type validated struct{ host.Validation }

// end ends the log, if there is one.
func (v validated) end() { command.EndLog(v.Log) }

// validation reads from the flags how requests are validated, and opens the
// log.
func (l *live) validation(c *cli.Context) (validated, error) {
	v := validated{host.Validation{Errors: l.log}}
	envelope, err := command.OneOf(c, flagEnvelope, "league", "strict")
	if err != nil {
		return v, err
	}
	v.Strict = envelope == "strict"
	if v.Log, err = command.OpenValidationLog(l.p, c, eventlog.Config{Data: l.data, Log: l.log}); err != nil {
		return v, err
	}
	v.Deterministic = v.Log != nil && c.String(command.FlagValidationLogSeed) != ""
	return v, nil
}
