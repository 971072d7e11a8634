package plots_test

import (
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/plots"
)

func ExampleIntervals() {
	figure := plots.Intervals([]plots.Row{
		{Name: "mine", Value: analysis.Estimate{Estimate: 1.31, Low: 1.29, High: 1.33}},
		{Name: "random", Value: analysis.Estimate{Estimate: 1.25, Low: 1.24, High: 1.26}, Group: "tier 2"},
	}, "points per match")
	svg := figure.SVG(plots.Wide, "Adjusted points of two strategies")
	fmt.Println(svg[:4], strings.Contains(svg, ">mine<"), strings.Contains(svg, ">points per match<"))
	// Output: <svg true true
}
