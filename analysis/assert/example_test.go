package assert_test

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/assert"
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

func ExampleJudge() {
	plan := examplePlan()
	j, err := assert.NewJudge(plan, []string{"odd.adjusted > mixed.adjusted", "odd.technical_losses == 0", "even.ties < 100"}, nil)
	if err != nil {
		panic(err)
	}
	acc, err := analysis.NewAccumulator(plan)
	if err != nil {
		panic(err)
	}
	for i := range plan.Runs {
		l := exampleLeague(plan, i)
		if err := j.Append(l); err != nil {
			panic(err)
		}
		if err := acc.Add(*l); err != nil {
			panic(err)
		}
	}
	for _, o := range j.Outcomes(acc.Estimates, analysis.DefaultLevel) {
		fmt.Printf("%-9s %s\n", o.Verdict, o.Text)
	}
	// Output:
	// holds     odd.adjusted > mixed.adjusted
	// holds     odd.technical_losses == 0
	// holds     even.ties < 100
}
