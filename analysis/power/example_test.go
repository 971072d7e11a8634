package power_test

import (
	"fmt"
	"time"

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

func ExampleNewForecast() {
	took := make([]time.Duration, 59)
	for i := range took {
		took[i] = time.Duration(i+1) * time.Millisecond
	}
	f, err := power.NewForecast(took, time.Second, 1)
	if err != nil {
		panic(err)
	}
	fmt.Println(f)
	// Output:
	// 0 of 59 answers came after the deadline of 1s; half took 30ms at most, 99 % 59ms, the longest 59ms.
	// One attempt is late in at most 5 % of cases (95 % confidence), and with 2 attempts a match is lost in at most 0.25 %, if answers go on as measured and are late independently of each other.
}
