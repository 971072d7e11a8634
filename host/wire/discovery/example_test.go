package discovery_test

import (
	"fmt"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
	"github.com/strategylab/strategylab/host/wire/discovery"
)

// A manager lists its tools. The one that registers players is found by its name,
// and gets the arguments that it declares.
func Example() {
	tools, _ := discovery.ReadTools([]byte(`{"tools":[
		{"name":"get_standings","inputSchema":{"type":"object","properties":{}}},
		{"name":"join_league","inputSchema":{"type":"object","properties":{"agent_name":{"type":"string"},"agent_url":{"type":"string"}}}}]}`))
	tool, found := tools.For(protocol.TypeLeagueRegisterRequest)
	message, err := rawjson.Parse([]byte(`{"message_type":"LEAGUE_REGISTER_REQUEST",
		"player_meta":{"display_name":"Ada","contact_endpoint":"http://127.0.0.1:8104/mcp"}}`))
	fmt.Println(tool.Name, found, string(tool.Input.Fill(message).Encode()), err)
	// Output: join_league true {"agent_name":"Ada","agent_url":"http://127.0.0.1:8104/mcp"} <nil>
}
