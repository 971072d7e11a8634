package contrast_test

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis/analysistest"
	"github.com/strategylab/strategylab/analysis/contrast"
)

func ExampleContrast() {
	before, after := analysistest.Plan(), analysistest.Plan()
	after.Field[2].Fingerprint = "sha256:new"
	c, err := contrast.New(before, after)
	if err != nil {
		panic(err)
	}
	for i := range before.Runs {
		changed := analysistest.League(after, i)
		for k := range changed.Matches {
			changed.Matches[k].Number = changed.Matches[k].Number%10 + 1 // another draw, the same choices
		}
		if err := c.AddPair(analysistest.League(before, i), changed); err != nil {
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
