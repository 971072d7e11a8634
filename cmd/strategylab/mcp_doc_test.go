package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/assistants"
)

// configured is a server as the configurations of clients describe it.
type configured struct {
	Command, URL string
	Args         []string
}

// TestDocumentedConfigurations starts what the page on MCP tells clients to start, the lab and agents, and connects
// where it tells them to, on other ports.
func TestDocumentedConfigurations(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	page, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	host := start(t, t.TempDir(), "host", "--legs", "1", "--listen", "127.0.0.1:0")
	at := host.event("listening")["manager"].(string)
	labs, agents := 0, 0
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		var config struct {
			MCPServers, Servers map[string]configured
		}
		if err := json.Unmarshal([]byte(strings.ReplaceAll(block[1], "http://127.0.0.1:8000/mcp", at)), &config); err != nil {
			t.Errorf("%v in\n%s", err, block[1])
		}
		for _, servers := range []map[string]configured{config.MCPServers, config.Servers} {
			for _, s := range servers {
				switch {
				case s.URL != "":
					agents++
					offers(t, clientOf(t, &mcp.StreamableClientTransport{Endpoint: s.URL}, ""), managerTools)
				case slices.Contains(s.Args, "mcp"):
					labs++
					asConfigured(t, s)
				default:
					agents++
					offers(t, clientOf(t, &mcp.CommandTransport{Command: commandLine(t.Context(), t.TempDir(), s.Args...)}, ""), playerTools)
					host.event("agent_registered")
				}
			}
		}
	}
	if labs != 2 || agents != 3 {
		t.Errorf("the page has %d labs, want those of Claude Desktop and Cursor, and of VS Code, and %d agents, want 3", labs, agents)
	}
}

// asConfigured plays with a lab as a client starts it: anywhere.
func asConfigured(t *testing.T, s configured) {
	const documented = "/home/you/lab/" // where the page says that the program lies
	dir := t.TempDir()
	write(t, dir, "scripts/mine.lua", "function choose() return 1 end")
	if program(t, dir) != strings.Replace(s.Command, documented, dir+"/", 1) {
		t.Fatalf("the page starts %s", s.Command)
	}
	args := strings.Split(strings.ReplaceAll(strings.Join(s.Args, "\n"), documented, dir+"/"), "\n")
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "strategylab"), args...)
	cmd.Dir = t.TempDir()
	a := assistOver(t, cmd)
	run := answer[assistants.RunOutput](a, "run_experiment", map[string]any{"players": []any{knownPlayer("mine", 1), knownPlayer("random", 2)}, "runs": 2})
	if _, err := os.Stat(filepath.Join(dir, "runs/mcp/reports", run.Outcome.Report.ID, "report.html")); err != nil {
		t.Error(err)
	}
	a.gone()
}

// The answer that docs/mcp.md shows is what the tool answers.
func TestDocumentedAnswer(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	scripts, err := filepath.Abs("../../scripts")
	if err != nil {
		t.Fatal(err)
	}
	a := assist(t, t.TempDir(), "--scripts", scripts)
	short := answer[assistants.ListOutput](a, "list_strategies", nil)
	if text, err := json.Marshal(short); err != nil || len(text) > 8<<10 {
		t.Errorf("a list without details has %d bytes, %v", len(text), err)
	}
	for _, s := range answer[assistants.ListOutput](a, "list_strategies", map[string]any{"kind": "lua", "details": true}).Strategies {
		if s.Origin == "" || s.Description == "" || s.Name == "council" && len(s.Parameters) != 2 {
			t.Errorf("with details: %+v", s)
		}
	}
	out := answer[assistants.CompareOutput](a, "compare_strategies", map[string]any{"player": knownPlayer("council", 1), "baseline": knownPlayer("markov-2", 1), "seed": 1})
	c := out.Comparison
	numbers := fmt.Sprintf(`"difference": {"estimate": %v, "low": %v, "high": %v},
    "p": %v,
    "p_corrected": %v,
    "verdict": %q`, c.Difference.Estimate, c.Difference.Low, c.Difference.High, c.P, c.Corrected, c.Verdict)
	page, err := os.ReadFile("../../docs/mcp.md")
	if err != nil || !strings.Contains(string(page), out.Summary) || !strings.Contains(string(page), numbers) {
		t.Errorf("the page does not show what the tool answers, %v:\n%s\n%s", err, out.Summary, numbers)
	}
	// What was played can be looked at by the other commands.
	dir := filepath.Join(filepath.Dir(a.program), out.Outcome.Report.Path)
	for _, args := range [][]string{{"analyze", dir}, {"explain", dir, "council"}, {"replay", dir, "--league", "3", "--match", "R1M1", "--scripts", scripts}} {
		run1(t, filepath.Dir(a.program), exitOK, args...)
	}
}
