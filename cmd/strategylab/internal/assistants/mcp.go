package assistants

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/mcptools"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire/eventlog"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// Commands are the commands for assistants.
func Commands(p *command.Process) []*cli.Command {
	return command.Categorize("Assistants", mcpCommand(p))
}

const (
	flagHTTP        = "http"
	flagToken       = "token"
	flagAllowOrigin = "allow-origin"
	flagMaxTime     = "max-time"
	flagAtOnce      = "at-once"
	flagKeep        = "keep"
	flagAllowSave   = "allow-save"

	// The environment variables that --token and --admin-token are taken from.
	TokenVariable = "STRATEGYLAB_MCP_TOKEN"
	adminVariable = "STRATEGYLAB_ADMIN_TOKEN"
)

func mcpCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "mcp", Usage: "offer the lab to assistants by the Model Context Protocol",
		Description: "Serves one assistant on stdin and stdout, or many over HTTP, with tools that list, show, check, play,\n" +
			"compare and explain strategies. Every script runs in a process of its own. Nothing is read or written\n" +
			"but the folders of --scripts, --plugins and --data-dir. docs/mcp.md says how to add it to a client.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: flagHTTP, Usage: "`HOST:PORT` to serve HTTP on instead of stdin and stdout, under /mcp; port 0 takes a free one"},
			&cli.StringFlag{Name: flagToken, EnvVars: []string{TokenVariable}, Usage: "what clients must show over HTTP, as Authorization: Bearer; required on addresses others can reach"},
			&cli.StringFlag{Name: command.FlagTLSCert, Usage: "PEM file: serve HTTPS"},
			&cli.StringFlag{Name: command.FlagTLSKey, Usage: "PEM file of the certificate's key"},
			&cli.StringSliceFlag{Name: flagAllowOrigin, Usage: "origin of web pages that may call over HTTP, such as http://localhost:6274; repeatable"},
			&cli.StringFlag{Name: command.FlagData, Value: filepath.Join("runs", "mcp"), Usage: "folder for the reports of experiments; leagues kept in it by 'host --data-dir' can be asked about"},
			&cli.StringFlag{Name: command.FlagScripts, Value: catalog.DefaultScripts, Usage: "folder to look through for *.lua and *.js"},
			&cli.StringFlag{Name: command.FlagPlugins, Value: command.DefaultPlugins, Usage: "folder to look through for programs that play strategies"},
			&cli.BoolFlag{Name: flagAllowSave, Usage: "let assistants write scripts into the folder of --scripts"},
			&cli.StringSliceFlag{Name: command.FlagManager, Usage: "`[NAME=]URL` of a league manager that may be asked, with the league's name (default: league); repeatable"},
			&cli.StringFlag{Name: command.FlagAdminToken, EnvVars: []string{adminVariable}, Usage: "what the managers want to be shown"},
			&cli.IntFlag{Name: command.FlagMaxRuns, Value: 5000, Usage: "leagues that one experiment may have"},
			&cli.DurationFlag{Name: flagMaxTime, Value: 2 * time.Minute, Usage: "time that one experiment or check may take"},
			&cli.IntFlag{Name: flagAtOnce, Value: 2, Usage: "experiments and checks under way at once; others wait"},
			&cli.IntFlag{Name: flagKeep, Value: 50, Usage: "reports to keep; the oldest go first"},
			&cli.DurationFlag{Name: command.FlagTimeLimit, Value: budget.DefaultTime, Usage: "time that one call of a script may take"},
			&cli.Int64Flag{Name: command.FlagInstructions, Value: budget.DefaultInstructions, Usage: "instructions that one call of a Lua script may take"},
			command.ValidationLogFlag(), command.ValidationLogSizeFlag(),
			&cli.BoolFlag{Name: command.FlagVerbose, Usage: "log what happens, on stderr"},
		},
		Action: func(c *cli.Context) error { return serveLab(p, c) },
	}
}

func serveLab(p *command.Process, c *cli.Context) error {
	if _, err := command.Arguments(c); err != nil {
		return err
	}
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
	cat, err := cfg.lab.Load(c.Context, cfg.supply) // what is wrong with it is better said now
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
	tools, err := offer.tools()
	if err != nil {
		return err
	}
	server, err := mcptools.New(mcptools.Config{
		Name: "strategylab", Version: version(), Instructions: Instructions,
		Tools: tools, Resources: offer.resources(), Prompts: offer.prompts(),
		Validation: valid, Logger: log, AllowOrigins: c.StringSlice(flagAllowOrigin), MaxCalls: 32,
	})
	if err != nil {
		return command.Usagef("mcp: %w", err)
	}
	p.ForBatch()
	if web == nil {
		if p.Terminal {
			fmt.Fprintln(p.Stderr, "waiting for a client's messages on stdin; docs/mcp.md says how to add the lab to one")
		}
		err = serveStdio(c.Context, server, p)
	} else {
		err = web.serve(c.Context, server, func(url string) { fmt.Fprintf(p.Stderr, "the lab listens at %s\n", url) })
	}
	if command.Stopped(c.Context, err) {
		return nil // that is how a server ends
	}
	return command.Remedy(c, err)
}

// serveStdio serves until stdin ends, and answers what has been asked by then; or
// until ctx ends, and calls off what is under way.
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

// labConfig reads what the lab offers from the flags.
func labConfig(p *command.Process, c *cli.Context, log *slog.Logger) (config, error) {
	cfg := config{
		lab: p.Lab, token: c.String(command.FlagAdminToken), log: log,
		data: p.Path(c.String(command.FlagData)), dataName: c.String(command.FlagData),
		scripts: p.Path(c.String(command.FlagScripts)), scriptsName: c.String(command.FlagScripts),
		maxTime: c.Duration(flagMaxTime), allowSave: c.Bool(flagAllowSave),
	}
	if p.Exe == "" {
		return cfg, errors.New("mcp: scripts cannot be isolated: this program does not know its own path")
	}
	if c.String(command.FlagData) == "" {
		return cfg, command.Usagef("--%s is empty, want a folder", command.FlagData)
	}
	if cfg.maxTime < time.Second || cfg.maxTime > 24*time.Hour {
		return cfg, command.Usagef("--%s is %v, want 1s to 24h", flagMaxTime, cfg.maxTime)
	}
	var err error
	for flag, n := range map[string]*int{command.FlagMaxRuns: &cfg.maxRuns, flagAtOnce: &cfg.atOnce, flagKeep: &cfg.keep} {
		if *n, err = command.AtLeast(c, flag, 1); err != nil {
			return cfg, err
		}
	}
	l, err := command.Limits(c)
	if err != nil {
		return cfg, err
	}
	if cfg.managers, err = managersOf(c.StringSlice(command.FlagManager)); err != nil {
		return cfg, err
	}
	cfg.supply = lab.Supply{
		Scripts: c.String(command.FlagScripts), Required: c.IsSet(command.FlagScripts) && !cfg.allowSave, Plugins: c.String(command.FlagPlugins),
		Limits: l, Isolate: true, Log: log,
	}
	return cfg, nil
}

// managersOf reads the managers that may be asked.
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
			return nil, command.Usagef("--%s: %q cannot be the name of a league: want letters, digits, '_', '.' and '-', at most 64", command.FlagManager, m.name)
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

// version is what the program says of itself.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// mcpStopped is how long the connections may take to end with the server.
const mcpStopped = 5 * time.Second

// finish runs f with the time that there is for ending.
func finish(f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), mcpStopped)
	defer cancel()
	return f(ctx)
}
