package fairness_test

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis/fairness"
	"github.com/strategylab/strategylab/host/game"
)

func ExampleUniform() {
	numbers := []int{3, 3, 3, 7, 3, 3, 1, 3, 3, 3, 3, 10, 3, 3, 3}
	t := fairness.Uniform(game.FairDraw(), numbers)
	fmt.Printf("%s p = %.2g\n%s\n", t.Question, t.P, t.Visible())
	// Output:
	// Do the numbers come as often as uniform:1-10 says? p = 3.4e-09
	// one number coming 306 % too often would be seen four times in five
}
