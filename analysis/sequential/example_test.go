package sequential_test

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis/sequential"
)

// shape is that of a league of three under a fair draw, with points in halves of a
// match.
var shape = sequential.Shape{
	Players: 3, Scale: 20, High: 3, Choices: 0.25,
}

func ExampleTracker() {
	t, err := sequential.NewTracker(shape, sequential.Options{
		Rule: sequential.Rule{Kind: sequential.Best}, Guarantee: sequential.Asymptotic, Level: 0.95,
	})
	if err != nil {
		panic(err)
	}
	for i := int64(0); !t.Done(); i++ {
		noise := i % 3 // the first player is ahead by one or two units in every league
		if err := t.Add([]int64{27 + noise, 25, 26 - i%2}); err != nil {
			panic(err)
		}
	}
	estimate, low, high := t.Interval(0)
	fmt.Printf("stopped after %d leagues: %.3f (%.3f to %.3f)\n", t.Leagues(), estimate, low, high)
	// Output:
	// stopped after 32 leagues: 1.398 (1.377 to 1.420)
}
