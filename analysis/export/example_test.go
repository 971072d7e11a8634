package export_test

import (
	"os"

	"github.com/strategylab/strategylab/analysis/analysistest"
	"github.com/strategylab/strategylab/analysis/export"
)

func ExampleWriter() {
	plan := analysistest.Plan()
	w, err := export.NewWriter(os.Stdout, export.CSV, export.Matches, plan)
	if err != nil {
		panic(err)
	}
	if err := w.Append(analysistest.League(plan, 0)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	// Output:
	// league,match,round,player_a,player_b,choice_a,choice_b,fault_a,fault_b,number,points_a,points_b,adjusted_a,adjusted_b
	// 0,R1M1,1,odd,mixed,odd,even,,,6,0,3,1.5,1.5
	// 0,R2M1,2,mixed,even,odd,even,,,1,3,0,1.5,1.5
	// 0,R3M1,3,even,odd,even,odd,,,8,3,0,1.5,1.5
	// 0,R4M1,4,mixed,odd,even,odd,,,1,0,3,1.5,1.5
	// 0,R5M1,5,even,mixed,even,odd,,,8,3,0,1.5,1.5
	// 0,R6M1,6,odd,even,odd,even,,,6,0,3,1.5,1.5
}
