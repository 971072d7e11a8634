package agent_test

import (
	"testing"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/protocol"
)

func TestDefaultEndpoint(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ manager, id, want string }{
		{"http://127.0.0.1:8000/mcp", "P01", "http://127.0.0.1:8101/mcp"},
		{"http://localhost:9000/mcp", "P10", "http://localhost:8110/mcp"},
		{"https://league.example:8000/mcp", "P100", "https://league.example:8200/mcp"},
		{"http://[::1]:8000/mcp", "P02", "http://[::1]:8102/mcp"},
		{"http://127.0.0.1:8000/mcp", "P101", ""},
		{"http://127.0.0.1:8000/mcp", "P0", ""},
		{"http://127.0.0.1:8000/mcp", "player_3fa9c2d1", ""},
		{"://", "P01", ""},
	} {
		if got := agent.DefaultEndpoint(tt.manager, protocol.RolePlayer, tt.id); got != tt.want {
			t.Errorf("%s under %s is expected at %q, want %q", tt.id, tt.manager, got, tt.want)
		}
	}
}
