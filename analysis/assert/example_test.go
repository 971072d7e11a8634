package assert_test

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/analysistest"
	"github.com/strategylab/strategylab/analysis/assert"
)

func ExampleJudge() {
	plan := analysistest.Plan()
	j, err := assert.NewJudge(plan, []string{"odd.adjusted > mixed.adjusted", "odd.technical_losses == 0", "even.ties < 100"}, nil)
	if err != nil {
		panic(err)
	}
	acc, err := analysis.NewAccumulator(plan)
	if err != nil {
		panic(err)
	}
	for i := range plan.Runs {
		l := analysistest.League(plan, i)
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
