package analysis_test

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/analysistest"
)

func ExampleAccumulator() {
	plan := analysistest.Plan()
	acc, err := analysis.NewAccumulator(plan)
	if err != nil {
		panic(err)
	}
	for i := range plan.Runs {
		if err := acc.Add(*analysistest.League(plan, i)); err != nil {
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
	plan := analysistest.Plan()
	s, err := analysis.NewScorer(plan)
	if err != nil {
		panic(err)
	}
	league := *analysistest.League(plan, 0)
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
