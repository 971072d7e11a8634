package player_test

import (
	"fmt"

	"github.com/strategylab/strategylab/host/conformance/player"
)

func ExampleSuite() {
	s := player.Suite()
	first, last := s.Checks[0], s.Checks[len(s.Checks)-1]
	fmt.Println(s.Role, first.ID, last.ID)
	// Output: player player.register.rpc player.end.again
}
