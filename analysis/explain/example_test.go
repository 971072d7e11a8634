package explain_test

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis/explain"
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

func ExampleCollector() {
	plan := examplePlan()
	c, err := explain.NewCollector(plan, explain.Options{})
	if err != nil {
		panic(err)
	}
	for i := range plan.Runs {
		if err := c.Add(exampleLeague(plan, i)); err != nil {
			panic(err)
		}
	}
	x := c.Explanations(0.95)
	for i, p := range x.Players {
		fmt.Printf("%-7s says even in %.0f %%, best rule: %s (%.0f %%)\n", plan.Field[i].Name,
			100*p.Even.Estimate, explain.Predictors()[p.Exploit], 100*p.Met.Estimate)
	}
	// Output:
	// even    says even in 100 %, best rule: it says even (100 %)
	// odd     says even in 0 %, best rule: it says odd (100 %)
	// mixed   says even in 44 %, best rule: it says odd (52 %)
}

func ExampleHabits() {
	plan := examplePlan()
	h, err := explain.NewHabits(plan, 1)
	if err != nil {
		panic(err)
	}
	for i := range plan.Runs {
		if err := h.Append(exampleLeague(plan, i)); err != nil {
			panic(err)
		}
	}
	for _, habit := range h.Estimates(0.95) {
		if habit.Times == 0 {
			continue
		}
		fmt.Printf("after %s: even in %.0f %% of %d choices\n", habit.After, 100*habit.Even.Estimate, habit.Times)
	}
	// Output:
	// after its first match against the opponent: even in 0 % of 200 choices
	// after it said odd, the opponent even: even in 0 % of 156 choices
	// after both said odd: even in 0 % of 44 choices
}
