package schema_test

import (
	"fmt"

	"github.com/strategylab/strategylab/host/wire/schema"
)

// A registry compiles the schemas of a tool when they are first needed. A
// violation names the place and the rule, and no value.
func ExampleRegistry() {
	tools, err := schema.NewRegistry(schema.Tool{
		Name:   "roll",
		Input:  []byte(`{"type":"object","properties":{"sides":{"type":"integer","minimum":2}},"required":["sides"]}`),
		Output: []byte(`{"type":"object","properties":{"number":{"type":"integer"}}}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	roll, err := tools.LoadToolIO("roll")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(roll.CheckInput([]byte(`{"sides":6}`), ""))
	fmt.Println(roll.CheckInput([]byte(`{"sides":1}`), "/params/input"))
	fmt.Println(roll.CheckInput([]byte(`{}`), "/params/input"))
	// Output:
	// []
	// [{/params/input/sides minimum}]
	// [{/params/input/sides required}]
}
