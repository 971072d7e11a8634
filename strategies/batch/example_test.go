package batch_test

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/batch"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// Example opens two seats and asks both for a choice in one step.
func Example() {
	f, _ := builtin.Find("role")
	b, err := batch.Of(f).NewBatch(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	var step strategies.Step
	for id := range strategies.SeatID(2) {
		key := game.Key{uint64(id)}
		step.Open = append(step.Open, strategies.OpenSeat{Seat: id, Setup: strategies.Setup{Key: key, Rand: game.NewRand(key)}})
		turn := strategies.Turn{Role: game.RoleA + game.Role(id)}
		step.Choose = append(step.Choose, strategies.SeatTurn{Seat: id, Turn: turn})
	}
	if err := b.Step(context.Background(), &step); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(step.Choices[0] == strategies.Even, step.Choices[1] == strategies.Odd)
	// Output: true true
}
