package power_test

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis/power"
)

func ExampleSetup_Leagues() {
	s := power.Setup{Players: 8, Legs: 10, Differ: 0.5, Level: 0.95, Chance: 0.9}
	for _, effect := range []float64{0.05, 0.01} {
		adjusted, err := s.Leagues(power.Adjusted, effect)
		if err != nil {
			panic(err)
		}
		raw, err := s.Leagues(power.Raw, effect)
		if err != nil {
			panic(err)
		}
		fmt.Printf("effect %v: %d leagues, or %d with raw points\n", effect, adjusted, raw)
	}
	// Output:
	// effect 0.05: 91 leagues, or 2254 with raw points
	// effect 0.01: 2137 leagues, or 53926 with raw points
}
