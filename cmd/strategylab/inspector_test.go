package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// inspectorVariable names the command-line program of the inspector of the
// Model Context Protocol: node_modules/.bin/mcp-inspector where the package of
// .ci/inspector is installed.
const inspectorVariable = "MCP_INSPECTOR"

func needsInspector(t *testing.T) {
	t.Helper()
	if os.Getenv(inspectorVariable) == "" {
		t.Skipf("%s is not set: .ci/run says how to install the inspector, which needs Node", inspectorVariable)
	}
}

// inspect has the inspector, a program of others in another language, talk to a
// server and returns what it prints.
func inspect(t *testing.T, into any, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Getenv(inspectorVariable), append([]string{"--cli"}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	p := begin(t, cmd)
	if p.code() != exitOK || json.Unmarshal([]byte(p.out.String()), into) != nil {
		t.Fatalf("%q: %v\n%s%s", args, p.ProcessState, p.out.String(), p.err.String())
	}
}

// inspected is what the inspector prints of a list of tools or of a call.
type inspected struct {
	Tools             []struct{ Name string }
	StructuredContent map[string]any
	Content           []struct{ Text string }
	IsError           bool
}

// TestInspector has the inspector list and call tools over both transports.
func TestInspector(t *testing.T) {
	t.Parallel()
	needsInspector(t)
	for kind, want := range map[string][]string{"player": playerTools, "referee": refereeTools} {
		t.Run("STDIO "+kind, func(t *testing.T) {
			t.Parallel()
			// The inspector starts the server itself, and passes flags on only if
			// they are not its own.
			inspectTools(t, want, append([]string{program(t, t.TempDir())}, append(agentFlagsFor(kind), "--stdio")...)...)
		})
		t.Run("HTTP "+kind, func(t *testing.T) {
			t.Parallel()
			r := start(t, t.TempDir(), agentFlagsFor(kind)...)
			inspectTools(t, want, r.event("listening")["url"].(string), "--transport", "http")
			r.kill()
		})
	}
	t.Run("HTTP host", func(t *testing.T) {
		t.Parallel()
		r := start(t, t.TempDir(), "host", "--legs", "1", "--listen", "127.0.0.1:0", "--field", "random,markov-1", "--admin-token", "secret")
		url := r.event("listening")["manager"].(string)
		var list, started inspected
		inspect(t, &list, url, "--transport", "http", "--method", "tools/list")
		sameTools(t, list, managerTools)
		inspect(t, &started, url, "--transport", "http", "--method", "tools/call", "--tool-name", "start_league",
			"--tool-arg", "protocol=league.v2", "--tool-arg", "message_type=START_LEAGUE", "--tool-arg", "sender=launcher",
			"--tool-arg", "timestamp=2026-01-01T12:00:00Z", "--tool-arg", "conversation_id=c", "--tool-arg", "auth_token=secret", "--tool-arg", "league_id=league_2025_even_odd")
		if started.IsError || started.StructuredContent["message_type"] != "LEAGUE_STATUS" {
			t.Errorf("start_league: %+v", started)
		}
		r.event("league_completed")
		r.kill()
	})
}

// inspectTools lists the tools of an agent and calls one of a player's.
func inspectTools(t *testing.T, want []string, server ...string) {
	t.Helper()
	var list inspected
	inspect(t, &list, append(server, "--method", "tools/list")...)
	sameTools(t, list, want)
	tool, field, value := "game_join_ack", "error_code", ""
	args := []string{}
	if want[0] == playerTools[0] {
		tool, field, value = "parity_choose", "parity_choice", "even"
		args = []string{"--tool-arg", "match_id=R1M1", "--tool-arg", "sender=referee:REF01"}
	}
	var answer inspected
	inspect(t, &answer, slices.Concat(server, []string{"--method", "tools/call", "--tool-name", tool}, args)...)
	got, _ := answer.StructuredContent[field].(string)
	if answer.IsError != (value == "") || got == "" || value != "" && got != value || len(answer.Content) == 0 {
		t.Errorf("%s: %+v", tool, answer)
	}
}

func sameTools(t *testing.T, list inspected, want []string) {
	t.Helper()
	var got []string
	for _, tool := range list.Tools {
		got = append(got, tool.Name)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("tools %q, want %q", got, want)
	}
}

// labTools are the tools of the lab without --allow-save.
var labTools = []string{
	"check_strategy", "compare_strategies", "explain_strategy", "league_status", "list_strategies", "run_experiment", "show_strategy",
}

// TestInspectorInTheLab has the inspector list and call the lab's tools, read its
// resources and get its prompt over both transports.
func TestInspectorInTheLab(t *testing.T) {
	t.Parallel()
	needsInspector(t)
	t.Run("STDIO", func(t *testing.T) {
		t.Parallel()
		inspectLab(t, program(t, t.TempDir()), "mcp")
	})
	t.Run("HTTP", func(t *testing.T) {
		t.Parallel()
		p := launch(t, t.TempDir(), "mcp", "--http", "127.0.0.1:0")
		inspectLab(t, p.err.until(`the lab listens at (\S+)\n`)[1], "--transport", "http")
		p.interrupt(exitOK)
	})
}

func inspectLab(t *testing.T, server ...string) {
	t.Helper()
	ask := func(into any, args ...string) { inspect(t, into, append(server, args...)...) }
	var list, shown, broken inspected
	ask(&list, "--method", "tools/list")
	sameTools(t, list, labTools)
	// No tool that plays: the inspector waits a minute for an answer, however busy the machine is.
	ask(&shown, "--method", "tools/call", "--tool-name", "show_strategy", "--tool-arg", "name=random")
	if kind, _ := shown.StructuredContent["kind"].(string); kind != "builtin" || shown.IsError {
		t.Errorf("a built-in strategy: %+v", shown)
	}
	ask(&broken, "--method", "tools/call", "--tool-name", "show_strategy", "--tool-arg", "name=nobody")
	if !broken.IsError || len(broken.Content) == 0 || !strings.Contains(broken.Content[0].Text, `no strategy "nobody"`) {
		t.Errorf("a strategy that is not there: %+v", broken)
	}
	var api struct{ Contents []struct{ Text string } }
	ask(&api, "--method", "resources/read", "--uri", "strategylab://script-api/lua")
	if len(api.Contents) != 1 || !strings.Contains(api.Contents[0].Text, "opponent_choice") {
		t.Errorf("script API: %+v", api)
	}
	var prompt struct {
		Messages []struct{ Content struct{ Text string } }
	}
	ask(&prompt, "--method", "prompts/get", "--prompt-name", "write_strategy", "--prompt-args", "language=lua")
	if len(prompt.Messages) != 1 || !strings.Contains(prompt.Messages[0].Content.Text, "```lua\n") {
		t.Errorf("prompt: %+v", prompt)
	}
}
