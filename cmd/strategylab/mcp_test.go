package main

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/assistants"
	"github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// assistant is a client of the lab, as an assistant has one.
type assistant struct {
	t       *testing.T
	session *mcp.ClientSession
	program string // that the server runs as, and its workers
	stderr  *lockedBuffer

	mu       sync.Mutex
	progress []string // messages
}

// assist starts a lab in a folder and connects to it over STDIO.
func assist(t *testing.T, dir string, args ...string) *assistant {
	t.Helper()
	return assistOver(t, own(t, dir, append([]string{"mcp"}, args...)...))
}

// assistOver starts a lab by a command line and connects to it over STDIO.
func assistOver(t *testing.T, cmd *exec.Cmd) *assistant {
	t.Helper()
	a := &assistant{t: t, program: cmd.Path, stderr: new(lockedBuffer)}
	cmd.Stderr = a.stderr
	a.connect(&mcp.CommandTransport{Command: cmd})
	return a
}

func (a *assistant) connect(transport mcp.Transport) {
	a.t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "assistant", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.progress = append(a.progress, r.Params.Message)
		},
	})
	session, err := client.Connect(a.t.Context(), transport, nil)
	if err != nil {
		a.t.Fatalf("connect: %v; stderr: %s", err, a.stderr)
	}
	a.session = session
	a.t.Cleanup(func() { _ = session.Close() }) // the end of the process is looked at where it matters
}

// call calls a tool and returns what it says and whether that is an error.
func (a *assistant) call(ctx context.Context, tool string, input any) (*mcp.CallToolResult, string, error) {
	a.t.Helper()
	params := &mcp.CallToolParams{Name: tool, Arguments: input}
	params.SetProgressToken("p")
	res, err := a.session.CallTool(ctx, params)
	if err != nil {
		return nil, "", err
	}
	text := ""
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text += t.Text
		}
	}
	return res, text, nil
}

// reported is the progress that was reported, a message a line.
func (a *assistant) reported() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.progress, "\n")
}

// answer calls a tool that must succeed.
func answer[Out any](a *assistant, tool string, input any) Out {
	a.t.Helper()
	res, text, err := a.call(a.t.Context(), tool, input)
	if err != nil || res.IsError {
		a.t.Fatalf("%s: %v %s; stderr: %s", tool, err, text, a.stderr)
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		a.t.Fatal(err)
	}
	var out Out
	if err := json.Unmarshal(raw, &out); err != nil {
		a.t.Fatalf("%s: %v in %s", tool, err, raw)
	}
	return out
}

// refused calls a tool that must refuse, and returns what it says.
func (a *assistant) refused(tool string, input any) string {
	a.t.Helper()
	res, text, err := a.call(a.t.Context(), tool, input)
	switch {
	case err != nil:
		return err.Error()
	case !res.IsError:
		a.t.Fatalf("%s %v: answered %s, want a refusal", tool, input, text)
	}
	return text
}

func (a *assistant) read(uri string) (string, error) {
	res, err := a.session.ReadResource(a.t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return "", err
	}
	return res.Contents[0].Text, nil
}

// gone ends the session and waits until none of its processes is left.
func (a *assistant) gone() {
	a.t.Helper()
	if err := a.session.Close(); err != nil {
		a.t.Errorf("the server ended with %v; stderr: %s", err, a.stderr)
	}
	vanishes(a.t, a.program)
}

const brokenLua = "-- Broken: forgets a bracket.\nfunction choose(turn\n  return 'even'\nend\n"

// The whole way of an assistant from the prompt to a strategy that is better.
func TestAssistantWritesAStrategy(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	a := assist(t, t.TempDir())
	source := a.example("lua")
	if api, err := a.read("strategylab://script-api/lua"); err != nil || !strings.Contains(api, "opponent_choice") {
		t.Fatalf("script API: %v, %.100s", err, api)
	}
	verdict := answer[assistants.CheckOutput](a, "check_strategy", assistants.CheckInput{Language: "lua", Source: brokenLua})
	if verdict.Ready || verdict.Failure == nil || verdict.Failure.Line != 3 || !strings.Contains(verdict.Summary, "line 3") {
		t.Fatalf("a script without a bracket: %+v", verdict)
	}
	verdict = answer[assistants.CheckOutput](a, "check_strategy", assistants.CheckInput{Language: "lua", Source: source, Name: "mine"})
	if !passed(verdict) || verdict.Trial == nil || len(verdict.Findings) < 10 {
		t.Fatalf("the example of the prompt: %+v", verdict)
	}
	verdict = answer[assistants.CheckOutput](a, "check_strategy", assistants.CheckInput{Language: "js", Source: a.example("js"), Name: "mine"})
	if !passed(verdict) {
		t.Fatalf("the example of the prompt in JavaScript: %+v", verdict)
	}
	verdict = answer[assistants.CheckOutput](a, "check_strategy", assistants.CheckInput{Language: "js", Source: "function choose(t) { return t.oponent ? 0.2 : 0.4; }", Name: "mine"})
	if !slices.ContainsFunc(verdict.Findings, func(f assistants.Finding) bool { return f.Check == "slip" && strings.Contains(f.What, "oponent") }) {
		t.Errorf("a slip of the author, which only a worker can watch: %+v", verdict)
	}
	mine := assistants.Player{Name: "mine", Language: "lua", Source: source, Copies: 1}
	a.story(mine)
	a.gone()
}

// passed reports whether a verdict has nothing against a strategy but, on a busy machine,
// how long its calls take.
func passed(v assistants.CheckOutput) bool {
	return v.Ready && !slices.ContainsFunc(v.Findings, func(f assistants.Finding) bool {
		return f.Level != "ok" && f.Level != "info" && !strings.HasPrefix(f.Check, "time-")
	})
}

// example is the code in the prompt.
func (a *assistant) example(language string) string {
	a.t.Helper()
	prompt, err := a.session.GetPrompt(a.t.Context(), &mcp.GetPromptParams{Name: "write_strategy", Arguments: map[string]string{"language": language}})
	if err != nil {
		a.t.Fatal(err)
	}
	_, after, found := strings.Cut(prompt.Messages[0].Content.(*mcp.TextContent).Text, "```"+language+"\n")
	source, _, closed := strings.Cut(after, "```")
	if !found || !closed {
		a.t.Fatalf("the prompt has no example in %s", language)
	}
	return source
}

// story plays, compares and explains a strategy that is ready.
func (a *assistant) story(mine assistants.Player) {
	t, seed := a.t, uint64(7)
	run := answer[assistants.RunOutput](a, "run_experiment", map[string]any{
		"players": []any{mine, knownPlayer("random", 2), knownPlayer("markov-2", 1), knownPlayer("alternate", 1)}, "runs": 60, "seed": seed,
	})
	if !strings.Contains(a.reported(), "60 of 60 leagues") {
		t.Errorf("progress: %q", a.reported())
	}
	if run.Outcome.Leagues != 60 || run.Outcome.Stopped != "complete" || len(run.Players) != 5 || len(run.Outcome.Digest) != 64 {
		t.Fatalf("experiment: %+v", run)
	}
	again := answer[assistants.RunOutput](a, "run_experiment", map[string]any{
		"players": []any{mine, knownPlayer("random", 2), knownPlayer("markov-2", 1), knownPlayer("alternate", 1)}, "runs": 60, "seed": seed,
	})
	if !strings.Contains(run.Note, "confirm once without a seed") || len(run.OtherFields) < 2 || run.Players[0].Title == nil {
		t.Errorf("no advice to confirm, no other fields or no titles: %+v", run)
	}
	if again.Outcome.Digest != run.Outcome.Digest {
		t.Errorf("the same seed gave the digests %s and %s", run.Outcome.Digest, again.Outcome.Digest)
	}
	compared := answer[assistants.CompareOutput](a, "compare_strategies", map[string]any{"player": mine, "baseline": knownPlayer("random", 1), "runs": 100, "seed": seed})
	if c := compared.Comparison; c.Verdict != "mine is better" || c.Difference.Low <= 0 || c.Corrected > 0.05 || !strings.Contains(compared.Summary, "mine is better") {
		t.Errorf("against chance: %+v", compared)
	}
	if c := compared.Comparison; c.Above == nil || c.Effect == nil || c.Effect.Low <= 0 || c.Titles == "" || !strings.Contains(compared.Note, "confirm") {
		t.Errorf("odds of one league: %+v", compared)
	}
	compared = answer[assistants.CompareOutput](a, "compare_strategies", map[string]any{"player": knownPlayer("always-even", 1), "baseline": knownPlayer("always-odd", 1), "opponents": []any{knownPlayer("random", 4)}, "runs": 100, "seed": seed})
	if compared.Comparison.Verdict != "no evidence that these differ" {
		t.Errorf("two that are the same against chance: %+v", compared.Comparison)
	}
	why := answer[assistants.ExplainOutput](a, "explain_strategy", map[string]any{"player": knownPlayer("alternate", 1), "runs": 150, "seed": seed})
	if why.Studied == nil || why.Studied.Hits.Low < 0.9 || len(why.Habits) != 5 {
		t.Errorf("an alternating strategy: %+v", why)
	}
	for _, h := range why.Habits[1:] { // after its own even comes odd, and the other way round
		if want := strings.Contains(h.After, "odd, the") || strings.Contains(h.After, "both said odd"); h.Times > 0 && (h.Even.Estimate > 0.9) != want {
			t.Errorf("alternate after %s: %+v", h.After, h.Even)
		}
	}
	dir := filepath.Dir(a.program) // the source that played is kept, so that a match can be shown again
	if text := run1(t, dir, exitOK, "replay", run.Outcome.Report.Path, "--match", "R1M1"); !strings.Contains(text, "PLAYER_A") {
		t.Errorf("replay: %s", text)
	}
	for _, suffix := range []string{"", "/json", "/html"} {
		if text, err := a.read(run.Outcome.Report.URI + suffix); err != nil || !strings.Contains(text, "mine") || !strings.Contains(text, run.Outcome.Digest) {
			t.Errorf("report %q: %v, %.200s", suffix, err, text)
		}
	}
	if list, err := a.read("strategylab://reports"); err != nil || strings.Count(list, "strategylab://") != 5 || !strings.Contains(list, run.Outcome.Report.URI) {
		t.Errorf("reports: %v, %s", err, list)
	}
}

func knownPlayer(name string, copies int) map[string]any {
	return map[string]any{"name": name, "copies": copies}
}

func luaPlayer(name, source string) map[string]any {
	return map[string]any{"name": name, "language": "lua", "source": source}
}

// One lab plays for commands and for tools: the same field and seed give the same
// leagues.
func TestToolAndCommandPlayTheSameLeagues(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	dir := t.TempDir()
	write(t, dir, "scripts/mine.lua", `function choose(turn) return turn.role == "PLAYER_A" and 0.25 or "odd" end`)
	write(t, dir, "scripts/module.wasm", string(wasmtest.Frequency().Bytes()))
	a := assist(t, dir)
	run := answer[assistants.RunOutput](a, "run_experiment", map[string]any{
		"players": []any{knownPlayer("mine", 1), knownPlayer("module", 1), knownPlayer("random", 2), knownPlayer("markov-2", 1)},
		"runs":    40, "legs": 3, "seed": 11,
	})
	a.gone()
	text := run1(t, dir, exitOK, "experiment", "--field", "mine,module,random*2,markov-2", "--runs", "40", "--legs", "3", "--seed", "11", "--out", "run", "--format", "json", "--quiet")
	if digest, leagues := digestOf(t, []byte(text)); digest != run.Outcome.Digest || leagues != 40 {
		t.Errorf("the command played %d leagues with digest %s, the tool %s", leagues, digest, run.Outcome.Digest)
	}
	text = run1(t, dir, exitOK, "analyze", filepath.FromSlash(run.Outcome.Report.Path), "--format", "json")
	if digest, _ := digestOf(t, []byte(text)); digest != run.Outcome.Digest {
		t.Errorf("analyze computes digest %s for the run of the tool, want %s", digest, run.Outcome.Digest)
	}
}
