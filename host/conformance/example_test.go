package conformance_test

import (
	"fmt"

	"github.com/strategylab/strategylab/host/conformance"
)

func ExampleSelect() {
	checks, err := conformance.Select(conformance.Checks(conformance.Player), []string{"player.join", "player.end.ack"})
	if err != nil {
		fmt.Println(err)
	}
	for _, c := range checks {
		fmt.Printf("%-6s %s\n", c.Level, c.ID)
	}
	// Output:
	// must   player.join.answer
	// should player.join.fields
	// should player.join.again
	// should player.end.ack
}

func ExampleReport_Failed() {
	r := conformance.Report{Outcomes: []conformance.Outcome{
		{ID: "player.join.answer", Level: conformance.Must, Status: conformance.Passed},
		{ID: "player.auth.token", Level: conformance.Should, Status: conformance.Failed},
		{ID: "player.hostile.verb", Level: conformance.Wild, Status: conformance.Failed},
	}}
	fmt.Println(r.Failed())
	// Output: should true
}
