package chunk_test

import (
	"fmt"

	"github.com/strategylab/strategylab/experiments/chunk"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Example sends the record of a league to another process and back.
func Example() {
	plan := results.Plan{
		Schema: results.PlanSchema, Runs: 100, Legs: 1, Draw: "uniform:1-10", Transport: "direct",
		Field: []results.Entrant{{Name: "one"}, {Name: "two"}},
	}
	encoder, err := chunk.NewEncoder(plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	decoder, err := chunk.NewDecoder(plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	even, odd := game.Side{Choice: game.Even}, game.Side{Choice: game.Odd}
	records, err := encoder.Encode([]results.League{{Index: 17, Seats: []int{1, 0}, Matches: []results.Match{{A: even, B: odd, Number: 4}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	leagues := make([]results.League, 1)
	fmt.Println(decoder.Decode(records, 17, leagues), leagues[0].Seats, leagues[0].Matches[0].Number)
	fmt.Println(decoder.Decode(records, 18, leagues) != nil, decoder.Decode(records[:5], 17, leagues) != nil, decoder.Decode(append(records, 0), 17, leagues) != nil)
	// Output:
	// <nil> [1 0] 4
	// true true true
}
