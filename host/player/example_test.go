package player_test

import (
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// A player handles what managers and referees send it, and leaves its choices
// to a strategy.
func ExampleNew() {
	strategy, _ := builtin.Find("markov-1")
	p, err := player.New(player.Config{
		Config: agent.Config{
			Endpoint: "http://127.0.0.1:8101/mcp", Manager: wire.NewPeer("http://127.0.0.1:8000/mcp", dialect.Contracts), Caller: new(wire.Caller),
		},
		Factory: strategy,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	_, types := p.Dispatcher().Takes()
	slices.Sort(types)
	for _, t := range types {
		fmt.Println(t)
	}
	// Output:
	// CHOOSE_PARITY_CALL
	// GAME_ERROR
	// GAME_INVITATION
	// GAME_OVER
	// LEAGUE_COMPLETED
	// LEAGUE_STANDINGS_UPDATE
	// ROUND_ANNOUNCEMENT
	// ROUND_COMPLETED
}
