package host_test

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// A league of two players in memory. The drawn number is always 4, so that
// even wins.
func ExampleLeague_Play() {
	l := host.League{
		Network:  new(host.Memory),
		Manager:  manager.Config{Players: 2, Legs: 2, AllowHosts: []string{"*"}},
		Referees: []referee.Config{{Draw: func(referee.Match) (int, error) { return 4, nil }}},
	}
	for _, name := range []string{"always-odd", "always-even"} {
		f, _ := builtin.Find(name)
		l.Seats = append(l.Seats, player.Config{Config: agent.Config{Name: name}, Factory: f})
	}
	played, err := l.Play(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range played.Matches {
		fmt.Printf("%s: %s %v, %s %v, drew %d\n", m.ID, m.Players[0], m.Choices[0], m.Players[1], m.Choices[1], m.Number)
	}
	for _, s := range played.Standings {
		fmt.Println(s.Rank, s.PlayerID, s.DisplayName, s.Points)
	}
	// Output:
	// R1M1: P01 odd, P02 even, drew 4
	// R2M1: P02 even, P01 odd, drew 4
	// 1 P02 always-even 6
	// 2 P01 always-odd 0
}
