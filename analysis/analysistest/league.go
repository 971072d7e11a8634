// Package analysistest plays a small experiment for the examples of the packages below
// analysis.
package analysistest

import (
	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Plan is a hundred leagues of three players: one always says even, one always odd, one
// now this and now that.
func Plan() results.Plan {
	return results.Plan{
		Schema: results.PlanSchema, Runs: 100, Legs: 2, Seed: 1, Draw: "uniform:1-10", Transport: "direct",
		Field: []results.Entrant{{Name: "even", Ref: "even"}, {Name: "odd", Ref: "odd"}, {Name: "mixed", Ref: "mixed"}},
	}
}

// League plays one league of the plan.
func League(plan results.Plan, index int) *results.League {
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

// Estimates are those of all leagues of the plan.
func Estimates(plan results.Plan) analysis.Estimates {
	acc, err := analysis.NewAccumulator(plan)
	if err != nil {
		panic(err)
	}
	for i := range plan.Runs {
		if err := acc.Add(*League(plan, i)); err != nil {
			panic(err)
		}
	}
	return acc.Estimates(analysis.DefaultLevel)
}
