package authoring

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

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
