package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// studioProcess is the command studio, running.
type studioProcess struct {
	*process
	url    string
	tokens map[string]string
	team   string // the authorization of calls
}

// openStudio starts the command in a folder; it ends with the test.
func openStudio(t *testing.T, dir string, args ...string) *studioProcess {
	t.Helper()
	return opened(begin(t, own(t, dir, append([]string{"studio"}, args...)...)))
}

// opened waits until a studio serves, and reads what it prints.
func opened(p *process) *studioProcess {
	p.t.Helper()
	s := &studioProcess{process: p, tokens: map[string]string{}}
	s.url = p.out.until(` is at (http://127\.0\.0\.1:\d+/)`)[1]
	if slices.Contains(p.Args, "--team") {
		p.out.until("which only you can read\n")
	}
	for _, m := range regexp.MustCompile(`(?m)^  (\S+).*#token=(\S+)$`).FindAllStringSubmatch(p.out.String(), -1) {
		s.tokens[m[1]] = m[2]
	}
	return s
}

// end interrupts the command, which then ends with all that it has started.
func (s *studioProcess) end() {
	s.t.Helper()
	s.interrupt(exitOK)
	vanishes(s.t, s.Path)
}

// call calls an action of the page as a team, if there are any, and returns the last line of its answer.
func (s *studioProcess) call(action string, in map[string]any, header ...string) (status int, answer studioAnswer) {
	s.t.Helper()
	status, answer, err := s.request(action, in, header...)
	if err != nil {
		s.t.Fatal(err)
	}
	return status, answer
}

// says is call for an answer that must have a status and texts.
func (s *studioProcess) says(status int, action string, in map[string]any, texts ...string) studioAnswer {
	s.t.Helper()
	got, a := s.call(action, in)
	all := strings.ReplaceAll(fmt.Sprintf("%+v", a), "\u00a0", " ")
	for _, text := range texts {
		if !strings.Contains(all, text) {
			s.t.Errorf("%s: no %q in %s", action, text, all)
		}
	}
	if got != status {
		s.t.Errorf("%s: status %d, want %d: %s", action, got, status, all)
	}
	return a
}

// as has the calls that follow come from a team.
func (s *studioProcess) as(token string) { s.team = "Bearer " + token }

// request is call for a studio that may have ended.
func (s *studioProcess) request(action string, in map[string]any, header ...string) (status int, answer studioAnswer, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return 0, answer, err
	}
	status, text, err := fetch(s.t.Context(), http.MethodPost, s.url+"api/"+action, string(body), append([]string{"Authorization", s.team}, header...)...)
	if err != nil {
		return 0, answer, err
	}
	all := strings.Split(strings.TrimSpace(text), "\n")
	if err := json.Unmarshal([]byte(all[len(all)-1]), &answer); err != nil {
		answer.Error = text
	}
	return status, answer, nil
}

type studioAnswer struct {
	HTML, List, Message, Error string
	Text                       struct{ File, Source, Version string }
	Findings                   []struct {
		Level, What, Hint string
		Line              int
	}
}

// A strategy is created, broken, mended, tried, followed and saved over the socket, and
// the command ends with Ctrl-C.
func TestStudio(t *testing.T) {
	t.Parallel()
	whole(t, "TestStudioOfAClass saves and plays, and those of host/web/studio show each action")
	notRaced(t, ownProcesses)
	dir := t.TempDir()
	s := openStudio(t, dir, "strategies")
	file := filepath.Join(dir, "strategies", "mine.lua")
	holds := func(want string) {
		t.Helper()
		if text, err := os.ReadFile(file); err != nil || string(text) != want {
			t.Errorf("the file is %q, %v", text, err)
		}
	}
	script := func(source string) map[string]any { return map[string]any{"file": "mine.lua", "source": source} }
	made := s.says(200, "new", script(""), "mine.lua", "mine: plays against")
	source := made.Text.Source
	holds(source)
	s.says(200, "check", script(source), "<bdi>Ready", "place ")
	broken := strings.Replace(source, "return 0.5", "return nothing.here", 1)
	line := strings.Count(broken[:strings.Index(broken, "nothing.here")], "\n") + 1
	if a := s.says(200, "check", script(broken)); len(a.Findings) == 0 || a.Findings[0].Level != "error" || a.Findings[0].Line != line {
		t.Errorf("an error in line %d: %+v", line, a.Findings)
	}
	if a := s.says(200, "check", script("function choose(turn\n return")); len(a.Findings) != 1 || a.Findings[0].Line != 2 {
		t.Errorf("a script that does not load: %+v", a)
	}
	mended := strings.Replace(source, "return 0.5", `print("<b>nothing known</b> of " .. turn.opponent) return "even"`, 1)
	trial := map[string]any{"file": "mine.lua", "source": mended, "before": source, "compare": true, "field": []string{"random", "markov-2", "hedge"}, "leagues": 30, "league": 3, "against": "hedge"}
	first := s.says(200, "try", trial, "30 leagues of 5 players, seed 1", "mine-before", "Compared with the version before: ", "Confirm on a fresh seed", `data-against="hedge"`)
	if again := s.says(200, "try", trial); again.HTML != first.HTML {
		t.Errorf("the same trial differs:\n%s\n%s", first.HTML, again.HTML)
	}
	if a := s.says(200, "confirm", trial, "fresh seed: report these"); strings.Contains(a.HTML, "seed 1<") {
		t.Errorf("confirmed: %+v", a)
	}
	if a := s.says(200, "league", trial, "&lt;b&gt;nothing known&lt;/b&gt; of P0", "the version before"); strings.Count(a.HTML, "<bdi>hedge</bdi>") != 10 || strings.Contains(a.HTML, "markov-2") {
		t.Errorf("want 10 matches, against hedge: %+v", a)
	}
	s.says(200, "try", map[string]any{"file": "mine.lua", "source": mended, "before": "nonsense(", "compare": true, "leagues": 2}, "tried without it")
	saved := s.says(200, "save", map[string]any{"file": "mine.lua", "source": mended, "version": made.Text.Version})
	holds(mended)
	s.says(http.StatusConflict, "save", map[string]any{"file": "mine.lua", "source": "lost", "version": made.Text.Version}, "has changed since it was opened")
	write(t, dir, "strategies/mine.lua", "of another editor")
	s.says(http.StatusConflict, "save", map[string]any{"file": "mine.lua", "source": "lost", "version": saved.Text.Version})
	holds("of another editor")
	s.end()
}

// No name leaves the folder, by itself or through a link, and pages of others are kept out.
func TestStudioStaysInItsFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"secret.lua": "secret", "mine/<img src=x>.lua": "", "mine/left\u202eright.js": "", "mine/binary.wasm": "\x00asm", "mine/latin.lua": "\xff", "mine/long.lua": strings.Repeat("-", 300<<10),
	} {
		write(t, dir, name, text)
	}
	if err := os.Symlink(filepath.Join(dir, "secret.lua"), filepath.Join(dir, "mine", "link.lua")); err != nil {
		t.Fatal(err)
	}
	s := openStudio(t, dir, "mine")
	s.says(200, "app", nil, "&lt;img src=x&gt;.lua", "left?right.js", "binary.wasm", "compiled", "longer than 256 KiB", "not a regular file")
	for _, name := range []string{"../secret.lua", "..%2fsecret.lua", "/etc/passwd", "link.lua", "mine/../../secret.lua", "..\\secret.lua", "secret.lua\x00.lua", "binary.wasm", "README.md", ".hidden.lua",
		"<img src=x>.lua", "latin.lua", "long.lua", "", strings.Repeat("long", 2500) + ".lua", "a.lua.lua", "CON:.lua"} {
		for _, action := range []string{"open", "new", "save", "check", "try", "league"} {
			status, a := s.call(action, map[string]any{"file": name, "source": "x = 1", "leagues": 1, "version": ""})
			draft := slices.Contains([]string{"link.lua", "latin.lua", "long.lua"}, name) && slices.Contains([]string{"check", "try", "league"}, action) // which may have such a name
			if status == 200 && !draft || strings.Contains(fmt.Sprint(a), "secret\n") || strings.Contains(a.Error, dir) || len(a.Error) > 500 {
				t.Errorf("%s %q: %d %.300v", action, name, status, a)
			}
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "secret.lua")); err != nil || string(text) != "secret" {
		t.Errorf("the file outside is %q, %v", text, err)
	}
	for _, header := range [][]string{{"Origin", "http://elsewhere.example"}, {"Sec-Fetch-Site", "cross-site"}, {"Host", "rebound.example"}} {
		if status, _ := s.call("open", map[string]any{"file": "latin.lua"}, header...); status != http.StatusForbidden {
			t.Errorf("with %v: status %d, want 403", header, status)
		}
	}
	for name, want := range map[string]string{"random.lua": "another strategy is called random", "nul.js": "Windows takes nul.js for a device", "Link.lua": "link.lua exists"} {
		if status, a := s.call("new", map[string]any{"file": name}); status == 200 || !strings.Contains(a.Error, want) {
			t.Errorf("the new file %s: %d %+v", name, status, a)
		}
	}
	s.end()
}

// Scripts that hang lose their matches and nothing else, too large
// trials are refused.
func TestStudioIsBounded(t *testing.T) {
	t.Parallel()
	notRaced(t, "a worker would take more memory than it may")
	s := openStudio(t, t.TempDir(), "mine", "--max-runs", "300", "--max-time", "20s", "--time-limit", "100ms", "--team", "Red")
	s.as(s.tokens["Red"])
	if wholeSets {
		for _, source := range []string{"while true do end", `function choose(t) while true do end end`} {
			s.says(200, "check", map[string]any{"file": "bad.lua", "source": source}, "{Level:error")
		}
		s.says(200, "try", map[string]any{"file": "bad.js", "source": "function choose(t) { for (;;) {} }", "field": []string{"random", "hedge"}, "leagues": 2}, "technical loss")
	}
	var crowd []string
	for i := range 40 {
		crowd = append(crowd, fmt.Sprintf("p%d", i))
	}
	for want, in := range map[string]map[string]any{
		"301 leagues; want 1 to 300": {"leagues": 301},
		"want at most 32":            {"leagues": 1, "field": crowd},
		`no strategy "nobody"`:       {"leagues": 1, "field": []string{"nobody"}},
		"invalid strategy name":      {"leagues": 1, "field": []string{"../x"}},
		"0 leagues; want 1 to":       {},
		"at most 262144":             {"leagues": 1, "source": strings.Repeat("-", 300<<10)},
		"two players are called ":    {"leagues": 1, "field": []string{"random", "random"}},
	} {
		in["file"] = "good.lua"
		if in["source"] == nil {
			in["source"] = "function choose(t) return 'odd' end"
		}
		s.says(http.StatusUnprocessableEntity, "try", in, want)
	}
	s.as("wrong")
	s.says(http.StatusUnauthorized, "try", map[string]any{"file": "good.lua", "source": "function choose(t) return 'odd' end", "leagues": 1})
	s.end()
}

// A team has one trial that runs and eight that wait. What it does costs other teams
// nothing, and a trial whose page is gone ends.
func TestTeamsTakeTurns(t *testing.T) {
	t.Parallel()
	whole(t, "package lab queues what waits")
	notRaced(t, "a worker would take more memory than it may")
	s := openStudio(t, t.TempDir(), "class", "--team", "Red", "--team", "Blue")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	body, err := json.Marshal(map[string]any{"file": "slow.lua", "source": slowLua, "leagues": 1000})
	if err != nil {
		t.Fatal(err)
	}
	begin := func() *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"api/try", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+s.tokens["Red"])
		resp, err := http.DefaultClient.Do(req) // returns with the first line
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	for i := range 9 {
		if resp := begin(); resp.StatusCode != http.StatusOK {
			t.Fatalf("trial %d: status %d", i+1, resp.StatusCode)
		}
	}
	if resp := begin(); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one more than may wait: status %d, want 503", resp.StatusCode)
	}
	s.as(s.tokens["Blue"])
	s.says(http.StatusOK, "try", map[string]any{"file": "quick.lua", "source": "function choose(t) return 'odd' end", "leagues": 2}, "quick") // meanwhile
	cancel()
	until(t, "the end of the workers", func() bool { return running(s.Path) <= 1 })
	s.end()
}

// The teams of a class have tokens and folders, which stay when the command is started
// again.
func TestStudioOfAClass(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, line := range []string{"studio --listen 0.0.0.0:0", "studio --team Red", "studio class --team Red --team red"} {
		run1(t, dir, exitUsage, strings.Fields(line)...)
	}
	s := openStudio(t, dir, "class", "--team", "Red", "--team", "<b>&")
	if len(s.tokens) != 2 || len(s.tokens["Red"]) < 16 {
		t.Fatalf("tokens: %v", s.tokens)
	}
	file := filepath.Join(dir, "class", "teams.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the tokens are in %v, %v", info, err)
	}
	s.as(s.tokens["Red"])
	s.says(200, "new", map[string]any{"file": "ours.js"})
	if _, err := os.Stat(filepath.Join(dir, "class", "Red", "ours.js")); err != nil {
		t.Error(err)
	}
	s.as(s.tokens["<b>&"])
	if other := s.says(200, "app", nil, "&lt;b&gt;&amp;"); strings.Contains(other.HTML, "ours") {
		t.Errorf("the other team sees %s", other.HTML)
	}
	s.end()
	again := openStudio(t, t.TempDir(), filepath.Join(dir, "class"), "--team", "Blue", "--team", "Red", "--max-time", "300ms")
	if len(again.tokens) != 1 || again.tokens["Blue"] == "" {
		t.Errorf("tokens printed again: %v", again.tokens)
	}
	again.as(s.tokens["Red"])
	again.says(200, "open", map[string]any{"file": "ours.js"}, "choose")
	if _, a := again.call("try", map[string]any{"file": "slow.lua", "source": slowLua, "leagues": 1000}); !strings.Contains(a.Error, "time limit of this studio exceeded") {
		t.Errorf("a trial that takes too long: %+v", a)
	}
	again.end()
	for mode, want := range map[os.FileMode]string{0o644: "chmod 600", 0o600: "invalid folder"} {
		code := map[os.FileMode]int{0o644: exitUsage, 0o600: exitFailure}[mode]
		if err := errors.Join(os.WriteFile(file, []byte(`[{"name":"x","folder":"../x","token":"0123456789abcdef"}]`), 0o600), os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
		if out := run1(t, dir, code, "studio", "class", "--teams", "class/teams.json"); !strings.Contains(out, want) {
			t.Errorf("a file of tokens with mode %v: %s", mode, out)
		}
	}
}

// pythonAgent is the value of --agent for an agent in Python; the test is skipped without.
func pythonAgent(t *testing.T) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3")
	}
	program, err := filepath.Abs("../../docs/examples/player.py")
	if err != nil {
		t.Fatal(err)
	}
	return "mine-py=" + python + " " + program + " {manager} {port}"
}

// TestAgentsOverMCP: an assistant has an agent play that the command line names, and can
// name none itself.
func TestAgentsOverMCP(t *testing.T) {
	t.Parallel()
	a := assist(t, t.TempDir(), "--agent", pythonAgent(t))
	field := []any{knownPlayer("random", 1), knownPlayer("role", 1)}
	res, text, err := a.call(t.Context(), "run_experiment", map[string]any{"players": append(field, knownPlayer("mine-py", 1)), "runs": 2})
	if err != nil || res.IsError || !strings.Contains(text, `"kind":"agent"`) || !strings.Contains(text, `"reproducible":false`) {
		t.Errorf("with an agent: %v %s", err, text)
	}
	if text := a.refused("run_experiment", map[string]any{"players": append(field, knownPlayer("http://127.0.0.1:1/mcp", 1)), "runs": 2}); !strings.Contains(text, "/players/2/name") {
		t.Errorf("an assistant names an agent: %s", text)
	}
}

// TestStudioOpponents: a trial meets a script with other values of its parameters, and an
// agent that the command line names; a page cannot name one.
func TestStudioOpponents(t *testing.T) {
	t.Parallel()
	whole(t, "TestAgentsOverMCP plays with an agent that the command line names")
	agent := pythonAgent(t)
	dir := t.TempDir()
	const source = "-- param: even 0.0..1.0 = 0.5\nfunction choose(turn) return params.even end\n"
	for name, text := range map[string]string{"other.lua": source, "mine.lua": strings.Replace(source, "0.5", "0.2", 1)} {
		write(t, filepath.Join(dir, "strategies"), name, text)
	}
	s := openStudio(t, dir, "strategies", "--agent", agent, "--max-time", "5m")
	try := func(opponents ...string) map[string]any {
		return map[string]any{"file": "mine.lua", "source": source, "field": opponents, "leagues": 2}
	}
	s.says(200, "try", try("random", "other(even=0.9)", "mine-py"), "other(even=0.9)", "mine-py")
	if _, a := s.call("try", try("random", "other(even=7)")); !strings.Contains(a.Error, "even") {
		t.Errorf("a value out of its range: %+v", a)
	}
	if _, a := s.call("try", try("random", "http://127.0.0.1:1/mcp")); a.Error == "" {
		t.Errorf("a page names an agent: %+v", a)
	}
	s.end()
}
