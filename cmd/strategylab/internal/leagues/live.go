// Package leagues holds the commands around live leagues: those that play one,
// those that steer one, those that read a recording, and conformance.
package leagues

import (
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
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
	"github.com/strategylab/strategylab/host/trace"
	"github.com/strategylab/strategylab/host/web/wall"
	"github.com/strategylab/strategylab/host/wire/eventlog"
)

// Commands returns the commands that play live leagues, and those that read
// recordings and check agents.
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
		schemasCommand(p),
	)
}

// Flags of all live commands.
const (
	flagChoiceTimeout = "choice-timeout"
	flagEnvelope      = "envelope"
	flagJoinTimeout   = "join-timeout"
	flagMCP           = "mcp"
	flagRetries       = "retries"
	flagRetryDelay    = "retry-delay"
	flagStdio         = "stdio"
	flagValidation    = "validation"
)

func liveFlags(listen string) []cli.Flag {
	return slices.Concat([]cli.Flag{
		&cli.StringFlag{Name: command.FlagListen, Value: listen, Usage: "`HOST:PORT`: where to listen; port 0 or FIRST-LAST: a free one"},
		&cli.StringFlag{Name: command.FlagData, Usage: "`DIR`: folder for journals, to continue after a restart", DefaultText: "none"},
		&cli.StringFlag{Name: flagValidation, Usage: "`strict|tolerant`: validation of messages", DefaultText: "strict for hosts, tolerant for agents"},
		&cli.DurationFlag{Name: flagJoinTimeout, Value: referee.DefaultJoinTimeout, Usage: "deadline for answering an invitation", Action: command.Positive(flagJoinTimeout)},
		&cli.DurationFlag{Name: flagChoiceTimeout, Value: referee.DefaultChoiceTimeout, Usage: "deadline for a choice", Action: command.Positive(flagChoiceTimeout)},
		&cli.DurationFlag{Name: command.FlagTimeout, Value: agent.DefaultTimeout, Usage: "deadline for any other answer", Action: command.Positive(command.FlagTimeout)},
		&cli.IntFlag{Name: flagRetries, Value: game.LeagueBackoff().Retries, Usage: "retries per message"},
		&cli.DurationFlag{Name: flagRetryDelay, Value: game.LeagueBackoff().First, Usage: "delay before the first retry, doubled for each further one"},
	}, command.CallerFlags(), command.TLSFlags(), []cli.Flag{
		command.FormatFlag("text", "json"),
		recordFlag(),
		&cli.BoolFlag{Name: flagAudit, Usage: "audit the league at its end: rules and fair draws"},
		command.Choice(flagMCP, "on", "serve messages as MCP tools, too", "on", "off"),
		command.Choice(flagEnvelope, "league", "validation of JSON-RPC requests", "league", "strict"),
		&cli.BoolFlag{Name: command.FlagVerbose, Usage: "log at debug level"},
	}, command.ValidationLogFlags(true))
}

// live is what the live commands have read from their flags.
type live struct {
	p       *command.Process
	mode    protocol.Mode
	host    string
	ports   []int // the first free one is taken; 0 alone stands for any
	join    time.Duration
	choice  time.Duration
	timeout time.Duration
	backoff game.Backoff
	server  jsonrpc.Config
	data    string
	log     *slog.Logger
	out     *eventWriter
	trouble troubles
	edits   edits
	// recorded gets the errors of strategies; nil without a recording. It is set before
	// any agent starts.
	recorded *trace.Recorder
	mcp      *mcptools.Config // nil for none
	wall     *wall.Wall       // nil for none
	invited  bool             // others know its address
}

func newLive(p *command.Process, c *cli.Context, mode protocol.Mode) (*live, error) {
	p.ForLive()
	l := &live{p: p, mode: mode, data: p.Path(c.String(command.FlagData))}
	switch v := c.String(flagValidation); v {
	case "":
	case "strict":
		l.mode = protocol.Strict
	case "tolerant":
		l.mode = protocol.Tolerant
	default:
		return nil, command.Usagef("--%s is %q, want strict or tolerant", flagValidation, v)
	}
	l.out = &eventWriter{w: p.Stdout, json: c.String(command.FlagFormat) == "json"}
	l.log = l.out.logger(p, slog.LevelWarn)
	var err error
	if l.host, l.ports, err = parseListen(c.String(command.FlagListen)); err != nil {
		return nil, command.Usagef("--%s is %q, want HOST:PORT, for example 127.0.0.1:8000", command.FlagListen, c.String(command.FlagListen))
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
	callers, err := command.Callers(c)
	if err != nil {
		return nil, err
	}
	l.server = jsonrpc.Config{TLSCert: cert, TLSKey: key, Callers: callers, Lenient: l.mode == protocol.Tolerant}
	if c.Bool(command.FlagVerbose) {
		l.log = l.out.logger(p, slog.LevelDebug)
		l.server.Logger = l.log
	}
	if c.String(flagMCP) == "on" {
		l.mcp = &mcptools.Config{Logger: l.log}
	}
	return l, nil
}

// parseListen reads HOST:PORT or HOST:FIRST-LAST.
func parseListen(text string) (listen string, ports []int, err error) {
	listen, text, err = net.SplitHostPort(text)
	if err != nil {
		return "", nil, err
	}
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	first, err := strconv.ParseUint(from, 10, 16)
	if err != nil {
		return "", nil, err
	}
	last, err := strconv.ParseUint(to, 10, 16)
	if err != nil {
		return "", nil, err
	}
	if last < first || isRange && first == 0 {
		return "", nil, strconv.ErrRange
	}
	for port := first; port <= last; port++ {
		ports = append(ports, int(port))
	}
	return listen, ports, nil
}

// anyPort reports whether --listen leaves the port to the system.
func (l *live) anyPort() bool { return l.ports[0] == 0 }

// network listens on the address of --listen for the first agent and, unless its
// port is 0, on the ports of the course for the others. An agent whose port
// another program has gets any.
func (l *live) network(first string) *host.Sockets {
	n := host.NewSockets()
	n.Addrs = func(name string) []string {
		ports := l.ports
		if name != first && !l.anyPort() {
			ports = []int{max(agent.PortOf(protocol.RoleReferee, name), agent.PortOf(protocol.RolePlayer, name)), 0}
		}
		addrs := make([]string, len(ports))
		for i, port := range ports {
			addrs[i] = net.JoinHostPort(l.host, strconv.Itoa(port))
		}
		return addrs
	}
	return n
}

// agentConfig configures what players and referees have in common.
func (l *live) agentConfig() agent.Config {
	return agent.Config{Mode: l.mode, Timeout: l.timeout, Backoff: l.backoff, Data: l.data, Now: l.p.Now, Log: l.log}
}

// playerConfig configures a player as the flags say.
func (l *live) playerConfig() player.Config {
	return player.Config{Config: l.agentConfig(), ChoiceTimeout: l.choice}
}

// observed is what a live command does with its messages beside handling them: it
// records them and logs how each was validated, if the flags say so.
type observed struct {
	recorder
	host.Validation
}

func (l *live) observe(c *cli.Context) (o observed, err error) {
	o.Validation.Errors = l.log
	o.Strict = c.String(flagEnvelope) == "strict"
	if o.recorder, err = startRecording(l.p, c); err != nil {
		return o, err
	}
	l.recorded = o.rec
	if o.Log, err = command.OpenValidationLog(l.p, c, eventlog.Config{Data: l.data, Log: l.log}); err != nil {
		o.end(&err)
		return o, err
	}
	o.Deterministic = o.Log != nil && c.String(command.FlagValidationLogSeed) != ""
	return o, nil
}

// remark records the error of a strategy and its edits, which no message holds.
func (l *live) remark(name string, e player.Event) {
	switch {
	case l.recorded == nil:
	case e.Kind == player.Failed && e.Error != "":
		l.recorded.Remark(name, e.Match, e.Error)
	case e.Kind == player.Reloaded, e.Kind == player.Kept:
		l.recorded.Remark(name, "", versionText(e))
	}
}

// end closes the log and the recording, and runs the audit. It joins their errors
// to that of the command.
func (o observed) end(err *error) {
	command.EndLog(o.Log)
	o.recorder.end(err)
}
