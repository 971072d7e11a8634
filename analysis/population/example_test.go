package population_test

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/analysistest"
	"github.com/strategylab/strategylab/analysis/population"
)

func ExampleNewView() {
	plan := analysistest.Plan()
	e := analysistest.Estimates(plan)
	never := analysis.Estimate{Estimate: 0, Low: 0, High: 0.05} // a copy of itself says the same
	g, err := population.NewGame(plan, &e, []population.Mirror{
		{Strategy: "even", Leagues: 100, Differ: never}, {Strategy: "odd", Leagues: 100, Differ: never}, {Strategy: "mixed", Leagues: 100, Differ: never},
	}, nil)
	if err != nil {
		panic(err)
	}
	v := population.NewView(g)
	fmt.Println("at an equilibrium:", v.Trajectory.Settled)
	for _, m := range v.Members {
		fmt.Printf("%-7s final share %.2f, invades %.1f, worst opponent %s\n", m.Name, m.Share.Estimate, m.Invades.Estimate, m.Worst)
	}
	// Output:
	// at an equilibrium: true
	// even    final share 0.49, invades 5.8, worst opponent mixed
	// odd     final share 0.49, invades 5.4, worst opponent mixed
	// mixed   final share 0.01, invades 4.0, worst opponent odd
}
