package runs

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

type matchOptions struct {
	Matches int `flag:"matches" default:"1000" want:"1.." usage:"matches to play, rounded up to whole series"`
	Legs    int `flag:"legs" default:"10" want:"1.." usage:"matches in a series"`
	command.Seeding
	command.Drawing
	Format string `flag:"format table|json" want:"one" usage:"output format"`
	command.Isolation
	command.Agents
}

func match(p *command.Process, c *cli.Context, o *matchOptions) error {
	seed, err := o.Seed(p)
	if err != nil {
		return err
	}
	plan := results.Plan{
		Schema: results.PlanSchema, Runs: (o.Matches + o.Legs - 1) / o.Legs, Legs: o.Legs, Seed: seed, Draw: o.Draw().String(), Transport: "direct",
	}
	supply, err := p.SupplyAgents(c, o.Isolation, &o.Agents, c.Args().Slice()...)
	if err != nil {
		return err
	}
	cat, err := p.LoadCatalog(c.Context, supply)
	if err != nil {
		return err
	}
	defer cat.Close()
	factories, err := opponents(c.Context, cat, c.Args().Slice(), &plan)
	if err != nil {
		return err
	}
	p.ForBatch()
	est, err := lab.PlayInMemory(c.Context, plan, factories, analysis.DefaultLevel)
	if err != nil {
		return err
	}
	if o.Format == "json" {
		return command.PrintJSON(p.Stdout, report.New(report.Run{Plan: plan, Estimates: est}).Pairs[0])
	}
	return report.WriteMatch(p.Stdout, plan, est)
}

// opponents finds two strategies and adds them to a plan.
func opponents(ctx context.Context, cat *catalog.Catalog, targets []string, plan *results.Plan) ([]strategies.Factory, error) {
	var factories []strategies.Factory
	for i, target := range targets {
		e, err := cat.Resolve(ctx, target)
		if err != nil {
			return nil, lab.NameError(err)
		}
		name := e.Info.Name
		if i == 1 && name == plan.Field[0].Name {
			plan.Field[0].Name, name = name+"#1", name+"#2"
		}
		plan.Field = append(plan.Field, results.Entrant{Name: name, Kind: string(e.Info.Kind), Ref: target})
		factories = append(factories, e.Factory)
	}
	if err := plan.Validate(); err != nil {
		return nil, command.Usagef("%w", err)
	}
	return factories, nil
}
