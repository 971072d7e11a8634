package population_test

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// examplePlan is a league of three: one always says even, one always odd, one now this and now that.
func examplePlan() results.Plan {
	return results.Plan{
		Schema: results.PlanSchema, Runs: 100, Legs: 2, Seed: 1, Draw: "uniform:1-10", Transport: "direct",
		Field: []results.Entrant{{Name: "even", Ref: "even"}, {Name: "odd", Ref: "odd"}, {Name: "mixed", Ref: "mixed"}},
	}
}

// exampleLeague plays one league of the plan.
func exampleLeague(plan results.Plan, index int) *results.League {
	l := &results.League{Index: index, Seats: game.Seats(plan.Seed, index, len(plan.Field))}
	schedule, err := game.NewSchedule(len(plan.Field), plan.Legs)
	if err != nil {
		panic(err)
	}
	for k, m := range schedule.Matches() {
		choose := func(seat int) game.Side {
			if field := l.Seats[seat]; field == 0 || field == 2 && (index*index+3*k)%7 < 3 {
				return game.Side{Choice: game.Even}
			}
			return game.Side{Choice: game.Odd}
		}
		l.Matches = append(l.Matches, results.Match{A: choose(m.A), B: choose(m.B), Number: int32(1 + (7*index+3*k)%10)})
	}
	return l
}

// exampleEstimates are those of the leagues of the plan.
func exampleEstimates(plan results.Plan) analysis.Estimates {
	acc, err := analysis.NewAccumulator(plan)
	if err != nil {
		panic(err)
	}
	for i := range plan.Runs {
		if err := acc.Add(*exampleLeague(plan, i)); err != nil {
			panic(err)
		}
	}
	return acc.Estimates(analysis.DefaultLevel)
}

func ExampleNewView() {
	plan := examplePlan()
	e := exampleEstimates(plan)
	never := analysis.Estimate{Estimate: 0, Low: 0, High: 0.05} // a copy of itself says the same
	g, err := population.NewGame(plan, &e, []population.Mirror{
		{Strategy: "even", Leagues: 100, Differ: never}, {Strategy: "odd", Leagues: 100, Differ: never}, {Strategy: "mixed", Leagues: 100, Differ: never},
	}, nil)
	if err != nil {
		panic(err)
	}
	v := population.NewView(g)
	fmt.Println("at an equilibrium:", v.Trajectory.Settled)
	for _, m := range v.Members {
		fmt.Printf("%-7s final share %.2f, invades %.1f, worst opponent %s\n", m.Name, m.Share.Estimate, m.Invades.Estimate, v.Members[m.Worst].Name)
	}
	// Output:
	// at an equilibrium: true
	// even    final share 0.49, invades 5.8, worst opponent mixed
	// odd     final share 0.49, invades 5.4, worst opponent mixed
	// mixed   final share 0.01, invades 4.0, worst opponent odd
}
