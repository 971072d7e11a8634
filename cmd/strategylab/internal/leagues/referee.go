package leagues

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

const (
	flagConcurrent = "concurrent"
	flagDialect    = "dialect"
	flagIdleExit   = "idle-exit"
	flagPublicURL  = "public-url"
)

func refereeCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "referee", Usage: "serve a league as a referee",
		Flags: slices.Concat([]cli.Flag{
			&cli.IntFlag{Name: flagConcurrent, Value: referee.DefaultConcurrent, Usage: "maximum number of matches in parallel", Action: command.AtLeast(flagConcurrent, 1)},
			command.DrawFlag(),
			drawsFlag(),
		}, agentFlags("never"), liveFlags("127.0.0.1:8001-8010")),
		Action: command.Action(p, conduct),
	}
}

func conduct(p *command.Process, c *cli.Context) (err error) {
	l, a, own, err := newAgent(p, c, protocol.RoleReferee)
	if err != nil {
		return err
	}
	key, err := l.seedLeague(c)
	if err != nil {
		return err
	}
	seen, err := l.observe(c)
	if err != nil {
		return err
	}
	defer seen.end(&err)
	a.Tap, a.Validation = seen.tap(a.Name), seen.Validation
	cfg, err := l.refereeConfig(c, key)
	if err != nil {
		return err
	}
	cfg.Config, cfg.Concurrent, cfg.Events, cfg.Progress, cfg.MatchFiles = own, c.Int(flagConcurrent), l.refereed, true, true
	return agentError(c, a.Referee(c.Context, cfg))
}

// dialectAuto leaves it to the agent to find the dialect of the manager.
const dialectAuto = "auto"

// agentFlags are the flags of an agent that runs alone. idle describes the default
// of --idle-exit.
func agentFlags(idle string) []cli.Flag {
	return []cli.Flag{
		command.ManagerFlag(),
		&cli.StringFlag{Name: command.FlagName, Usage: "`NAME`: display name"},
		&cli.StringFlag{Name: command.FlagID, Usage: "`ID`: agent id to request", DefaultText: "that of the port", Action: command.AgentID(command.FlagID)},
		&cli.StringFlag{Name: flagDialect, Value: dialectAuto, Usage: "`" + strings.ReplaceAll(dialectNames(), ", ", "|") + "`: dialect of the manager"},
		&cli.BoolFlag{Name: flagStdio, Usage: "serve stdin and stdout, too; events go to stderr"},
		&cli.StringFlag{Name: flagPublicURL, Usage: "`URL`: address at which others reach this agent", DefaultText: "where it listens", Action: command.ValidURL(flagPublicURL)},
		&cli.DurationFlag{Name: flagIdleExit, Usage: "exit after this long without messages following a match", DefaultText: idle},
		command.SeedFlag(),
	}
}

func dialectNames() string {
	names := []string{dialectAuto}
	for _, d := range dialect.Known() {
		names = append(names, d.Name)
	}
	return strings.Join(names, ", ")
}

// newAgent reads the flags of an agent that runs alone. It is tolerant toward the
// manager, which its user does not control.
func newAgent(p *command.Process, c *cli.Context, role protocol.Role) (l *live, a host.Agent, own agent.Config, err error) {
	if l, err = newLive(p, c, protocol.Tolerant); err != nil {
		return l, a, own, err
	}
	own = l.agentConfig()
	own.Name, own.ID, own.IdleExit = c.String(command.FlagName), c.String(command.FlagID), c.Duration(flagIdleExit)
	own.FixedAnswers = c.String(flagDialect) != dialectAuto || c.String(flagEnvelope) == "strict"
	if name := c.String(flagDialect); name != dialectAuto {
		d, err := dialect.Named(name)
		if err != nil {
			return l, a, own, command.Usagef("--%s is %q, want one of %s", flagDialect, name, dialectNames())
		}
		own.Dialects = []*dialect.Dialect{d}
	}
	if own.IdleExit < 0 {
		return l, a, own, command.Usagef("--%s is %v, want a positive duration", flagIdleExit, own.IdleExit)
	}
	if !c.IsSet(command.FlagListen) {
		if port := agent.PortOf(role, own.ID); port != 0 {
			l.ports = append([]int{port}, l.ports...)
		}
		l.ports = append(l.ports, 0) // where all of them are taken
	}
	name := string(role)
	a = host.Agent{
		MCP: l.mcp, Network: l.network(name), Name: name, Server: l.server, Conventional: !l.anyPort(), Host: l.host,
		Manager: c.String(command.FlagManager), Public: c.String(flagPublicURL),
		Listening: func(url string) {
			l.out.write(map[string]any{"event": "listening", "url": url}, "listening at "+url)
		},
		Expected: l.expected,
	}
	if c.Bool(flagStdio) { // then nothing else may write to stdout
		a.Stdin, a.Stdout, l.out.w = p.Stdin, p.Stdout, p.Stderr
	}
	return l, a, own, nil
}

// expected says what came of listening at the port of the agent's id.
func (l *live) expected(id, url string, err error) {
	if err == nil {
		l.out.write(map[string]any{"event": "listening_too", "agent": id, "url": url}, "listening at "+url+" as well, where programs that go by the id expect "+id)
		return
	}
	text := fmt.Sprintf("cannot listen at %s, where programs that go by the id expect %s (%v); if no match comes, free that port, or use --%s and --%s", url, id, err, command.FlagListen, command.FlagID)
	l.out.write(map[string]any{"event": "port_taken", "agent": id, "url": url, "error": err.Error()}, text)
}

// agentError returns the error of an agent that has ended; nil after an interrupt.
func agentError(c *cli.Context, err error) error {
	if c.Context.Err() != nil {
		return nil
	}
	return command.Remedy(c, err)
}
