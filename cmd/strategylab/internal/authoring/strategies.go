// Package authoring holds the commands for authors of strategies: to list, write,
// check and time strategies, and to accept plugins.
package authoring

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// Commands returns the commands for authors of strategies.
func Commands(p *command.Process) []*cli.Command {
	return command.Categorize("Strategies",
		&cli.Command{
			Name:  "strategies",
			Usage: "list, show, write, check and time strategies",
			Subcommands: []*cli.Command{
				command.New(p, &cli.Command{Name: "list", Usage: "list all strategies"}, new(listOptions), listStrategies),
				command.New(p, &cli.Command{Name: "show", ArgsUsage: command.ValueStrategy, Usage: "describe a strategy and print its script"},
					new(command.Isolated), showStrategy, command.ValueStrategy),
				{
					Name: "new", ArgsUsage: "FILE", Usage: "create a strategy: .lua, .js, .c, .rs, .go or .zig",
					Action: command.Action(p, newStrategy, "FILE"),
				},
				command.New(p, &cli.Command{
					Name: "check", ArgsUsage: command.ValueStrategy, Usage: "check that a strategy is ready to play",
					Description: "Plays small leagues of every shape with it and reports failures, how much of its budgets it uses, whether a\n" +
						"script plays the same in its own process (as in live leagues), and how it scores. What it has no time for is\n" +
						"left out, and it says what. An agent (--agent, or its URL) is also checked against the rules of the protocol, and\n" +
						"restarted to see what that changes. In JSON the share of a budget is a number from 0 to 1.",
				}, new(checkOptions), checkStrategy, command.ValueStrategy),
				command.New(p, &cli.Command{
					Name: "bench", ArgsUsage: command.ValueStrategy, Usage: "time a strategy's decisions",
					Description: "A decision is one choose and one observe, in leagues of 16 players and 10 legs. For a script it also times\n" +
						"a bare VM, without sandbox, budgets and time limit, in alternation with the real one.",
				}, new(benchOptions), benchStrategy, command.ValueStrategy),
			},
		},
		command.New(p, &cli.Command{
			Name: "studio", ArgsUsage: "[FOLDER]", Usage: "write strategies in the browser",
			Description: "Serves a page on this machine with the scripts of a folder: an editor that checks as you type, trials\n" +
				"against a field, and leagues match by match beside those of the version before. Every script runs in its\n" +
				"own process. For a class, --listen lets others in and --team gives each team a folder and a token.",
		}, new(studioOptions), serveStudio, "[FOLDER]"),
		&cli.Command{
			Name:  "plugins",
			Usage: "create, list, build and accept plugins",
			Subcommands: []*cli.Command{
				{
					Name: "new", ArgsUsage: "NAME", Usage: "create a plugin in Go, in a new folder",
					Description: "Inside a checkout of the source, the module uses that checkout and builds offline. Elsewhere it\n" +
						"requires the version of this program, and 'go mod tidy' downloads it once.",
					Action: command.Action(p, newPlugin, "NAME"),
				},
				command.New(p, &cli.Command{Name: "list", Usage: "list plugins and whether they are accepted"}, new(pluginsOptions), listPlugins),
				command.New(p, &cli.Command{
					Name: "lock", ArgsUsage: "[PROGRAM...]", Usage: "accept plugins in their current form",
					Description: "Writes the SHA-256 of the programs, by default of all in the folder, into " + plugins.LockName + " beside them. Only\n" +
						"accepted programs are started. One accepted without mTLS stays so until --no-tls=false, one accepted\n" +
						"while you work on it until --dev=false.",
				}, new(lockOptions), lockPlugins, command.Rest),
				{
					Name: "build", Usage: "build and accept the Go examples of the source",
					Action: command.Action(p, buildPlugins),
				},
			},
		},
	)
}

type listOptions struct {
	command.Isolated
	Format string `flag:"format table|json" want:"one" usage:"output format"`
}

type listed struct {
	Name        string `json:"name"`
	Kind        string `json:"kind"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Source      string `json:"source"`
	Error       string `json:"error,omitempty"` // why it cannot be played
}

func listStrategies(p *command.Process, c *cli.Context, o *listOptions) error {
	supply := p.Supply(c, command.Isolation{Isolated: o.Isolated})
	supply.All = true
	cat, err := p.Load(c.Context, supply)
	if err != nil {
		return err
	}
	defer cat.Close()
	if err := cat.OpenPlugins(c.Context); err != nil {
		return err
	}
	if o.Format == "json" {
		list := []listed{}
		for _, e := range cat.Entries() {
			l := listed{Name: e.Info.Name, Kind: string(e.Info.Kind), Title: e.Info.Title, Description: e.Info.Description, Source: e.Info.Source}
			if e.Err != nil {
				l.Error = e.Err.Error()
			}
			list = append(list, l)
		}
		return command.PrintJSON(p.Stdout, list)
	}
	return writeList(p.Stdout, cat.Entries())
}

// Limits on what the list shows of a strategy, in bytes: a name of somebody's file that is
// none of a strategy must not break or widen the rows of others.
const (
	mostName  = 60
	mostAbout = 500
)

func writeList(w io.Writer, entries []catalog.Entry) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		about := e.Info.Title
		if e.Err != nil {
			about = "cannot play: " + e.Err.Error()
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", strategies.OneLine(e.Info.Name, mostName), e.Info.Kind, strategies.OneLine(about, mostAbout))
	}
	return tw.Flush()
}

func showStrategy(p *command.Process, c *cli.Context, o *command.Isolated) error {
	cat, e, err := p.LoadStrategy(c.Context, p.Supply(c, command.Isolation{Isolated: *o}), c.Args().First())
	if err != nil {
		return err
	}
	defer cat.Close()
	fmt.Fprintf(p.Stdout, "%s (%s)\n", e.Info.Name, e.Info.Kind)
	for _, text := range []string{e.Info.Title, e.Info.Description} {
		if text != "" {
			fmt.Fprintf(p.Stdout, "\n%s\n", text)
		}
	}
	if len(e.Params) > 0 {
		fmt.Fprintln(p.Stdout, "\nparameters:")
	}
	for _, param := range e.Params {
		fmt.Fprintln(p.Stdout, " ", param)
	}
	if e.Info.Source == "" {
		return nil
	}
	source, _, err := disk.ReadFile(p.Path(e.Info.Source), catalog.LargestSource)
	if err != nil {
		return fmt.Errorf("show %s: %w", e.Info.Name, err)
	}
	fmt.Fprintf(p.Stdout, "\n%s, SHA-256 %s\n", e.Info.Source, e.Info.Fingerprint)
	if e.Info.Kind == strategies.WebAssembly {
		fmt.Fprintf(p.Stdout, "\nWebAssembly, %d bytes\n", len(source))
		return nil
	}
	fmt.Fprintf(p.Stdout, "\n%s\n", strings.TrimRight(string(source), "\n"))
	return nil
}

type checkOptions struct {
	command.Seeding
	command.Isolated
	Format  string        `flag:"format table|json" want:"one" usage:"output format"`
	MaxTime time.Duration `flag:"max-time" text:"10s" want:"positive" usage:"time limit of the check"`
	command.Agents
}

func checkStrategy(p *command.Process, c *cli.Context, o *checkOptions) error {
	target := c.Args().First()
	supply, err := p.SupplyAgents(c, command.Isolation{Isolated: o.Isolated}, &o.Agents, target)
	if err != nil {
		return err
	}
	cat, e, err := p.LoadStrategy(c.Context, supply, target)
	if err != nil {
		return err
	}
	defer cat.Close()
	var s uint64 = lab.CheckSeed
	if o.Number != "" {
		if s, err = o.Seed(p); err != nil {
			return err
		}
	}
	if e.Info.Kind == strategies.Agent {
		p.Note("checking an agent takes %v at most (--max-time)", cmp.Or(o.MaxTime, lab.DefaultAgentTime))
	}
	step, end := p.Steps()
	v, err := p.Check(c.Context, e, lab.Checking{
		Seed: s, Limits: p.Limits(), Isolated: o.Isolate, Compared: true, Time: o.MaxTime, Step: step,
	})
	end()
	if err != nil {
		return err
	}
	if err := printVerdict(p.Stdout, o.Format, v); err != nil {
		return err
	}
	if !v.Ready {
		return command.Reported(command.ErrCheckFailed)
	}
	return nil
}

func printVerdict(w io.Writer, format string, v lab.Verdict) error {
	if format == "json" {
		return command.PrintJSON(w, v)
	}
	fmt.Fprintf(w, "%s (%s)\n\n", v.Strategy, v.Kind)
	// What has to be fixed stands first, causes before effects; JSON keeps the order of the checks.
	for _, f := range strategytest.Urgent(v.Findings) {
		fmt.Fprintf(w, "  %-7s  %s\n", f.Level, f.What)
		if f.Where != "" && f.Level > strategytest.Info {
			fmt.Fprintf(w, "           at %s\n", f.Where)
		}
		if f.Hint != "" {
			fmt.Fprintf(w, "           %s\n", f.Hint)
		}
	}
	if v.Trial != nil {
		fmt.Fprintf(w, "\n%s\n", v.Trial)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", v.Verdict)
	return err
}

type benchOptions struct {
	command.Isolated
	For    time.Duration `flag:"for" default:"1s" usage:"duration of the measurement"`
	Format string        `flag:"format table|json" want:"one" usage:"output format"`
}

func benchStrategy(p *command.Process, c *cli.Context, o *benchOptions) error {
	if o.For <= 0 || o.For > time.Hour {
		return command.Usagef("--for is %v, want a positive duration of at most 1h", o.For)
	}
	supply := p.Supply(c, command.Isolation{Isolated: o.Isolated})
	supply.InProcess = !supply.Isolate // to time calls, not pipes
	cat, e, err := p.LoadStrategy(c.Context, supply, c.Args().First())
	if err != nil {
		return err
	}
	defer cat.Close()
	p.ForBatch() // collections of a small heap would dominate the times
	t, err := strategytest.Time(c.Context, p.Now, e.Factory, o.For)
	if err != nil {
		return err
	}
	if o.Format == "json" {
		return json.NewEncoder(p.Stdout).Encode(t)
	}
	fmt.Fprintf(p.Stdout, "%s (%s): %.0f ns per decision (choose and observe), median of %d leagues of %d\n",
		t.Strategy, t.Kind, t.Nanoseconds, t.Decisions/strategytest.TimedMatches, strategytest.TimedMatches)
	if t.Ratio != nil {
		fmt.Fprintf(p.Stdout, "the bare VM: %.0f ns; with sandbox and budgets it takes %.2f times as long\n", *t.Bare, *t.Ratio)
	}
	return nil
}
