package agent_test

import (
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/protocol"
)

// TestConvention: player P0N belongs to port 810N and referee REF0N to 800N.
func TestConvention(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		role protocol.Role
		id   string
		port int
	}{
		{protocol.RolePlayer, "P04", 8104}, {protocol.RolePlayer, "p4", 8104}, {protocol.RolePlayer, "P100", 8200},
		{protocol.RolePlayer, "P101", 0}, {protocol.RolePlayer, "P00", 0}, {protocol.RolePlayer, "P6F", 0},
		{protocol.RolePlayer, "P-4", 0}, {protocol.RolePlayer, "Team 7", 0}, {protocol.RolePlayer, "REF01", 0},
		{protocol.RoleReferee, "REF01", 8001}, {protocol.RoleReferee, "REF11", 0}, {protocol.RoleReferee, "P01", 0},
	} {
		if got := agent.PortOf(c.role, c.id); got != c.port {
			t.Errorf("%s %s is at port %d, want %d", c.role, c.id, got, c.port)
		}
	}
	for port, want := range map[int]string{8101: "P01", 8104: "P04", 8200: "P100", 8100: "", 8201: "", 9000: ""} {
		if got := agent.IDAt(protocol.RolePlayer, port); got != want {
			t.Errorf("at port %d is %q, want %q", port, got, want)
		}
	}
	for _, c := range []struct{ manager, id, want string }{
		{"http://localhost:9000/mcp", "P10", "http://localhost:8110/mcp"},
		{"https://league.example:8000/mcp", "P100", "https://league.example:8200/mcp"},
		{"http://[::1]:8000/mcp", "REF10", "http://[::1]:8010/mcp"},
		{"http://127.0.0.1:8000/mcp", "player_3fa9c2d1", ""},
		{"://", "P01", ""},
	} {
		role := protocol.RolePlayer
		if strings.HasPrefix(c.id, "REF") {
			role = protocol.RoleReferee
		}
		if got := agent.DefaultEndpoint(c.manager, role, c.id); got != c.want {
			t.Errorf("%s under %s is expected at %q, want %q", c.id, c.manager, got, c.want)
		}
	}
}
