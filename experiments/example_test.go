package experiments_test

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// discard is a sink that keeps nothing.
type discard struct{}

func (discard) Append(*results.League) error { return nil }

// Example plays a small plan. The digest depends on the plan alone, not on the
// number of workers.
func Example() {
	plan := results.Plan{Schema: results.PlanSchema, Runs: 100, Legs: 2, Seed: 7, Draw: "uniform:1-10", Transport: "direct"}
	var field []strategies.Factory
	for _, name := range []string{"markov-2", "alternate", "random"} {
		f, _ := builtin.Find(name)
		field = append(field, f)
		plan.Field = append(plan.Field, results.Entrant{Name: name, Kind: "builtin"})
	}
	driver, err := arena.New(plan, field, arena.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, workers := range []int{1, 4} {
		out, err := experiments.Run(context.Background(), plan, driver, discard{}, experiments.Config{Workers: workers})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(out.Leagues, out.Matches, out.Digest[:16])
	}
	// Output:
	// 100 600 206102d91eabdd8e
	// 100 600 206102d91eabdd8e
}
