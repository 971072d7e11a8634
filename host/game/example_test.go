package game_test

import (
	"fmt"

	"github.com/strategylab/strategylab/host/game"
)

// A drawn number decides for the player who chose its parity; equal choices are a tie.
func ExampleJudge() {
	even, odd := game.Side{Choice: game.Even}, game.Side{Choice: game.Odd}
	for _, m := range []struct{ a, b game.Side }{{even, odd}, {odd, odd}, {even, game.Side{Fault: game.FaultTimeout}}} {
		v := game.Judge(m.a, m.b, 4)
		fmt.Printf("%v %d : %d %v\n", v.ResultA, v.PointsA, v.PointsB, v.ResultB)
	}
	// Output:
	// win 3 : 0 loss
	// draw 1 : 1 draw
	// win 3 : 0 technical_loss
}

// In a field of three, one player has a bye in each round.
func ExampleSchedule() {
	s, err := game.NewSchedule(3, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for round := 1; round <= s.Rounds(); round++ {
		for _, m := range s.Round(round) {
			fmt.Println(m.ID, game.PlayerID(m.A), game.PlayerID(m.B))
		}
		if seat, ok := s.Bye(round); ok {
			fmt.Println("bye:", game.PlayerID(seat))
		}
	}
	// Output:
	// R1M1 P02 P03
	// bye: P01
	// R2M1 P03 P01
	// bye: P02
	// R3M1 P01 P02
	// bye: P03
}

// Standings are ranked by points, then by the results between equal players.
func ExampleTable() {
	t := game.NewTable(2)
	t.Add(0, 1, game.Judge(game.Side{Choice: game.Odd}, game.Side{Choice: game.Even}, 8))
	for _, row := range t.Ranking() {
		fmt.Println(game.PlayerID(row.Seat), row.Points)
	}
	// Output:
	// P02 3
	// P01 0
}
