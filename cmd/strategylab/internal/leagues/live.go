// Package leagues holds the commands around live leagues: those that play one,
// those that steer one, those that read a recording, and conformance.
package leagues

import (
	"log/slog"
	"net"
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
	"github.com/strategylab/strategylab/host/screen"
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

// liveOptions are the flags of all live commands.
type liveOptions struct {
	Listen        string        `flag:"listen HOST:PORT" usage:"where to listen; port 0 or FIRST-LAST: a free one"`
	Data          string        `flag:"data-dir DIR" text:"none" usage:"folder for journals, to continue after a restart"`
	Validation    string        `flag:"validation strict|tolerant" text:"strict for hosts, tolerant for agents" usage:"validation of messages"`
	JoinTimeout   time.Duration `flag:"join-timeout" default:"5s" want:"positive" usage:"deadline for answering an invitation"`
	ChoiceTimeout time.Duration `flag:"choice-timeout" default:"30s" want:"positive" usage:"deadline for a choice"`
	Timeout       time.Duration `flag:"timeout" default:"10s" want:"positive" usage:"deadline for any other answer"`
	Retries       int           `flag:"retries" default:"3" usage:"retries per message"`
	RetryDelay    time.Duration `flag:"retry-delay" default:"1s" usage:"delay before the first retry, doubled for each further one"`
	command.Served
	Format   string `flag:"format text|json" want:"one" usage:"output format"`
	Audit    bool   `flag:"audit" usage:"audit the league at its end: rules and fair draws"`
	MCP      string `flag:"mcp on|off" want:"one" usage:"serve messages as MCP tools, too"`
	Envelope string `flag:"envelope league|strict" want:"one" usage:"validation of JSON-RPC requests"`
	Verbose  bool   `flag:"verbose" usage:"log at debug level"`
	recorded
	command.ValidationLog
	LogSeed string `flag:"validation-log-seed" usage:"make the validation log reproducible, for tests"`
}

// live is what the live commands have read from their flags.
type live struct {
	p       *command.Process
	opt     *liveOptions
	mode    protocol.Mode
	host    string
	ports   []int // the first free one is taken; 0 alone stands for any
	backoff game.Backoff
	server  jsonrpc.Config
	data    string
	log     *slog.Logger
	out     *eventWriter
	trouble screen.Troubles
	edits   edits
	// recorded gets the errors of strategies; nil without a recording. It is set before
	// any agent starts.
	recorded *trace.Recorder
	mcp      *mcptools.Config // nil for none
	wall     *wall.Wall       // nil for none
	invited  bool             // others know its address
}

func newLive(p *command.Process, o *liveOptions, mode protocol.Mode) (*live, error) {
	p.ForLive()
	l := &live{p: p, opt: o, mode: mode, data: p.Path(o.Data)}
	switch o.Validation {
	case "":
	case "strict":
		l.mode = protocol.Strict
	case "tolerant":
		l.mode = protocol.Tolerant
	default:
		return nil, command.Usagef("--validation is %q, want strict or tolerant", o.Validation)
	}
	l.out = &eventWriter{w: p.Stdout, json: o.Format == "json"}
	l.log = l.out.logger(p, slog.LevelWarn)
	var err error
	if l.host, l.ports, err = parseListen(o.Listen); err != nil {
		return nil, command.Usagef("--listen is %q, want HOST:PORT, for example 127.0.0.1:8000", o.Listen)
	}
	l.backoff = game.Backoff{Retries: o.Retries, First: o.RetryDelay, Most: max(game.LeagueBackoff().Most, o.RetryDelay)}
	if l.backoff.Retries < 0 || l.backoff.First < 0 {
		return nil, command.Usagef("--retries and --retry-delay cannot be negative")
	}
	callers, err := o.Callers()
	if err != nil {
		return nil, err
	}
	l.server = jsonrpc.Config{TLSCert: p.Path(o.TLSCert), TLSKey: p.Path(o.TLSKey), Callers: callers, Lenient: l.mode == protocol.Tolerant}
	if o.Verbose {
		l.log = l.out.logger(p, slog.LevelDebug)
		l.server.Logger = l.log
	}
	if o.MCP == "on" {
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
	return agent.Config{Mode: l.mode, Timeout: l.opt.Timeout, Backoff: l.backoff, Data: l.data, Now: l.p.Now, Log: l.log}
}

// playerConfig configures a player as the flags say.
func (l *live) playerConfig() player.Config {
	return player.Config{Config: l.agentConfig(), ChoiceTimeout: l.opt.ChoiceTimeout}
}

// observed is what a live command does with its messages beside handling them: it
// records them and logs how each was validated, if the flags say so.
type observed struct {
	recorder
	host.Validation
}

func (l *live) observe(c *cli.Context, draw game.Draw) (o observed, err error) {
	o.Validation.Errors = l.log
	o.Strict = l.opt.Envelope == "strict"
	path, after, err := l.opt.audited(l.p, draw)
	if err == nil {
		o.recorder, err = startRecording(l.p, c, path, after)
	}
	if err != nil {
		return o, err
	}
	l.recorded = o.rec
	if o.Log, err = l.opt.Open(l.p, eventlog.Config{Data: l.data, Log: l.log, Seed: l.opt.LogSeed}); err != nil {
		o.end(&err)
		return o, err
	}
	o.Deterministic = o.Log != nil && l.opt.LogSeed != ""
	return o, nil
}

// remark records the error of a strategy and its edits, which no message holds.
func (l *live) remark(name string, e player.Event) {
	switch {
	case l.recorded == nil:
	case e.Kind == player.Failed && e.Error != "":
		l.recorded.Remark(name, e.Match, e.Error)
	case e.Kind == player.Reloaded, e.Kind == player.Kept:
		l.recorded.Remark(name, "", screen.Version(e))
	}
}

// end closes the log and the recording, and runs the audit. It joins their errors
// to that of the command.
func (o observed) end(err *error) {
	o.Log.Close()
	o.recorder.end(err)
}
