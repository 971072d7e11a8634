package robust_test

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis/robust"
)

func Example() {
	r := robust.Of(symmetric(), 7)
	fmt.Printf("the third is first in %.0f %% of fields\n", 100*r.Players[2].First)
	for _, x := range r.Without {
		if x.Place > 1 {
			fmt.Println("without", x.Out, "player", x.First, "leads")
		}
	}
	// Output:
	// the third is first in 55 % of fields
	// without [0 1] player 3 leads
}
