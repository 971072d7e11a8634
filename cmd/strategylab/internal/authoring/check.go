package authoring

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

func checkCommand(p *command.Process) *cli.Command {
	return command.New(p, &cli.Command{
		Name: "check", ArgsUsage: command.ValueStrategy, Usage: "check that a strategy is ready to play",
		Description: "Plays small leagues of every shape with it and reports failures, how much of its budgets it uses, whether a\n" +
			"script plays the same in its own process (as in live leagues), and how it scores. What it has no time for is\n" +
			"left out, and it says what. An agent (--agent, or its URL) is also checked against the rules of the protocol, and\n" +
			"restarted to see what that changes. In JSON the share of a budget is a number from 0 to 1.",
	}, new(checkOptions), checkStrategy, command.ValueStrategy)
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
	if e.Info.Kind == strategies.Agent && !p.Quiet {
		p.Say("checking an agent takes %v at most (--max-time)", cmp.Or(o.MaxTime, lab.DefaultAgentTime))
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
