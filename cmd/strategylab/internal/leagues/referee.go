package leagues

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

const (
	flagConcurrent = "concurrent"
	flagDialect    = "dialect"
	flagIdleExit   = "idle-exit"
)

// dialectAuto stands for finding out how a manager wants to be spoken to.
const dialectAuto = "auto"

func agentFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: command.FlagManager, Value: "http://127.0.0.1:8000/mcp", Usage: "URL of the league manager"},
		&cli.StringFlag{Name: command.FlagName, Usage: "display name"},
		&cli.StringFlag{Name: command.FlagID, Usage: "id to ask the manager for (default: whatever it gives)"},
		&cli.StringFlag{Name: flagDialect, Value: dialectAuto, Usage: "how the manager is spoken to: auto finds out; or " + dialectNames()},
		stdioFlag(),
		&cli.StringFlag{Name: flagPublicURL, Usage: "URL under which others reach this agent (default: where it listens)"},
	}
}

func dialectNames() string {
	var names []string
	for _, d := range dialect.Known() {
		names = append(names, d.Name)
	}
	return strings.Join(names, ", ")
}

// dialects returns the dialects in which an agent tries to register; nil leaves
// it to the agent.
func dialects(c *cli.Context) ([]*dialect.Dialect, error) {
	name := c.String(flagDialect)
	if name == dialectAuto {
		return nil, nil
	}
	d, err := dialect.Named(name)
	if err != nil {
		return nil, command.Usagef("--%s is %q, want %s, or one of %s", flagDialect, name, dialectAuto, dialectNames())
	}
	return []*dialect.Dialect{d}, nil
}

func refereeCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "referee", Usage: "serve a league as a referee",
		Flags: command.Join(agentFlags(), []cli.Flag{
			&cli.IntFlag{Name: flagConcurrent, Value: referee.DefaultConcurrent, Usage: "matches under way at once, at most"},
			command.DrawFlag(),
			&cli.DurationFlag{Name: flagIdleExit, Usage: "leave when nothing has been heard for so long after a match, for managers that never say that the league is over (default: never)"},
			command.SeedFlag(),
		}, liveFlags("127.0.0.1:0")),
		Action: func(c *cli.Context) error { return refereeLive(p, c) },
	}
}

// agentOf reads what a single agent needs to know of where it is.
func (l *live) agentOf(c *cli.Context, name string) (host.Agent, error) {
	if _, err := command.Arguments(c); err != nil {
		return host.Agent{}, err
	}
	if err := command.URLFlags(c, command.FlagManager, flagPublicURL); err != nil {
		return host.Agent{}, err
	}
	if err := command.IDFlag(c); err != nil {
		return host.Agent{}, err
	}
	stdin, stdout := l.stdio(c)
	return host.Agent{
		Stdin: stdin, Stdout: stdout, MCP: l.mcp,
		Network: l.network(name), Name: name, Server: l.server, Manager: c.String(command.FlagManager), Public: c.String(flagPublicURL),
		Listening: func(url string) {
			l.out.write(map[string]any{"event": "listening", "url": url}, "listening at "+url)
		},
	}, nil
}

// idleExit checks the flag of that name.
func idleExit(c *cli.Context) error {
	if c.Duration(flagIdleExit) < 0 {
		return command.Usagef("--%s is %v, want more than nothing", flagIdleExit, c.Duration(flagIdleExit))
	}
	return nil
}

// agentError is the error of an agent that has ended.
func (l *live) agentError(c *cli.Context, err error) error {
	if c.Context.Err() != nil {
		return nil // it is how an agent ends
	}
	return command.Remedy(c, err)
}

func refereeLive(p *command.Process, c *cli.Context) (err error) {
	l, err := newLive(p, c, protocol.Tolerant) // toward a manager it does not control
	if err != nil {
		return err
	}
	a, err := l.agentOf(c, "referee")
	if err != nil {
		return err
	}
	ways, err := dialects(c)
	if err != nil {
		return err
	}
	draw, err := command.Draw(c)
	if err != nil {
		return err
	}
	key, err := l.seedLeague(c)
	if err != nil {
		return err
	}
	if _, err := command.AtLeast(c, flagConcurrent, 1); err != nil {
		return err
	}
	if err := idleExit(c); err != nil {
		return err
	}
	rec, err := startRecording(p, c)
	if err != nil {
		return err
	}
	defer rec.end(&err)
	a.Tap = rec.tap(a.Name)
	valid, err := l.validation(c)
	if err != nil {
		return err
	}
	defer valid.end()
	a.Validation = valid.Validation
	cfg := l.refereeConfig(l.drawer(c, draw, key))
	cfg.Dialects, cfg.IdleExit = ways, c.Duration(flagIdleExit)
	cfg.Name, cfg.ID, cfg.Concurrent, cfg.Events = c.String(command.FlagName), c.String(command.FlagID), c.Int(flagConcurrent), l.refereed
	return l.agentError(c, a.Referee(c.Context, cfg))
}
