package catalog_test

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/strategies/catalog"
)

// Example resolves a field as a user writes it.
func Example() {
	cat, err := catalog.Load(context.Background(), catalog.Config{Dir: "../.."})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cat.Close()
	refs, err := catalog.ParseRefs("markov-2, scripts/council.lua, random*2")
	if err != nil {
		fmt.Println(err)
		return
	}
	field, err := cat.Field(context.Background(), refs)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range field.Players {
		fmt.Println(p.Name, p.Info.Kind)
	}
	_, err = cat.Resolve(context.Background(), "makrov-2")
	fmt.Println(err)
	// Output:
	// markov-2 builtin
	// council lua
	// random#1 builtin
	// random#2 builtin
	// no strategy "makrov-2"; did you mean "markov-2"?
}
