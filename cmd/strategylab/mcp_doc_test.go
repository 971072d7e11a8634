package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/assistants"
)

// documented is where the page on MCP says that the program lies.
const documented = "/home/you/lab/"

// configured is a server as the configurations of clients describe it.
type configured struct {
	Command, URL string
	Args         []string
}

// serversIn returns the servers of all configurations on a page.
func serversIn(t *testing.T, page string) []configured {
	t.Helper()
	var all []configured
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(page, -1) {
		var config struct {
			MCPServers, Servers map[string]configured
		}
		if err := json.Unmarshal([]byte(block[1]), &config); err != nil {
			t.Errorf("%v in\n%s", err, block[1])
		}
		for _, servers := range []map[string]configured{config.MCPServers, config.Servers} {
			for _, s := range servers {
				all = append(all, s)
			}
		}
	}
	return all
}

// What the page tells users to put into their clients starts a server.
func TestDocumentedConfigurationsWork(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	page, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	lab, _, _ := strings.Cut(string(page), "## A league as MCP servers") // that part has a test of its own
	servers := serversIn(t, lab)
	if len(servers) != 2 {
		t.Fatalf("the page has %d servers, want those of Claude Desktop and Cursor, and of VS Code", len(servers))
	}
	for _, s := range servers {
		dir := t.TempDir()
		write(t, dir, "scripts/mine.lua", "function choose() return 1 end")
		if !strings.HasPrefix(s.Command, documented) || program(t, dir) != filepath.Join(dir, strings.TrimPrefix(s.Command, documented)) {
			t.Fatalf("the page starts %s", s.Command)
		}
		var args []string
		for _, arg := range s.Args {
			if rest, ours := strings.CutPrefix(arg, documented); ours {
				arg = filepath.Join(dir, rest)
			}
			args = append(args, arg)
		}
		cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "strategylab"), args...)
		cmd.Dir = t.TempDir() // clients start servers anywhere
		a := assistOver(t, cmd)
		run := answer[assistants.RunOutput](a, "run_experiment", map[string]any{"players": []any{knownPlayer("mine", 1), knownPlayer("random", 2)}, "runs": 2})
		if _, err := os.Stat(filepath.Join(dir, "runs/mcp/reports", run.Outcome.Report.ID, "report.html")); err != nil {
			t.Error(err)
		}
		a.gone()
	}
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
	for file, wants := range map[string][]string{"../../docs/mcp.md": {out.Summary, numbers}} {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(page), want) {
				t.Errorf("%s does not show what the tool answers:\n%s", file, want)
			}
		}
	}
	// What was played can be looked at by the other commands.
	dir := filepath.Join(filepath.Dir(a.program), out.Outcome.Report.Path)
	for _, args := range [][]string{{"analyze", dir}, {"explain", dir, "council"}, {"replay", dir, "--league", "3", "--match", "R1M1", "--scripts", scripts}} {
		run1(t, filepath.Dir(a.program), exitOK, args...)
	}
}

// TestConfigurationsOfClientsWork starts what the documentation tells clients
// to start, and connects where it tells them to, on other ports.
func TestConfigurationsOfClientsWork(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, t.TempDir(), "host", "--legs", "1", "--listen", "127.0.0.1:0")
	at := r.event("listening")["manager"].(string)
	_, ours, _ := strings.Cut(strings.ReplaceAll(string(page), "http://127.0.0.1:8000/mcp", at), "## A league as MCP servers")
	servers := serversIn(t, ours)
	if len(servers) != 3 {
		t.Fatalf("found %d configurations, want 3", len(servers))
	}
	for _, s := range servers {
		switch {
		case s.URL != "":
			offers(t, clientOf(t, &mcp.StreamableClientTransport{Endpoint: s.URL}, ""), managerTools)
		case filepath.Base(s.Command) == "strategylab":
			c := clientOf(t, &mcp.CommandTransport{Command: commandLine(t.Context(), t.TempDir(), s.Args...)}, "")
			offers(t, c, playerTools)
			r.event("agent_registered")
		default:
			t.Errorf("a server with neither a URL nor our command: %+v", s)
		}
	}
	interrupted(t, r, nil)
}
