package wasmscript_test

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/wasmscript"
)

// Example compiles a module, written out byte by byte, whose choose takes nothing and says
// odd, and asks it for a choice.
func Example() {
	ctx := context.Background()
	module := "\x00asm\x01\x00\x00\x00" +
		"\x01\x05\x01\x60\x00\x01\x7c" + // a type: nothing to f64
		"\x03\x02\x01\x00" + // one function of that type
		"\x07\x0a\x01\x06choose\x00\x00" + // its name
		"\x0a\x0d\x01\x0b\x00\x44\x00\x00\x00\x00\x00\x00\x00\x00\x0b" // f64.const 0: even with chance 0
	f, err := wasmscript.Compile("stubborn", "scripts/stubborn.wasm", []byte(module), wasmscript.Config{})
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
	fmt.Println(choice == strategies.Odd, err)
	// Output: true <nil>
}
