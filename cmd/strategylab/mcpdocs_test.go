package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestConfigurationsOfClientsWork starts what the documentation tells clients
// to start, and connects where it tells them to, on other ports.
func TestConfigurationsOfClientsWork(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(filepath.FromSlash("../../docs/mcp.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, ours, found := strings.Cut(string(doc), "## A league as MCP servers")
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(ours, -1)
	if !found || len(blocks) != 3 {
		t.Fatalf("found %d configurations, want 3", len(blocks))
	}
	r := start(t, t.TempDir(), "host", "--legs", "1", "--listen", "127.0.0.1:0")
	at := r.until("listening")["manager"].(string)
	const documented = "http://127.0.0.1:8000/mcp"
	for _, block := range blocks {
		type server struct {
			Command, URL string
			Args         []string
		}
		var config struct {
			MCPServers map[string]server `json:"mcpServers"`
			Servers    map[string]server
		}
		if err := json.Unmarshal([]byte(strings.ReplaceAll(block[1], documented, at)), &config); err != nil {
			t.Fatalf("%v:\n%s", err, block[1])
		}
		if len(config.MCPServers)+len(config.Servers) != 1 {
			t.Fatalf("no server in\n%s", block[1])
		}
		for _, servers := range []map[string]server{config.MCPServers, config.Servers} {
			for name, s := range servers {
				switch {
				case s.URL != "":
					offers(t, clientOf(t, &mcp.StreamableClientTransport{Endpoint: s.URL}, ""), managerTools)
				case filepath.Base(s.Command) == "strategylab":
					c := clientOf(t, &mcp.CommandTransport{Command: commandLine(t.Context(), t.TempDir(), s.Args...)}, "")
					offers(t, c, playerTools)
					r.until("agent_registered")
				default:
					t.Errorf("%s has neither a URL nor our command: %+v", name, s)
				}
			}
		}
	}
	interrupted(t, r, nil)
}
