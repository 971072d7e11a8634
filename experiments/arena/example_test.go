package arena_test

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// Example plays one league by hand; experiments.Run plays all of a plan.
func Example() {
	plan := results.Plan{Schema: results.PlanSchema, Runs: 1, Legs: 2, Seed: 1, Draw: "uniform:1-10", Transport: "direct"}
	var field []strategies.Factory
	for _, name := range []string{"always-even", "always-odd", "copy-last"} {
		f, _ := builtin.Find(name)
		field = append(field, f)
		plan.Field = append(plan.Field, results.Entrant{Name: name})
	}
	a, err := arena.New(plan, field, arena.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var driver experiments.Driver = a
	worker, _ := driver.NewWorker(context.Background())
	defer worker.Close()
	league := make([]results.League, 1)
	if err := worker.Play(context.Background(), 0, league, make([]bool, len(field))); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(league[0].Matches), "matches, player on seat 0:", plan.Field[league[0].Seats[0]].Name)
	// Output: 6 matches, player on seat 0: always-even
}
