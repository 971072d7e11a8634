package authoring

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

func benchCommand(p *command.Process) *cli.Command {
	return command.New(p, &cli.Command{
		Name: "bench", ArgsUsage: command.ValueStrategy, Usage: "time a strategy's decisions",
		Description: "A decision is one choose and one observe, in leagues of 16 players and 10 legs. For a script it also times\n" +
			"a bare VM, without sandbox, budgets and time limit, in alternation with the real one.",
	}, new(benchOptions), benchStrategy, command.ValueStrategy)
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
