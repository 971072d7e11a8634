package builtin_test

import (
	"fmt"

	"github.com/strategylab/strategylab/strategies/builtin"
)

func ExampleFind() {
	f, ok := builtin.Find("copy-last")
	fmt.Println(ok, f.Info().Title)
	// Output: true What the opponent played last
}
