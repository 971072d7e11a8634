package referee_test

import (
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
)

// A referee handles what managers and players send it.
func ExampleNew() {
	r, err := referee.New(referee.Config{Config: agent.Config{
		Endpoint: "http://127.0.0.1:8001/mcp", Manager: wire.NewPeer("http://127.0.0.1:8000/mcp", dialect.Contracts), Caller: new(wire.Caller),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, types := r.Dispatcher().Takes()
	slices.Sort(types)
	for _, t := range types {
		fmt.Println(t)
	}
	// Output:
	// CHOOSE_PARITY_RESPONSE
	// GAME_JOIN_ACK
	// LEAGUE_COMPLETED
	// LEAGUE_STANDINGS_UPDATE
	// ROUND_ANNOUNCEMENT
	// ROUND_COMPLETED
}
