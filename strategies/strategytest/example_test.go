package strategytest_test

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/luascript"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// Example checks a script whose author forgot that an opponent may be new.
func Example() {
	script := "function choose(turn)\n  return turn.history[1].choice\nend\n"
	f, err := luascript.Compile("mine", "scripts/mine.lua", []byte(script), budget.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	findings := strategytest.Check(context.Background(), f, strategytest.Config{})
	fmt.Println(findings[0].Level, findings[0].Where)
	fmt.Println(strategytest.Verdict(findings))
	// Output:
	// error scripts/mine.lua:2
	// Not ready: 2 problems to fix first.
}
