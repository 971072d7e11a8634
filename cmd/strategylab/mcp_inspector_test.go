package main

import (
	"os"
	"strings"
	"testing"
)

// labTools are the tools of the lab without --allow-save.
var labTools = []string{
	"check_strategy", "compare_strategies", "explain_strategy", "league_status", "list_strategies", "run_experiment", "show_strategy",
}

// TestInspectorInTheLab has the inspector list and call the lab's tools, read its
// resources and get its prompt over both transports.
func TestInspectorInTheLab(t *testing.T) {
	t.Parallel()
	if os.Getenv(inspectorVariable) == "" {
		t.Skipf("%s is not set: .ci/run says how to install the inspector, which needs Node", inspectorVariable)
	}
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
	var list, verdict, broken inspected
	ask(&list, "--method", "tools/list")
	sameTools(t, list, labTools)
	ask(&verdict, "--method", "tools/call", "--tool-name", "check_strategy", "--tool-arg", "language=lua",
		"--tool-arg", "source=function choose(turn) return 'even' end")
	if ready, _ := verdict.StructuredContent["ready"].(bool); !ready || verdict.IsError {
		t.Errorf("a strategy that always says even: %+v", verdict)
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
