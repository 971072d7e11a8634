package jsscript_test

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/jsscript"
)

// Example compiles a script and asks it for a choice before and after a match.
func Example() {
	ctx := context.Background()
	script := "// Mine: repeats what the opponent chose last.\nfunction choose(turn) {\n  const last = turn.history.at(-1);\n  return last ? last.opponent_choice : 0.5;\n}\n"
	f, err := jsscript.Compile("mine", "scripts/mine.js", []byte(script), budget.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	fmt.Println(f.Info().Title)
	seat, err := f.New(ctx, strategies.Setup{ID: "P01", Rand: game.NewRand(game.Key{1, 2})})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer seat.Close()
	first, _ := seat.Choose(ctx, &strategies.Turn{MatchID: "R1M1", Opponent: "P02"})
	_ = seat.Observe(ctx, &strategies.Outcome{MatchID: "R1M1", Opponent: "P02", Choice: game.Even, OpponentChoice: game.Odd})
	second, _ := seat.Choose(ctx, &strategies.Turn{MatchID: "R2M1", Opponent: "P02"})
	fmt.Println(first, second == strategies.Odd)
	// Output:
	// Mine: repeats what the opponent chose last.
	// 0.5 true
}
