package discovery_test

import (
	"encoding/json"
	"testing"

	"github.com/strategylab/strategylab/host/wire/discovery"
)

// TestFillFindsFieldsByTheWordsOfTheirNames: no list of synonyms holds every
// name that a program may give to an endpoint.
func TestFillFindsFieldsByTheWordsOfTheirNames(t *testing.T) {
	t.Parallel()
	schema := discovery.NewSchema([]byte(`{"type":"object","properties":{"agent_url":{"type":"string"},"playerCallbackUrl":{"type":"string"},
		"bot_name":{"type":"string"},"league_name":{"type":"string"},"games_played":{"type":"array"},"manager_url":{"type":"string"}},"required":["agent_url"]}`))
	filled, err := schema.Fill([]byte(`{"message_type":"LEAGUE_REGISTER_REQUEST","sender":"player:P04","player_meta":{"display_name":"Ada",
		"contact_endpoint":"http://127.0.0.1:8104/mcp","game_types":["even_odd"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(filled, &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"agent_url": "http://127.0.0.1:8104/mcp", "playerCallbackUrl": "http://127.0.0.1:8104/mcp", "bot_name": "Ada", "league_name": nil, "manager_url": nil} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
}
