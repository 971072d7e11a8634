// Package assistants holds the command mcp, which offers the lab to assistants
// over the Model Context Protocol: tools that list, show, check, play, compare and
// explain strategies, the script API and finished reports as resources, and a
// prompt that teaches a model to write a strategy.
//
// Three bounds hold for whatever a model sends:
//
//   - A strategy is named by its name or brought along as source. No text that
//     comes in is ever a path; what becomes a file name is checked letter by
//     letter, and files are opened below roots that links do not lead out of.
//   - Every script runs in a process of its own.
//   - Leagues, players, sources, time, running experiments, reports kept and
//     the length of answers are bounded.
package assistants

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/mcptools"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire/eventlog"
)

// Commands returns the command for assistants.
func Commands(p *command.Process) []*cli.Command {
	return command.Categorize("Assistants", mcpCommand(p))
}

func mcpCommand(p *command.Process) *cli.Command {
	return command.New(p, &cli.Command{
		Name: "mcp", Usage: "serve the lab to assistants over MCP",
		Description: "Serves one assistant on stdin and stdout, or many over HTTP, by the Model Context Protocol. Its tools list,\n" +
			"show, check, play, compare and explain strategies. Every script runs in its own process. The server uses\n" +
			"only the folders --scripts, --plugins and --data-dir. docs/mcp.md says how to add it to a client.",
	}, &mcpOptions{Data: filepath.Join("runs", "mcp")}, serveLab)
}

type mcpOptions struct {
	HTTP       string        `flag:"http HOST:PORT" usage:"serve HTTP there instead of stdin and stdout"`
	Token      string        `flag:"token TOKEN" usage:"bearer token that HTTP clients must send"`
	Data       string        `flag:"data-dir DIR" usage:"folder for reports and of stored leagues"`
	AllowSave  bool          `flag:"allow-save" usage:"let assistants write scripts to --scripts"`
	Manager    command.List  `flag:"manager [NAME=]URL" usage:"league manager to query; repeatable"`
	AdminToken string        `flag:"admin-token TOKEN" usage:"admin token of the managers"`
	MaxRuns    int           `flag:"max-runs" default:"5000" want:"1.." usage:"maximum number of leagues per experiment"`
	MaxTime    time.Duration `flag:"max-time" default:"2m" want:"1s..24h" usage:"time limit per experiment"`
	AtOnce     int           `flag:"at-once" default:"2" want:"1.." usage:"experiments and checks in parallel; others wait"`
	Keep       int           `flag:"keep" default:"50" want:"1.." usage:"reports to keep; the oldest are removed"`
	Verbose    bool          `flag:"verbose" usage:"log at debug level"`
	command.Served
	command.NamedAgents
	command.ValidationLog
}

func serveLab(p *command.Process, c *cli.Context, o *mcpOptions) error {
	level := slog.LevelWarn
	if o.Verbose {
		level = slog.LevelDebug
	}
	log := p.Logger(level)
	cfg, err := labConfig(p, c, o, log)
	if err != nil {
		return err
	}
	web, err := newWeb(p, c, o)
	if err != nil {
		return err
	}
	cat, err := cfg.lab.Load(c.Context, cfg.supply) // report its errors now
	if err != nil {
		return err
	}
	if err := cat.Close(); err != nil {
		return err
	}
	valid, err := o.Open(p, eventlog.Config{Data: cfg.data, Log: log, Lazy: true})
	if err != nil {
		return err
	}
	defer valid.Close()
	offer := newTools(cfg)
	tools, answers, err := offer.tools()
	if err != nil {
		return err
	}
	version := "(devel)"
	if p.Build != nil {
		version = cmp.Or(p.Build.Main.Version, version)
	}
	server, err := mcptools.New(mcptools.Config{
		Name: "strategylab", Version: version, Instructions: instructions,
		Tools: tools, Resources: offer.resources(answers), Prompts: offer.prompts(),
		Validation: valid, Logger: log, MaxCalls: 32,
	})
	if err != nil {
		return command.Usagef("mcp: %w", err)
	}
	p.ForBatch()
	if web == nil {
		if p.Err.Is() {
			fmt.Fprintln(p.Stderr, "waiting for MCP messages on stdin; docs/mcp.md says how to add the lab to a client")
		}
		err = closing(c.Context, server, func() error { return server.ServeStdio(c.Context, p.Stdin, p.Stdout) })
	} else {
		err = web.serve(c.Context, server, func(url string) { fmt.Fprintf(p.Stderr, "the lab listens at %s\n", url) })
	}
	if command.Stopped(c.Context, err) {
		return nil // the user ends a server so
	}
	return command.Remedy(strings.Join(o.Manager, ","), err)
}

// closing serves until all requests are answered, or until ctx ends, and cancels the
// running calls.
func closing(ctx context.Context, server *mcptools.Server, serve func() error) error {
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		server.Close()
	})
	err := serve()
	if stop() {
		server.Close()
		return err
	}
	<-closed
	return err
}

func labConfig(p *command.Process, c *cli.Context, o *mcpOptions, log *slog.Logger) (config, error) {
	cfg := config{
		mcpOptions: *o, lab: p.Lab, data: p.Path(o.Data), folder: lab.Folder{Path: p.Path(p.Scripts), Name: p.Scripts}, log: log,
	}
	if p.Exe == "" {
		return cfg, errors.New("mcp: scripts cannot be isolated: the path of this program is unknown")
	}
	if o.Data == "" {
		return cfg, command.Usagef("--data-dir is empty, want a folder")
	}
	var err error
	if cfg.managers, err = managersOf(o.Manager); err != nil {
		return cfg, err
	}
	cfg.supply = p.Supply(c, command.Isolation{Isolated: command.Isolated{Isolate: true}})
	cfg.supply.Required, cfg.supply.Log = cfg.supply.Required && !cfg.AllowSave, log
	cfg.supply.Agents, err = o.Specs(p)
	return cfg, err
}

func managersOf(texts []string) ([]manager, error) {
	var all []manager
	seen := map[string]bool{}
	for _, text := range texts {
		m := manager{name: "league", url: text}
		if name, url, named := strings.Cut(text, "="); named && !strings.Contains(name, "/") {
			m.name, m.url = name, url
		}
		m.league = m.name
		switch {
		case !protocol.ValidID(m.name):
			return nil, command.Usagef("--manager: invalid league name %q, want letters, digits, '_', '.' and '-', at most 64", m.name)
		case !command.AgentURL(m.url):
			return nil, command.Usagef("--manager is %q, want a URL such as http://127.0.0.1:8000/mcp, or NAME=URL", text)
		case seen[m.name]:
			return nil, command.Usagef("--manager: two managers have a league called %q; write --manager NAME=URL", m.name)
		}
		seen[m.name] = true
		all = append(all, m)
	}
	return all, nil
}
