package main

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
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
	whole(t, "TestToolAndCommandPlayTheSameLeagues and those of package assistants call its tools one by one")
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

// story plays and compares a strategy that is ready.
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
	dir := filepath.Dir(a.program) // the source that played is kept, so that a match can be shown again
	if text := run1(t, dir, exitOK, "replay", run.Outcome.Report.Path, "--match", "R1M1"); !strings.Contains(text, "PLAYER_A") {
		t.Errorf("replay: %s", text)
	}
	for _, suffix := range []string{"", "/json", "/html"} {
		if text, err := a.read(run.Outcome.Report.URI + suffix); err != nil || !strings.Contains(text, "mine") || !strings.Contains(text, run.Outcome.Digest) {
			t.Errorf("report %q: %v, %.200s", suffix, err, text)
		}
	}
	if list, err := a.read("strategylab://reports"); err != nil || strings.Count(list, "strategylab://") != 3 || !strings.Contains(list, run.Outcome.Report.URI) {
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

// startWeb starts a server over HTTP and returns its URL.
func startWeb(t *testing.T, dir string, args ...string) (p *process, url string) {
	t.Helper()
	cmd := own(t, dir, append([]string{"mcp", "--http", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), "STRATEGYLAB_MCP_TOKEN="+webToken)
	p = begin(t, cmd)
	return p, p.err.until(`the lab listens at (\S+)\n`)[1]
}

const webToken = "0123456789abcdef"

// The same over HTTPS, behind a token.
func TestAssistantOverHTTPS(t *testing.T) {
	t.Parallel()
	trusted := httptest.NewTLSServer(nil) // for its certificate
	defer trusted.Close()
	pair := trusted.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})))
	write(t, dir, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
	p, url := startWeb(t, dir, "--tls-cert", "cert.pem", "--tls-key", "key.pem")
	if !strings.HasPrefix(url, "https://") {
		t.Fatalf("the server is at %s", url)
	}
	for _, shown := range []string{"", "Bearer wrong", "Basic " + webToken} {
		client := http.Client{Transport: bearer{shown, trusted.Client().Transport}}
		res, err := client.Post(url, "application/json", strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("Authorization %q: status %d, want 401", shown, res.StatusCode)
		}
	}
	a := &assistant{t: t, program: p.Path, stderr: &p.err.lockedBuffer}
	a.connect(&mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer{"Bearer " + webToken, trusted.Client().Transport}}})
	if list := answer[assistants.ListOutput](a, "list_strategies", map[string]any{"kind": "builtin"}); len(list.Strategies) < 10 || list.Strategies[0].Title == "" {
		t.Errorf("strategies: %+v", list)
	}
	if run := answer[assistants.RunOutput](a, "run_experiment", map[string]any{"players": []any{knownPlayer("random", 3)}, "runs": 20}); run.Outcome.Leagues != 20 {
		t.Errorf("experiment: %+v", run)
	}
	p.interrupt(exitOK)
	vanishes(t, p.Path)
}

// bearer shows an authorization with every request.
type bearer struct {
	shown string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", b.shown)
	return b.next.RoundTrip(req)
}

// What is wrong with an input is said in a sentence, whatever it is.
func TestBadInputsOverMCP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var scripts []any
	for i := range 17 {
		name := fmt.Sprintf("s%d", i)
		write(t, dir, "scripts/"+name+".lua", "function choose() return 1 end")
		scripts = append(scripts, knownPlayer(name, 1))
	}
	a := assist(t, dir, "--max-runs", "1000")
	field := []any{knownPlayer("random", 3)}
	var crowd []any
	for i := range 9 {
		crowd = append(crowd, luaPlayer(fmt.Sprintf("p%d", i), "function choose() return 1 end"))
	}
	for _, bad := range []struct {
		tool  string
		input map[string]any
		want  string
	}{
		{"run_experiment", map[string]any{}, "/players is missing"},
		{"run_experiment", map[string]any{"players": []any{knownPlayer("random", 1)}}, "a league needs at least 2 players, but this field has 1"},
		{"run_experiment", map[string]any{"players": field, "runs": 1001}, "/runs want at most 1000"},
		{"run_experiment", map[string]any{"players": field, "leagues": 10}, `there is not: "leagues"`},
		{"run_experiment", map[string]any{"players": field, "draw": "dice"}, `draw "dice": want uniform:FIRST-LAST or weights:`},
		{"run_experiment", map[string]any{"players": []any{knownPlayer("randon", 3)}}, `no strategy "randon"; did you mean "random"?`},
		{"run_experiment", map[string]any{"players": []any{knownPlayer("../../etc/passwd", 3)}}, "/players/0/name want a text that matches"},
		{"run_experiment", map[string]any{"players": []any{knownPlayer("random", 1), knownPlayer("random", 1)}}, "two players are called random"},
		{"run_experiment", map[string]any{"players": []any{map[string]any{"name": "x", "source": "x"}, field[0]}}, "source and language (lua or js) need each other"},
		{"run_experiment", map[string]any{"players": []any{luaPlayer("x", "function"), field[0]}}, "player x does not load: x.lua:1: load: "},
		{"run_experiment", map[string]any{"players": crowd}, "9 players have a source"},
		{"run_experiment", map[string]any{"players": scripts}, "17 players are scripts, each in its own process; want at most 16"},
		{"run_experiment", map[string]any{"players": []any{knownPlayer("random", 8), knownPlayer("role", 8), knownPlayer("biased", 8), knownPlayer("markov-1", 8), knownPlayer("markov-2", 1)}}, "the field has 33 players"},
		{"run_experiment", map[string]any{"players": []any{knownPlayer("random", 8), knownPlayer("role", 8), knownPlayer("biased", 8)}, "runs": 1000, "legs": 100}, "27600000 matches, want at most 5000000"},
		{"run_experiment", map[string]any{"players": []any{"../../etc/passwd", "random"}}, "/players/0 want a text that matches"},
		{"run_experiment", map[string]any{"players": []any{7, "random"}}, "/players/0 is of type number, want string or object"},
		{"compare_strategies", map[string]any{"player": "random", "baseline": "random"}, "player and baseline are both called random"},
		{"explain_strategy", map[string]any{"player": map[string]any{"name": "random", "path": "x"}}, `/player has a property that there is not: "path"`},
		{"show_strategy", map[string]any{"name": "scripts/mine.lua"}, "/name want a text that matches"},
		{"show_strategy", map[string]any{"name": "nobody"}, `no strategy "nobody"`},
		{"check_strategy", map[string]any{"language": "python", "source": "x"}, `/language want one of "lua", "js"`},
		{"check_strategy", map[string]any{"language": "lua", "source": strings.Repeat("x", 256<<10+1)}, "/source has 262145 characters, want at most 262144"},
		{"league_status", map[string]any{"league": "../x"}, "/league want a text that matches"},
		{"save_strategy", map[string]any{"name": "x", "language": "lua", "source": "x"}, `unknown tool "save_strategy"`},
	} {
		if got := a.refused(bad.tool, bad.input); !strings.Contains(got, bad.want) || strings.Contains(got, filepath.Dir(a.program)) {
			t.Errorf("%s %.200v:\n got %s\nwant %s", bad.tool, bad.input, got, bad.want)
		}
	}
	_, err := a.session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "write_strategy", Arguments: map[string]string{"language": "cobol"}})
	if err == nil || !strings.Contains(err.Error(), `language is "cobol", want lua or js`) {
		t.Errorf("a prompt for another language: %v", err)
	}
}

// Nothing that is asked for leads out of the lab's folders, by whatever link.
func TestMCPStaysInItsFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret := "function choose() return 1 end -- secret\n"
	write(t, dir, "outside/secret.lua", secret)
	write(t, dir, "outside/leagues/open/standings.json", `{"league_id":"secret"}`)
	write(t, dir, "outside/report.txt", "secret")
	write(t, dir, "lab/scripts/own.lua", "-- Own: always even.\nfunction choose() return 'even' end\n")
	write(t, dir, "lab/data/reports/real/report.txt", "a report")
	write(t, dir, "lab/data/data/leagues/kept/standings.json", `{"league_id":"kept","status":"RUNNING","total_rounds":3,"rounds_completed":1,"standings":[{"rank":1,"player_id":"P01","played":2,"points":6}]}`)
	for link, to := range map[string]string{
		"lab/scripts/linked.lua": "../../outside/secret.lua", "lab/data/reports/linked": "../../../outside",
		"lab/data/data/leagues/open": "../../../../outside/leagues/open", "lab/data/reports/real/summary.json": "../../../../outside/report.txt",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	a := assist(t, filepath.Join(dir, "lab"), "--data-dir", "data", "--allow-save")
	said := ""
	say := func(v any) { said += fmt.Sprintf("%+v\n", v) }
	list := answer[assistants.ListOutput](a, "list_strategies", map[string]any{"kind": "lua"})
	say(list)
	if len(list.Strategies) != 2 || list.Strategies[0].Error == "" || list.Strategies[1].Title != "Own: always even." {
		t.Errorf("strategies: %+v", list)
	}
	say(answer[assistants.ShowOutput](a, "show_strategy", map[string]any{"name": "linked"}))
	say(a.refused("run_experiment", map[string]any{"players": []any{knownPlayer("linked", 1), knownPlayer("random", 2)}}))
	say(a.refused("save_strategy", map[string]any{"name": "linked", "language": "lua", "source": "function choose() return 1 end", "overwrite": true}))
	leagues := answer[assistants.LeagueOutput](a, "league_status", nil)
	say(leagues)
	if i := slices.IndexFunc(leagues.Leagues, func(l assistants.League) bool { return l.ID == "kept" }); i < 0 || leagues.Leagues[i].Rounds != 3 || leagues.Leagues[i].Standings[0].Points != 6 {
		t.Errorf("leagues: %+v", leagues)
	}
	if _, err := a.read("strategylab://reports/linked"); err == nil {
		t.Error("a report behind a link is read")
	}
	if text, err := a.read("strategylab://reports/real"); err != nil || text != "a report" {
		t.Errorf("a report that is there: %v, %q", err, text)
	}
	if strings.Contains(said, "secret") || strings.Contains(said, dir) {
		t.Errorf("said %s", said)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "outside/secret.lua")); err != nil || string(got) != secret {
		t.Errorf("the file outside: %v, %q", err, got)
	}
}

// Scripts are saved where that is allowed, and never over others unasked.
func TestSaveStrategy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := assist(t, dir, "--allow-save")
	first, second := "function choose() return 'even' end", "-- Second.\nfunction choose() return 'odd' end"
	save := func(source string, overwrite, replaced bool) {
		t.Helper()
		out := answer[assistants.SaveOutput](a, "save_strategy", map[string]any{"name": "mine", "language": "lua", "source": source, "overwrite": overwrite})
		shown := answer[assistants.ShowOutput](a, "show_strategy", map[string]any{"name": "mine"})
		if out.Replaced != replaced || out.File != "scripts/mine.lua" || shown.Source != source {
			t.Errorf("saved: %+v; shown: %+v", out, shown)
		}
	}
	save(first, false, false)
	if got := a.refused("save_strategy", map[string]any{"name": "mine", "language": "lua", "source": second}); !strings.Contains(got, "overwrite: true") {
		t.Errorf("saved twice: %s", got)
	}
	save(second, true, true)
	for want, in := range map[string]map[string]any{
		"does not load":                {"name": "x", "language": "lua", "source": "function"},
		"another strategy is called":   {"name": "random", "language": "lua", "source": first},
		"is called mine (scripts/mine": {"name": "mine", "language": "js", "source": "function choose() { return 1; }"},
	} {
		if got := a.refused("save_strategy", in); !strings.Contains(got, want) {
			t.Errorf("save %v: %s, want %s", in, got, want)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "scripts", "*"))
	if err != nil || len(files) != 1 {
		t.Errorf("%v: %q", err, files)
	}
}

// The managers that were named are asked, and no others.
func TestLeagueStatusOfManagers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	host := start(t, dir, "host", "--legs", "1", "--listen", "127.0.0.1:0", "--field", "random,role", "--players", "3", "--league-id", "spring", "--data-dir", "kept", "--admin-token", "open-sesame")
	url := host.event("listening")["manager"].(string)
	a := assist(t, t.TempDir(), "--manager", "spring="+url, "--manager", "gone=http://127.0.0.1:1/mcp", "--data-dir", filepath.Join(dir, "kept"), "--admin-token", "open-sesame")
	var out assistants.LeagueOutput
	until(t, "two registered players", func() bool {
		out = answer[assistants.LeagueOutput](a, "league_status", nil)
		return len(out.Leagues) > 0 && len(out.Leagues[0].Standings) == 2
	})
	if g := out.Leagues[0]; g.ID != "spring" || g.Origin != "manager" || g.Status == "" || g.Error != "" {
		t.Errorf("a league that waits: %+v", g)
	}
	if g := out.Leagues[1]; g.ID != "gone" || g.Error == "" {
		t.Errorf("a manager that is not there: %+v", g)
	}
	host.signal(os.Interrupt)
	host.code()
	out = answer[assistants.LeagueOutput](a, "league_status", map[string]any{"league": "spring"})
	if len(out.Leagues) != 2 || out.Leagues[0].Error == "" || out.Leagues[1].Origin != "stored" || len(out.Leagues[1].Standings) != 2 {
		t.Errorf("after its end: %+v", out)
	}
}

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
