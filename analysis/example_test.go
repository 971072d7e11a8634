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
