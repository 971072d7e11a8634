package lab_test

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// Two strategies that never agree differ in every match.
func ExamplePlayInMemory() {
	ctx := context.Background()
	cat, err := lab.Lab{}.Load(ctx, lab.Supply{Limits: budget.Limits{Time: budget.DefaultTime, Instructions: budget.DefaultInstructions}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cat.Close()
	plan := results.Plan{Schema: results.PlanSchema, Runs: 20, Legs: 10, Seed: 1, Draw: "uniform:1-10", Transport: "direct"}
	var factories []strategies.Factory
	for _, name := range []string{"always-even", "always-odd"} {
		e, err := cat.Resolve(ctx, name)
		if err != nil {
			fmt.Println(err)
			return
		}
		plan.Field = append(plan.Field, results.Entrant{Name: name})
		factories = append(factories, e.Factory)
	}
	est, err := lab.PlayInMemory(ctx, plan, factories, analysis.DefaultLevel)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d leagues, P(differ) = %.2f\n", est.Leagues, est.Pairs[0].Differ.Estimate)
	// Output:
	// 20 leagues, P(differ) = 1.00
}
