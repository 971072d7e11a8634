package calibration_test

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/analysis/calibration"
)

func ExampleField_Truth() {
	f := calibration.Edge(3, 10, 200, 0.1) // the first of three has an edge of 0.1
	truth := f.Truth()
	for i, points := range truth.Points {
		fmt.Printf("player %d expects %.4f points per match, differs with chance %.3f\n", i+1, points, truth.Differ[i])
	}
	// Output:
	// player 1 expects 1.2927 points per match, differs with chance 0.585
	// player 2 expects 1.2677 points per match, differs with chance 0.535
	// player 3 expects 1.2677 points per match, differs with chance 0.535
}

func ExampleMeasure() {
	rows, err := calibration.Measure(context.Background(), calibration.Equal(3, 5, 60), calibration.Options{Repetitions: 40, Seed: 100, Workers: 1})
	if err != nil {
		panic(err)
	}
	for _, r := range rows {
		if r.What == "coverage: adjusted points" || r.What == "a false winner" {
			fmt.Printf("%s: promise kept: %v\n", r.What, r.Kept())
		}
	}
	// Output:
	// coverage: adjusted points: promise kept: true
	// a false winner: promise kept: true
}
