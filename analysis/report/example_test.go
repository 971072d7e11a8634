package report_test

import (
	"os"

	"github.com/strategylab/strategylab/analysis/analysistest"
	"github.com/strategylab/strategylab/analysis/report"
)

func ExampleWriteTable() {
	plan := analysistest.Plan()
	run := report.Run{Plan: plan, Estimates: analysistest.Estimates(plan), Facts: report.Facts{Reproducible: true}, Yours: []int{1}}
	if err := report.WriteTable(os.Stdout, report.New(run), report.Screen{Width: 100}); err != nil {
		panic(err)
	}
	// Output:
	// even scores most against these opponents: 1.39 points a match (95 % interval 1.36 to 1.41, corrected
	//   for picking the first), ahead of both others.
	// Yours, odd, is 2nd: ahead of 1 and behind 1; it scores least against mixed.
	//
	// #  places     strategy  kind  points         raw   wins  differs
	// 1       1  -  even            1.387 ±0.019  1.35  37.5%    77.5%
	// 2       2  *  odd             1.360 ±0.019  1.36  36.0%    72.0%
	// 3       3  +  mixed           1.248 ±0.032  1.28  26.0%    49.5%
	//
	// sorted by points per match without the luck of the draw, ± their 95 % interval; raw: as the referee
	//   gave them; places: possible by expected points in this field; +: odd is significantly above, -:
	//   below, ~: no evidence, *: yours.
	// What a script or plugin does in fewer than 3 % of leagues, such as failing, may have stayed unseen
	//   in 100 leagues; intervals and places do not allow for it.
	// 100 leagues of 3 strategies, 2 legs, draw uniform:1-10, seed 1
	// --details adds tiers, titles, corrections and the digest.
}
