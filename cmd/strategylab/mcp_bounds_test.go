package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/assistants"
)

// startWeb starts a server over HTTP and returns its URL.
func startWeb(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), "the lab listens at "); ok {
			go func() {
				for lines.Scan() { // a full pipe would hold the server up
				}
			}()
			return url
		}
	}
	t.Fatalf("the server did not start: %v", lines.Err())
	return ""
}

// workers is how many processes of a program there are besides the first.
func workers(program string) int {
	n := -1
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if exe, err := os.Readlink(link); err == nil && exe == program {
			n++
		}
	}
	return max(n, 0)
}

const slowLua = "function choose(turn) local n = 0 for i = 1, 50000 do n = n + i end return 0.5 end"

// long is an experiment that takes minutes.
func long() map[string]any {
	return map[string]any{"players": []any{luaPlayer("slow", slowLua), knownPlayer("random", 2)}, "runs": 5000, "legs": 3}
}

// An experiment that is called off ends at once with its workers, and what it
// has finished stays.
func TestExperimentIsCalledOff(t *testing.T) {
	t.Parallel()
	notRaced(t, "a worker would take more memory than it may")
	a := assist(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, _, err := a.call(ctx, "run_experiment", long())
		ended <- err
	}()
	until(t, "some leagues", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return len(a.progress) > 1
	})
	cancel()
	calledOff := time.Now()
	if err := <-ended; err == nil {
		t.Error("the call was answered, want it called off")
	}
	until(t, "the end of the workers", func() bool { return workers(a.program) == 0 })
	t.Logf("all workers had ended after %v", time.Since(calledOff))
	var list string
	until(t, "the report of what was finished", func() (ok bool) {
		list, _ = a.read("strategylab://reports")
		return strings.HasPrefix(list, "strategylab://")
	})
	if text, err := a.read(strings.TrimSpace(list)); err != nil || !strings.Contains(text, "of 5000 leagues") && !strings.Contains(text, "slow") {
		t.Errorf("report of what was finished: %v, %s", err, text)
	}
	a.gone()
}

// A call that arrives while the maximum number of experiments runs waits, learns so,
// and has its turn.
func TestExperimentsTakeTurns(t *testing.T) {
	t.Parallel()
	notRaced(t, "a worker would take more memory than it may")
	a := assist(t, t.TempDir(), "--at-once", "1")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reported := func(what string) func() bool {
		return func() bool {
			a.mu.Lock()
			defer a.mu.Unlock()
			return slices.ContainsFunc(a.progress, func(m string) bool { return strings.Contains(m, what) })
		}
	}
	first, second := make(chan error, 1), make(chan error, 1)
	go func() {
		_, _, err := a.call(ctx, "run_experiment", long())
		first <- err
	}()
	until(t, "the first experiment", reported("of 5000 leagues"))
	go func() {
		res, text, err := a.call(t.Context(), "run_experiment", map[string]any{"players": []any{knownPlayer("random", 3)}, "runs": 3})
		if err == nil && res.IsError {
			err = errors.New(text)
		}
		second <- err
	}()
	until(t, "the second to wait", reported("waiting for another experiment to end"))
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
	a.gone()
}

// A server that is asked to end in the middle of an experiment does so soon, with
// everything it has started; one that is killed leaves nothing behind, either.
func TestLabEndsInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), program(t, dir), "mcp")
		cmd.Dir = dir
		var stderr strings.Builder
		cmd.Stderr = &stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_experiment","arguments":{"players":[{"name":"slow","language":"lua","source":"` + slowLua + `"},{"name":"random","copies":3}],"runs":5000,"legs":3}}}`,
		} {
			if _, err := in.Write([]byte(line + "\n")); err != nil {
				t.Fatal(err)
			}
		}
		until(t, "a worker", func() bool { return workers(cmd.Path) > 0 })
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); (err != nil) != (signal == syscall.SIGKILL) {
			t.Errorf("%v: the server ended with %v; stderr: %s", signal, err, &stderr)
		}
		until(t, "the end of all processes of the server", func() bool { return !isRunning(cmd.Path) })
	}
}

// Hostile sources cost their own process, their matches, and nobody else.
func TestHostileSourcesOverMCP(t *testing.T) {
	t.Parallel()
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

// An experiment that exceeds the time limit returns what was finished. The field
// would need days for its leagues; a machine that finishes none in the time gets
// more of it.
func TestExperimentTakesTooLong(t *testing.T) {
	t.Parallel()
	notRaced(t, "a worker would take more memory than it may")
	const runs = 500_000
	for most := time.Second; ; most *= 3 {
		a := assist(t, t.TempDir(), "--max-time", most.String(), "--max-runs", strconv.Itoa(runs))
		endless := long()
		endless["runs"] = runs
		res, text, err := a.call(t.Context(), "run_experiment", endless)
		if err == nil && res.IsError && strings.Contains(text, "before a league was complete") {
			a.gone()
			continue
		}
		if err != nil || res.IsError || !strings.Contains(text, `"stopped":"time"`) || !strings.Contains(text, "Stopped (time) after ") {
			t.Errorf("within %v: %v, %.500s", most, err, text)
		}
		a.gone()
		return
	}
}
