package report_test

import (
	"os"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/report"
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

func ExampleWriteTable() {
	plan := examplePlan()
	run := report.Run{Plan: plan, Estimates: exampleEstimates(plan), Facts: report.Facts{Reproducible: true}}
	if err := report.WriteTable(os.Stdout, run, 100); err != nil {
		panic(err)
	}
	// Output:
	// 100 leagues of 3 strategies, 2 legs, draw uniform:1-10, seed 1
	//
	// #     strategy  tier  places        points      adjusted  win%  differ%  titles%  rank  tech.
	// 1  >  even         1       1  1.373 ±0.052  1.387 ±0.019  38.2     77.5     36.8  1.84      0
	// 2  >  odd          2       2  1.360 ±0.052  1.360 ±0.019  36.0     72.0     27.8  1.97      0
	// 3     mixed        3       3  1.262 ±0.093  1.248 ±0.032  25.2     49.5     35.3  2.19      0
	//
	// Significant differences between neighbours: 2 of 2 (>); adjusted intervals are 2.9 times narrower
	//   than raw ones (variance ratio 8.3).
	// Significant differences among all pairs: 3 of 3 (by Holm's method 3). Tier 1 is every strategy that
	//   no other significantly beats; places are the places that the evidence allows. All of these hold
	//   together with 95 % confidence.
	// even is first of 3 with 1.3875 adjusted points; corrected for selection: 1.3875 (1.3684 to 1.4066).
	// 600 matches
}
