package script_test

import (
	"fmt"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/script"
)

// The comment at the top of a script describes it.
func ExampleDescribe() {
	info := script.Describe(strategies.Lua, "mine", "scripts/mine.lua", []byte("..."), []string{
		"Mine",
		"Says the opposite of what the opponent said last time.",
	})
	fmt.Println(info.Title)
	fmt.Println(info.Description)
	// Output:
	// Mine
	// Says the opposite of what the opponent said last time.
}
