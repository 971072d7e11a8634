package contrast_test

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis/contrast"
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

func ExampleContrast() {
	before, after := examplePlan(), examplePlan()
	after.Field[2].Fingerprint = "sha256:new"
	c, err := contrast.New(before, after)
	if err != nil {
		panic(err)
	}
	for i := range before.Runs {
		changed := exampleLeague(after, i)
		for k := range changed.Matches {
			changed.Matches[k].Number = changed.Matches[k].Number%10 + 1 // another draw, the same choices
		}
		if err := c.AddPair(exampleLeague(before, i), changed); err != nil {
			panic(err)
		}
	}
	r := c.Result(0.95)
	fmt.Println("paired:", r.Paired, "- changes in the plan:", len(r.Plan))
	for _, p := range r.Players {
		fmt.Printf("%-7s code changed: %-5v adjusted points: %s\n", p.Name, p.CodeChanged, p.Effects[0].Verdict)
	}
	// Output:
	// paired: true - changes in the plan: 1
	// even    code changed: false adjusted points: equal
	// odd     code changed: false adjusted points: equal
	// mixed   code changed: true  adjusted points: equal
}
