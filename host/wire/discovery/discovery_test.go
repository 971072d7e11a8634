package discovery_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire/discovery"
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

// TestReadOpenAPI: paths that are posted to, with the schema of their body, also
// where it is a reference; other text describes nothing.
func TestReadOpenAPI(t *testing.T) {
	t.Parallel()
	operations, ok := discovery.ReadOpenAPI([]byte(`{"openapi":"3.1.0","paths":{
		"/health":{"get":{}},
		"/register":{"post":{"operationId":"register_player","requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/R"}}}}}}},
		"components":{"schemas":{"R":{"type":"object","properties":{"name":{"type":"string"},"endpoint":{"type":"string"}},"required":["name","endpoint"]}}}}`))
	if !ok || len(operations) != 1 || operations[0].Path != "/register" || operations[0].Fit(protocol.TypeLeagueRegisterRequest) <= 0 {
		t.Fatalf("%v %+v", ok, operations)
	}
	body, err := operations[0].Body.Fill([]byte(`{"player_meta":{"display_name":"Ada","contact_endpoint":"http://h/mcp"}}`))
	var got map[string]any
	if err != nil || json.Unmarshal(body, &got) != nil || got["name"] != "Ada" || got["endpoint"] != "http://h/mcp" {
		t.Errorf("%s %v", body, err)
	}
	for _, text := range []string{``, `[]`, `{"paths":[]}`, `<html>`} {
		if operations, ok := discovery.ReadOpenAPI([]byte(text)); ok && len(operations) > 0 {
			t.Errorf("%q describes %+v", text, operations)
		}
	}
}

// TestSpreadKeepsTheMessage: what an agent says of itself is repeated beside the
// object that holds it, and nothing else changes.
func TestSpreadKeepsTheMessage(t *testing.T) {
	t.Parallel()
	var got map[string]any
	spread := discovery.Spread([]byte(`{"message_type":"LEAGUE_REGISTER_REQUEST","player_meta":{"display_name":"Ada","version":"1.0.0"}}`))
	if err := json.Unmarshal(spread, &got); err != nil {
		t.Fatal(err)
	}
	if got["display_name"] != "Ada" || got["version"] != "1.0.0" || got["message_type"] != "LEAGUE_REGISTER_REQUEST" || got["player_meta"] == nil {
		t.Errorf("%s", spread)
	}
}
