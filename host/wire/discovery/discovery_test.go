package discovery_test

import (
	"slices"
	"testing"

	"github.com/strategylab/strategylab/host/protocol"
)

// TestFitTellsMessagesApart: names that programs were seen to use, and others of
// the same words, belong to one message each.
func TestFitTellsMessagesApart(t *testing.T) {
	t.Parallel()
	types := []protocol.Type{
		protocol.TypeLeagueRegisterRequest, protocol.TypeRefereeRegisterRequest, protocol.TypeGameInvitation,
		protocol.TypeChooseParityCall, protocol.TypeGameOver, protocol.TypeLeagueStandingsUpdate,
	}
	for name, want := range map[string]protocol.Type{
		"register_player": protocol.TypeLeagueRegisterRequest, "registerPlayer": protocol.TypeLeagueRegisterRequest,
		"register_referee":        protocol.TypeRefereeRegisterRequest,
		"receive_game_invitation": protocol.TypeGameInvitation, "game_invitation": protocol.TypeGameInvitation, "onInvitation": protocol.TypeGameInvitation,
		"chooseParity": protocol.TypeChooseParityCall, "ChooseParity": protocol.TypeChooseParityCall, "choose-parity": protocol.TypeChooseParityCall,
		"choose.parity": protocol.TypeChooseParityCall, "CHOOSE_PARITY": protocol.TypeChooseParityCall, "/choose/parity/": protocol.TypeChooseParityCall,
		"parity_choose": protocol.TypeChooseParityCall, "choose_parity": protocol.TypeChooseParityCall, "receive_parity_call": protocol.TypeChooseParityCall,
		"notify_match_result": protocol.TypeGameOver, "game_over": protocol.TypeGameOver,
		"notify_standings": protocol.TypeLeagueStandingsUpdate, "update_standings": protocol.TypeLeagueStandingsUpdate,
	} {
		best := slices.MaxFunc(types, func(a, b protocol.Type) int { return protocol.Fit(name, a) - protocol.Fit(name, b) })
		if best != want || protocol.Fit(name, want) <= 0 {
			t.Errorf("%s fits %s best (%d), want %s (%d)", name, best, protocol.Fit(name, best), want, protocol.Fit(name, want))
		}
	}
	if fit := protocol.Fit("health", protocol.TypeLeagueRegisterRequest); fit > 0 {
		t.Errorf("health fits a registration: %d", fit)
	}
}
