package jsscript_test

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/jsscript"
)

// Example compiles a script and asks it for a choice.
func Example() {
	ctx := context.Background()
	script := "// Mine: always even.\nfunction choose(turn) { return 'even' }\n"
	f, err := jsscript.Compile("mine", "scripts/mine.js", []byte(script), budget.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	seat, err := f.New(ctx, strategies.Setup{ID: "P01", Rand: game.NewRand(game.Key{1, 2})})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer seat.Close()
	choice, err := seat.Choose(ctx, &strategies.Turn{MatchID: "R1M1", Opponent: "P02"})
	fmt.Println(f.Info().Title, choice == strategies.Even, err)
	// Output: Mine: always even. true <nil>
}
