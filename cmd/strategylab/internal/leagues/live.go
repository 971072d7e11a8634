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
	"github.com/strategylab/strategylab/host/conformance"
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
		command.New(p, &cli.Command{
			Name: "host", Usage: "host a league for others: manager and referees in one process",
			Description: "Prints the URL at which agents register. The league starts with 'strategylab start', or with --players N\n" +
				"as soon as N players have registered. With --field, house players take part.",
		}, &openHostOptions{
			managerOptions: managerOptions{liveOptions: liveOptions{Listen: "127.0.0.1:8000"}, hostOptions: hostOptions{Web: true}},
			Isolated:       command.Isolated{Isolate: true},
		}, func(p *command.Process, c *cli.Context, o *openHostOptions) error {
			return hostLeague(p, c, &hosting{&o.liveOptions, &o.hostOptions, drawing{o.Seeding, o.Drawing, o.Draws}, o.openOptions, o.Field, o.Referees, o.Watch, o.Isolated, false})
		}),
		command.New(p, &cli.Command{Name: "manager", Usage: "run a league manager without referees"},
			&managerOptions{liveOptions: liveOptions{Listen: "127.0.0.1:8000"}, hostOptions: hostOptions{Web: true}},
			func(p *command.Process, c *cli.Context, o *managerOptions) error {
				return hostLeague(p, c, &hosting{liveOptions: &o.liveOptions, hostOptions: &o.hostOptions, openOptions: o.openOptions, drawing: drawing{o.Seeding, o.Drawing, ""}})
			}),
		command.New(p, &cli.Command{Name: "referee", Usage: "serve a league as a referee"},
			&refereeOptions{agentOptions: agentOptions{liveOptions: liveOptions{Listen: "127.0.0.1:8001-8010"}}}, conduct),
		command.New(p, &cli.Command{Name: "player", Usage: "play in a league with a strategy"}, &playerOptions{
			agentOptions: agentOptions{liveOptions: liveOptions{Listen: "127.0.0.1:8101-8200"}}, Isolated: command.Isolated{Isolate: true},
		}, play),
		command.New(p, &cli.Command{
			Name: "start", Usage: "start the league of a manager",
			Description: "Sends START_LEAGUE in the ways that managers take, the commonest first, then start_league without a message\n" +
				"and POST /start_league. If the manager refuses the sender or the league id, tries others that it knows.\n" +
				"For managers that want each round announced, use --announce-round N.",
		}, new(startOptions), startLeague),
		command.New(p, &cli.Command{
			Name: "query", ArgsUsage: "standings|schedule|players|status|next-match", Usage: "query a manager about its league",
			Description: "Everybody may ask; with the admin token, players also shows where they listen.",
		}, new(queryOptions), queryLeague, "QUERY"),
		&cli.Command{
			Name: "trace", Usage: "show, audit and replay recordings of live commands",
			Subcommands: []*cli.Command{
				command.New(p, &cli.Command{Name: "show", ArgsUsage: "FILE", Usage: "print a recording as a conversation"}, new(traceOptions), showTrace, recording),
				command.New(p, &cli.Command{Name: "audit", ArgsUsage: "FILE", Usage: "audit a recorded league: rules and fair draws"}, new(auditOptions), auditTrace, recording),
				command.New(p, &cli.Command{
					Name: "playback", ArgsUsage: "FILE", Usage: "replay a recording against our agent and compare the answers",
					Description: "Of a player's recording, shows what --strategy would have answered, or where it fails. Of a referee's\n" +
						"recording, plays the matches again.",
				}, new(playbackOptions), playBack, recording),
			},
		},
		command.New(p, &cli.Command{
			Name: "conformance", ArgsUsage: roleNames("|") + " URL", Usage: "check that a running agent follows league.v2",
			Description: "Plays the other side: to a player the manager and the referees, to a referee the manager and the players,\n" +
				"to a manager all of its agents. Start the agent before or after this command, and let it register with\n" +
				"the manager whose URL this command prints.",
		}, &conformanceOptions{Timeout: conformance.DefaultTimeout, Wait: conformance.DefaultWait, Players: conformance.DefaultPlayers}, conform, command.Rest),
		&cli.Command{
			Name: "schemas", ArgsUsage: "DIR", Usage: "write the JSON Schemas of the protocol into a folder",
			Description: "Draft 2020-12: messages (as strict agents want them), messages/tolerant, messages/request (answers that\n" +
				"players post by themselves) and dialects (the documents around a message). Files of those names are replaced.",
			Action: command.Action(p, writeSchemas, "the folder"),
		},
	)
}

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
