package export_test

import (
	"os"

	"github.com/strategylab/strategylab/analysis/export"
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

func ExampleWriter() {
	plan := examplePlan()
	w, err := export.NewWriter(os.Stdout, export.CSV, export.Matches, plan)
	if err != nil {
		panic(err)
	}
	if err := w.Append(exampleLeague(plan, 0)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	// Output:
	// league,match,round,player_a,player_b,choice_a,choice_b,fault_a,fault_b,number,points_a,points_b,adjusted_a,adjusted_b
	// 0,R1M1,1,odd,mixed,odd,even,,,1,3,0,1.5,1.5
	// 0,R2M1,2,mixed,even,odd,even,,,4,0,3,1.5,1.5
	// 0,R3M1,3,even,odd,even,odd,,,7,0,3,1.5,1.5
	// 0,R4M1,4,mixed,odd,even,odd,,,10,3,0,1.5,1.5
	// 0,R5M1,5,even,mixed,even,odd,,,3,0,3,1.5,1.5
	// 0,R6M1,6,odd,even,odd,even,,,6,0,3,1.5,1.5
}
