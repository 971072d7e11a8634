package main

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

	"github.com/strategylab/strategylab/cmd/strategylab/labtools"
	"github.com/strategylab/strategylab/host/mcptools"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire/eventlog"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

const (
	flagHTTP        = "http"
	flagToken       = "token"
	flagAllowOrigin = "allow-origin"
	flagMaxTime     = "max-time"
	flagAtOnce      = "at-once"
	flagKeep        = "keep"
	flagAllowSave   = "allow-save"

	// The environment variables that --token and --admin-token are taken from.
	tokenVariable = "STRATEGYLAB_MCP_TOKEN"
	adminVariable = "STRATEGYLAB_ADMIN_TOKEN"
)

func mcpCommand(p *process) *cli.Command {
	return &cli.Command{
		Name: "mcp", Usage: "offer the lab to assistants by the Model Context Protocol",
		Description: "Serves one assistant on stdin and stdout, or many over HTTP, with tools that list, show, check, play,\n" +
			"compare and explain strategies. Every script runs in a process of its own. Nothing is read or written\n" +
			"but the folders of --scripts, --plugins and --data-dir. docs/mcp.md says how to add it to a client.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: flagHTTP, Usage: "`HOST:PORT` to serve HTTP on instead of stdin and stdout, under /mcp; port 0 takes a free one"},
			&cli.StringFlag{Name: flagToken, EnvVars: []string{tokenVariable}, Usage: "what clients must show over HTTP, as Authorization: Bearer; required on addresses others can reach"},
			&cli.StringFlag{Name: flagTLSCert, Usage: "PEM file: serve HTTPS"},
			&cli.StringFlag{Name: flagTLSKey, Usage: "PEM file of the certificate's key"},
			&cli.StringSliceFlag{Name: flagAllowOrigin, Usage: "origin of web pages that may call over HTTP, such as http://localhost:6274; repeatable"},
			&cli.StringFlag{Name: flagData, Value: filepath.Join("runs", "mcp"), Usage: "folder for the reports of experiments; leagues kept in it by 'host --data-dir' can be asked about"},
			&cli.StringFlag{Name: flagScripts, Value: catalog.DefaultScripts, Usage: "folder to look through for *.lua and *.js"},
			&cli.StringFlag{Name: flagPlugins, Value: defaultPlugins, Usage: "folder to look through for programs that play strategies"},
			&cli.BoolFlag{Name: flagAllowSave, Usage: "let assistants write scripts into the folder of --scripts"},
			&cli.StringSliceFlag{Name: flagManager, Usage: "`[NAME=]URL` of a league manager that may be asked, with the league's name (default: league); repeatable"},
			&cli.StringFlag{Name: flagAdminToken, EnvVars: []string{adminVariable}, Usage: "what the managers want to be shown"},
			&cli.IntFlag{Name: flagMaxRuns, Value: 5000, Usage: "leagues that one experiment may have"},
			&cli.DurationFlag{Name: flagMaxTime, Value: 2 * time.Minute, Usage: "time that one experiment or check may take"},
			&cli.IntFlag{Name: flagAtOnce, Value: 2, Usage: "experiments and checks under way at once; others wait"},
			&cli.IntFlag{Name: flagKeep, Value: 50, Usage: "reports to keep; the oldest go first"},
			&cli.DurationFlag{Name: flagTimeLimit, Value: budget.DefaultTime, Usage: "time that one call of a script may take"},
			&cli.Int64Flag{Name: flagInstructions, Value: budget.DefaultInstructions, Usage: "instructions that one call of a Lua script may take"},
			validationLogFlag(), validationLogSizeFlag(),
			&cli.BoolFlag{Name: flagVerbose, Usage: "log what happens, on stderr"},
		},
		Action: func(c *cli.Context) error { return serveLab(p, c) },
	}
}

func serveLab(p *process, c *cli.Context) error {
	if _, err := arguments(c); err != nil {
		return err
	}
	level := slog.LevelWarn
	if c.Bool(flagVerbose) {
		level = slog.LevelDebug
	}
	log := p.logger(level)
	cfg, err := labConfig(p, c, log)
	if err != nil {
		return err
	}
	web, err := newWeb(p, c, log)
	if err != nil {
		return err
	}
	cat, err := cfg.Bench.Catalog(c.Context) // what is wrong with it is better said now
	if err != nil {
		return err
	}
	if err := cat.Close(); err != nil {
		return err
	}
	valid, err := openValidationLog(p, c, eventlog.Config{Data: cfg.Data, Log: log, Lazy: true})
	if err != nil {
		return err
	}
	defer endLog(valid)
	lab := labtools.New(cfg)
	tools, err := lab.Tools()
	if err != nil {
		return err
	}
	server, err := mcptools.New(mcptools.Config{
		Name: "strategylab", Version: version(), Instructions: labtools.Instructions,
		Tools: tools, Resources: lab.Resources(), Prompts: lab.Prompts(),
		Validation: valid, Logger: log, AllowOrigins: c.StringSlice(flagAllowOrigin), MaxCalls: 32,
	})
	if err != nil {
		return usagef("mcp: %w", err)
	}
	p.forBatch()
	if web == nil {
		if p.terminal {
			fmt.Fprintln(p.stderr, "waiting for a client's messages on stdin; docs/mcp.md says how to add the lab to one")
		}
		err = serveStdio(c.Context, server, p)
	} else {
		err = web.serve(c.Context, server, func(url string) { fmt.Fprintf(p.stderr, "the lab listens at %s\n", url) })
	}
	if stopped(c.Context, err) {
		return nil // that is how a server ends
	}
	return remedy(c, err)
}

// serveStdio serves until stdin ends, and answers what has been asked by then; or
// until ctx ends, and calls off what is under way.
func serveStdio(ctx context.Context, server *mcptools.Server, p *process) error {
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		server.Close()
	})
	err := server.ServeStdio(ctx, p.stdin, p.stdout)
	if stop() {
		server.Close()
		return err
	}
	<-closed
	return err
}

// labConfig reads what the lab offers from the flags.
func labConfig(p *process, c *cli.Context, log *slog.Logger) (labtools.Config, error) {
	cfg := labtools.Config{
		Data: p.path(c.String(flagData)), DataName: c.String(flagData),
		Scripts: p.path(c.String(flagScripts)), ScriptsName: c.String(flagScripts),
		Sparring: sparring[:], MaxTime: c.Duration(flagMaxTime), AllowSave: c.Bool(flagAllowSave), Log: log,
	}
	if p.exe == "" {
		return cfg, errors.New("mcp: scripts cannot be isolated: this program does not know its own path")
	}
	if c.String(flagData) == "" {
		return cfg, usagef("--%s is empty, want a folder", flagData)
	}
	if cfg.MaxTime < time.Second || cfg.MaxTime > 24*time.Hour {
		return cfg, usagef("--%s is %v, want 1s to 24h", flagMaxTime, cfg.MaxTime)
	}
	var err error
	for flag, n := range map[string]*int{flagMaxRuns: &cfg.MaxRuns, flagAtOnce: &cfg.AtOnce, flagKeep: &cfg.Keep} {
		if *n, err = atLeast(c, flag, 1); err != nil {
			return cfg, err
		}
	}
	l, err := limits(c)
	if err != nil {
		return cfg, err
	}
	if cfg.Managers, err = managersOf(c.StringSlice(flagManager)); err != nil {
		return cfg, err
	}
	cfg.Bench = &labBench{
		p: p, token: c.String(flagAdminToken), log: log,
		supply: supply{
			scripts: c.String(flagScripts), required: c.IsSet(flagScripts) && !cfg.AllowSave, plugins: c.String(flagPlugins),
			limits: l, isolate: true, log: log,
		},
	}
	return cfg, nil
}

// managersOf reads the managers that may be asked.
func managersOf(texts []string) ([]labtools.Manager, error) {
	var all []labtools.Manager
	seen := map[string]bool{}
	for _, text := range texts {
		m := labtools.Manager{Name: "league", URL: text}
		if name, url, named := strings.Cut(text, "="); named && !strings.Contains(name, "/") {
			m.Name, m.URL = name, url
		}
		m.League = m.Name
		switch {
		case !protocol.ValidID(m.Name):
			return nil, usagef("--%s: %q cannot be the name of a league: want letters, digits, '_', '.' and '-', at most 64", flagManager, m.Name)
		case !agentURL(m.URL):
			return nil, usagef("--%s is %q, want a URL such as http://127.0.0.1:8000/mcp, or NAME=URL", flagManager, text)
		case seen[m.Name]:
			return nil, usagef("--%s: two managers have a league called %q; write --%s NAME=URL", flagManager, m.Name, flagManager)
		}
		seen[m.Name] = true
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
