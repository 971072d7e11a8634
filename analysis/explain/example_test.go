package explain_test

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis/analysistest"
	"github.com/strategylab/strategylab/analysis/explain"
)

func ExampleCollector() {
	plan := analysistest.Plan()
	c, err := explain.NewCollector(plan, explain.Options{})
	if err != nil {
		panic(err)
	}
	for i := range plan.Runs {
		if err := c.Add(analysistest.League(plan, i)); err != nil {
			panic(err)
		}
	}
	e := analysistest.Estimates(plan)
	x := c.Explanations(&e)
	for _, p := range x.Players {
		fmt.Printf("%-7s says even in %.0f %%, best rule: %s (%.0f %%)\n", p.Name,
			100*p.Even.Estimate, p.Met.Predictor, 100*p.Met.Estimate)
	}
	// Output:
	// even    says even in 100 %, best rule: it says even (100 %)
	// odd     says even in 0 %, best rule: it says odd (100 %)
	// mixed   says even in 44 %, best rule: it says odd (52 %)
}
