package analysis_test

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// examplePlan is a league of three: one always says even, one always odd, one now this and now that.
func examplePlan() results.Plan {
	return results.Plan{
		Schema: results.PlanSchema, Runs: 100, Legs: 2, Seed: 1, Draw: "uniform:1-10", Transport: "direct",
		Field: []results.Entrant{{Name: "even"}, {Name: "odd"}, {Name: "mixed"}},
	}
}

// exampleLeague plays one league of the plan.
func exampleLeague(plan results.Plan, index int) results.League {
	l := results.League{Index: index, Seats: game.Seats(plan.Seed, index, len(plan.Field))}
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

func ExampleAccumulator() {
	plan := examplePlan()
	acc, err := analysis.NewAccumulator(plan)
	if err != nil {
		panic(err)
	}
	for i := range plan.Runs {
		if err := acc.Add(exampleLeague(plan, i)); err != nil {
			panic(err)
		}
	}
	e := acc.Estimates(analysis.DefaultLevel)
	for place, i := range e.Order {
		p := e.Players[i]
		fmt.Printf("%d %-7s %.3f (%.3f to %.3f), tier %d\n", place+1, p.Name,
			p.Adjusted.Estimate, p.Adjusted.Low, p.Adjusted.High, e.Ranking.TierOf()[i])
	}
	// Output:
	// 1 even    1.387 (1.369 to 1.406), tier 1
	// 2 odd     1.360 (1.341 to 1.379), tier 2
	// 3 mixed   1.248 (1.216 to 1.279), tier 3
}

func ExampleScorer() {
	plan := examplePlan()
	s, err := analysis.NewScorer(plan)
	if err != nil {
		panic(err)
	}
	league := exampleLeague(plan, 0)
	if err := s.Score(&league); err != nil {
		panic(err)
	}
	for i, p := range plan.Field {
		part, base := s.Value(analysis.Differ, i)
		c := s.Count(i)
		fmt.Printf("%-7s differed in %d of %d matches: %d won, %d tied, %d lost\n", p.Name, part, base, c.Wins, c.Draws, c.Losses)
	}
	// Output:
	// even    differed in 4 of 4 matches: 2 won, 0 tied, 2 lost
	// odd     differed in 4 of 4 matches: 2 won, 0 tied, 2 lost
	// mixed   differed in 4 of 4 matches: 2 won, 0 tied, 2 lost
}

func ExampleHolm() {
	fmt.Println(analysis.Holm([]float64{0.01, 0.04, 0.03}))
	// Output:
	// [0.03 0.06 0.06]
}
