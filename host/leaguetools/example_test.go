package leaguetools_test

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/leaguetools"
	"github.com/strategylab/strategylab/host/protocol"
)

// A player that accepts invitations and calls for a choice offers two tools.
func ExampleTools() {
	tools, err := leaguetools.Tools(leaguetools.Agent{
		Role:  protocol.RolePlayer,
		Mode:  protocol.Strict,
		Takes: []protocol.Type{protocol.TypeGameInvitation, protocol.TypeChooseParityCall},
		Serve: func(context.Context, *jsonrpc.Request) (int, []byte) { return 503, nil },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, tool := range tools {
		fmt.Println(tool.Name)
	}
	// Output:
	// handle_game_invitation
	// parity_choose
}
