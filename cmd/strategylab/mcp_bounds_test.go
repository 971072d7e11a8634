package main

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/assistants"
)

const slowLua = "function choose(turn) local n = 0 for i = 1, 50000 do n = n + i end return 0.5 end"

// A call that arrives while the maximum number of experiments runs waits, learns so, and has its turn. An
// experiment that is called off ends at once with its workers, and what it has finished stays.
func TestExperimentsTakeTurns(t *testing.T) {
	t.Parallel()
	notRaced(t, "a worker would take more memory than it may")
	a := assist(t, t.TempDir(), "--at-once", "1")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run := func(ctx context.Context, input map[string]any) <-chan error {
		ended := make(chan error, 1)
		go func() {
			res, text, err := a.call(ctx, "run_experiment", input)
			if err == nil && res.IsError {
				err = errors.New(text)
			}
			ended <- err
		}()
		return ended
	}
	reported := func(what string) {
		t.Helper()
		until(t, what, func() bool { return strings.Contains(a.reported(), what) })
	}
	first := run(ctx, map[string]any{"players": []any{luaPlayer("slow", slowLua), knownPlayer("random", 2)}, "runs": 5000, "legs": 3}) // minutes
	reported("of 5000 leagues")
	second := run(t.Context(), map[string]any{"players": []any{knownPlayer("random", 3)}, "runs": 3})
	reported("waiting for another experiment to end")
	if list := answer[assistants.ListOutput](a, "list_strategies", nil); len(list.Strategies) == 0 {
		t.Error("nothing is listed meanwhile")
	}
	cancel()
	if err := <-second; err != nil {
		t.Errorf("the second, after the first: %v", err)
	}
	if err := <-first; err == nil {
		t.Error("the first was answered, want it called off")
	}
	until(t, "the end of the workers", func() bool { return running(a.program) <= 1 })
	until(t, "the report of what was finished", func() bool {
		list, _ := a.read("strategylab://reports")
		for uri := range strings.FieldsSeq(list) {
			if text, err := a.read(uri); err == nil && strings.Contains(text, "slow") {
				return true
			}
		}
		return false
	})
	a.gone()
}

// A server that is asked to end in the middle of an experiment does so soon, with
// everything it has started; one that is killed leaves nothing behind, either.
func TestLabEndsInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		cmd := own(t, t.TempDir(), "mcp")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		p := begin(t, cmd)
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_experiment","arguments":{"players":[{"name":"slow","language":"lua","source":"` + slowLua + `"},{"name":"random","copies":3}],"runs":5000,"legs":3}}}`,
		} {
			if _, err := in.Write([]byte(line + "\n")); err != nil {
				t.Fatal(err)
			}
		}
		until(t, "a worker", func() bool { return running(cmd.Path) > 1 })
		p.signal(signal)
		if code := p.code(); (code != exitOK) != (signal == syscall.SIGKILL) {
			t.Errorf("%v: the server ended with %d; stderr: %s", signal, code, p.err.String())
		}
		vanishes(t, cmd.Path)
	}
}

// Hostile sources cost their own process, their matches, and nobody else.
func TestHostileSourcesOverMCP(t *testing.T) {
	t.Parallel()
	whole(t, "TestHostileSet has others play beside hostile scripts")
	notRaced(t, "a worker would take more memory than it may")
	a := assist(t, t.TempDir(), "--time-limit", "50ms", "--max-time", "1m")
	for name, source := range map[string]string{
		"loops when it loads":   "while true do end",
		"eats it when it loads": "local t = {} for i = 1, 1e9 do t[i] = string.rep('x', 1000) .. i end function choose() return 1 end",
		"reaches out":           "function choose() return io.open('/etc/passwd'):read('*a') end",
	} {
		verdict := answer[assistants.CheckOutput](a, "check_strategy", map[string]any{"language": "lua", "source": source})
		if verdict.Ready || strings.Contains(verdict.Summary, "root:") {
			t.Errorf("a script that %s: %+v", name, verdict)
		}
	}
	run := answer[assistants.RunOutput](a, "run_experiment", map[string]any{
		"players": []any{luaPlayer("loops", "function choose() while true do end end"), luaPlayer("eats", "function choose() local s = 'x' while true do s = s .. s end end"), knownPlayer("random", 2)},
		"runs":    2, "legs": 2,
	})
	for _, p := range run.Players {
		if hostile := p.Kind == "lua"; hostile != (p.Technical == p.Matches) || hostile != (len(p.Faults) > 0) || hostile != p.Yours {
			t.Errorf("%s: %d of %d matches lost by technical loss, faults %+v, yours is %v", p.Name, p.Technical, p.Matches, p.Faults, p.Yours)
		}
	}
	if !strings.Contains(strings.Split(run.Summary, "In 2 leagues")[0], "by failing") || !strings.Contains(run.Summary, "Yours, ") {
		t.Errorf("summary: %s", run.Summary)
	}
	a.gone()
}
