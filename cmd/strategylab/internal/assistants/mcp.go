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
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"slices"
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

const (
	flagHTTP      = "http"
	flagToken     = "token"
	flagMaxTime   = "max-time"
	flagAtOnce    = "at-once"
	flagKeep      = "keep"
	flagAllowSave = "allow-save"

	// TokenVariable is the environment variable that sets --token.
	TokenVariable = "STRATEGYLAB_MCP_TOKEN"
)

func mcpCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "mcp", Usage: "serve the lab to assistants over MCP",
		Description: "Serves one assistant on stdin and stdout, or many over HTTP, by the Model Context Protocol. Its tools list,\n" +
			"show, check, play, compare and explain strategies. Every script runs in its own process. The server uses\n" +
			"only the folders --scripts, --plugins and --data-dir. docs/mcp.md says how to add it to a client.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: flagHTTP, Usage: "`HOST:PORT`: serve HTTP there instead of stdin and stdout"},
			&cli.StringFlag{Name: flagToken, EnvVars: []string{TokenVariable}, Usage: "`TOKEN`: bearer token that HTTP clients must send"},
		}, command.CallerFlags(), command.TLSFlags(), command.NamedAgentFlags(), []cli.Flag{
			&cli.StringFlag{Name: command.FlagData, Value: filepath.Join("runs", "mcp"), Usage: "`DIR`: folder for reports and of stored leagues"},
			&cli.BoolFlag{Name: flagAllowSave, Usage: "let assistants write scripts to --scripts"},
			&cli.StringSliceFlag{Name: command.FlagManager, Usage: "`[NAME=]URL`: league manager to query; repeatable"},
			&cli.StringFlag{Name: command.FlagAdminToken, Usage: "`TOKEN`: admin token of the managers"},
			&cli.IntFlag{Name: command.FlagMaxRuns, Value: 5000, Usage: "maximum number of leagues per experiment", Action: command.AtLeast(command.FlagMaxRuns, 1)},
			&cli.DurationFlag{Name: flagMaxTime, Value: 2 * time.Minute, Usage: "time limit per experiment"},
			&cli.IntFlag{Name: flagAtOnce, Value: 2, Usage: "experiments and checks in parallel; others wait", Action: command.AtLeast(flagAtOnce, 1)},
			&cli.IntFlag{Name: flagKeep, Value: 50, Usage: "reports to keep; the oldest are removed", Action: command.AtLeast(flagKeep, 1)},
			&cli.BoolFlag{Name: command.FlagVerbose, Usage: "log at debug level"},
		}, command.ValidationLogFlags(false)),
		Action: command.Action(p, serveLab),
	}
}

func serveLab(p *command.Process, c *cli.Context) error {
	level := slog.LevelWarn
	if c.Bool(command.FlagVerbose) {
		level = slog.LevelDebug
	}
	log := p.Logger(level)
	cfg, err := labConfig(p, c, log)
	if err != nil {
		return err
	}
	web, err := newWeb(p, c, log)
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
	valid, err := command.OpenValidationLog(p, c, eventlog.Config{Data: cfg.data, Log: log, Lazy: true})
	if err != nil {
		return err
	}
	defer command.EndLog(valid)
	offer := newTools(cfg)
	tools, answers, err := offer.tools()
	if err != nil {
		return err
	}
	server, err := mcptools.New(mcptools.Config{
		Name: "strategylab", Version: version(), Instructions: instructions,
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
		err = serveStdio(c.Context, server, p)
	} else {
		err = web.serve(c.Context, server, func(url string) { fmt.Fprintf(p.Stderr, "the lab listens at %s\n", url) })
	}
	if command.Stopped(c.Context, err) {
		return nil // the user ends a server so
	}
	return command.Remedy(c, err)
}

// serveStdio serves until stdin ends and all requests are answered, or until ctx
// ends and cancels the running calls.
func serveStdio(ctx context.Context, server *mcptools.Server, p *command.Process) error {
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		server.Close()
	})
	err := server.ServeStdio(ctx, p.Stdin, p.Stdout)
	if stop() {
		server.Close()
		return err
	}
	<-closed
	return err
}

// labConfig reads the flags of the tools.
func labConfig(p *command.Process, c *cli.Context, log *slog.Logger) (config, error) {
	cfg := config{
		lab: p.Lab, token: c.String(command.FlagAdminToken), log: log,
		data: p.Path(c.String(command.FlagData)), dataName: c.String(command.FlagData),
		folder:  lab.Folder{Path: p.Path(c.String(command.FlagScripts)), Name: c.String(command.FlagScripts)},
		maxRuns: c.Int(command.FlagMaxRuns), atOnce: c.Int(flagAtOnce), keep: c.Int(flagKeep),
		maxTime: c.Duration(flagMaxTime), allowSave: c.Bool(flagAllowSave),
	}
	if p.Exe == "" {
		return cfg, errors.New("mcp: scripts cannot be isolated: the path of this program is unknown")
	}
	if c.String(command.FlagData) == "" {
		return cfg, command.Usagef("--%s is empty, want a folder", command.FlagData)
	}
	if cfg.maxTime < time.Second || cfg.maxTime > 24*time.Hour {
		return cfg, command.Usagef("--%s is %v, want 1s to 24h", flagMaxTime, cfg.maxTime)
	}
	var err error
	if cfg.managers, err = managersOf(c.StringSlice(command.FlagManager)); err != nil {
		return cfg, err
	}
	cfg.supply = lab.Supply{
		Scripts: c.String(command.FlagScripts), Required: c.IsSet(command.FlagScripts) && !cfg.allowSave, Plugins: c.String(command.FlagPlugins),
		Limits: command.Limits(c), Isolate: true, Log: log,
	}
	cfg.supply.Agents, err = command.NamedAgents(p, c)
	return cfg, err
}

// managersOf reads --manager.
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
			return nil, command.Usagef("--%s: invalid league name %q, want letters, digits, '_', '.' and '-', at most 64", command.FlagManager, m.name)
		case !command.AgentURL(m.url):
			return nil, command.Usagef("--%s is %q, want a URL such as http://127.0.0.1:8000/mcp, or NAME=URL", command.FlagManager, text)
		case seen[m.name]:
			return nil, command.Usagef("--%s: two managers have a league called %q; write --%s NAME=URL", command.FlagManager, m.name, command.FlagManager)
		}
		seen[m.name] = true
		all = append(all, m)
	}
	return all, nil
}

// version is the version of this program.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// shutdownTime is how long connections may take to end with the server.
const shutdownTime = 3 * time.Second

// finish runs f with the time limit of a shutdown.
func finish(f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	return f(ctx)
}
