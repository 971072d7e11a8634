package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
)

// running is a live command whose events are read as they come.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	stderr *os.File
	events chan map[string]any
	seen   []map[string]any
	timeUp <-chan time.Time
}

// start runs a live command with events as JSON lines.
func start(t *testing.T, dir string, args ...string) *running {
	t.Helper()
	return startChanged(t, func(*exec.Cmd) {}, dir, args...)
}

// startChanged is start, with the command changed before it runs.
func startChanged(t *testing.T, change func(*exec.Cmd), dir string, args ...string) *running {
	t.Helper()
	args = append(slices.Clone(args), "--format", "json")
	r := &running{t: t, cmd: commandLine(t.Context(), dir, args...), events: make(chan map[string]any, 10_000), timeUp: timeUp(t)}
	change(r.cmd)
	var err error
	if r.stderr, err = os.Create(filepath.Join(t.TempDir(), "stderr")); err != nil {
		t.Fatal(err)
	}
	r.cmd.Stderr = struct{ io.Writer }{r.stderr} // through a pipe: a limit of files is not for it
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go r.read(out)
	return r
}

func (r *running) read(out io.Reader) {
	defer close(r.events)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var e map[string]any
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			e = map[string]any{"event": "not JSON: " + lines.Text()}
		}
		r.events <- e
	}
}

// until returns the first event of a kind.
func (r *running) until(kind string) map[string]any {
	r.t.Helper()
	for {
		e, ok := r.next("the event " + kind)
		if !ok {
			break
		}
		if e["event"] == kind {
			return e
		}
	}
	stderr, _ := os.ReadFile(r.stderr.Name())
	r.t.Fatalf("%q ended before the event %q; stderr: %s; events: %v", r.cmd.Args, kind, stderr, r.seen)
	return nil
}

// untilAll returns the first event of each of the kinds, in whichever order they come.
func (r *running) untilAll(kinds ...string) map[string]map[string]any {
	r.t.Helper()
	found := map[string]map[string]any{}
	for len(found) < len(kinds) {
		e, ok := r.next("the events " + strings.Join(kinds, ", "))
		if !ok {
			r.t.Fatalf("%q ended before the events %q; events: %v", r.cmd.Args, kinds, r.seen)
		}
		if kind, _ := e["event"].(string); slices.Contains(kinds, kind) && found[kind] == nil {
			found[kind] = e
		}
	}
	return found
}

// next returns the next event; ok is false if there is none.
func (r *running) next(what string) (e map[string]any, ok bool) {
	r.t.Helper()
	select {
	case e, ok = <-r.events:
	case <-r.timeUp:
		stderr, _ := os.ReadFile(r.stderr.Name())
		r.t.Fatalf("%q: no time is left to wait for %s; stderr: %s; events: %v", r.cmd.Args, what, stderr, r.seen)
	}
	if ok {
		r.seen = append(r.seen, e)
	}
	return e, ok
}

// ended waits for the end and returns the exit code.
func (r *running) ended() int {
	r.t.Helper()
	for ok := true; ok; {
		_, ok = r.next("the end")
	}
	_ = r.cmd.Wait() // the exit code says it
	r.stderr.Close()
	return r.cmd.ProcessState.ExitCode()
}

func (r *running) signal(s syscall.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

func run1(t *testing.T, dir string, want int, args ...string) string {
	t.Helper()
	cmd := commandLine(t.Context(), dir, args...)
	out, _ := cmd.CombinedOutput() // the exit code says it
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Fatalf("%q: exit code %d, want %d: %s", args, got, want, out)
	}
	return string(out)
}

// A class runs its league: one process hosts, others play, somebody starts it,
// and everybody hears how it ended.
func TestHostPlayersAndStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	host := start(t, dir, "host", "--listen", "127.0.0.1:0", "--field", "role", "--legs", "2", "--admin-token", "secret", "--referees", "2")
	url := host.until("listening")["manager"].(string)

	one := start(t, dir, "player", "--strategy", "markov-1", "--name", "Ada", "--manager", url, "--once")
	two := start(t, dir, "player", "--strategy", "random", "--name", "Bob", "--manager", url, "--once")
	one.until("registered")
	two.until("registered")

	if out := run1(t, dir, exitFailure, "start", "--manager", url, "--admin-token", "guess"); !strings.Contains(out, "E012") {
		t.Errorf("a wrong admin token got %s", out)
	}
	for _, c := range []struct{ what, want string }{
		{"standings", `(?m)^ *1 +P01 +role +0 +0 +0 +0 +0$`},
		{"players", `(?m)^P[0-9]{2} +Ada +(registered|active)$`},
		{"schedule", `^the league has not started; there is no schedule yet\n$`},
		{"status", `^the league "league_2025_even_odd" is waiting\n$`},
	} {
		if out := run1(t, dir, exitOK, "query", c.what, "--manager", url); !regexp.MustCompile(c.want).MatchString(out) {
			t.Errorf("without a token, query %s prints %s", c.what, out)
		}
	}
	if out := run1(t, dir, exitOK, "query", "players", "--manager", url, "--admin-token", "secret", "--format", "json"); !strings.Contains(out, `"contact_endpoint": "http`) {
		t.Errorf("with the admin token the players are %s", out)
	}
	run1(t, dir, exitOK, "start", "--manager", url, "--admin-token", "secret")

	for _, p := range []*running{one, two} {
		if e := p.until("completed"); e["place"] == nil {
			t.Errorf("a player heard no place: %v", e)
		}
		if code := p.ended(); code != exitOK {
			t.Errorf("a player ended with %d", code)
		}
	}
	standings := host.until("league_completed")["standings"].([]any)
	if len(standings) != 3 {
		t.Errorf("the table is %v", standings)
	}
	if code := host.ended(); code != exitOK {
		t.Errorf("the host ended with %d", code)
	}
}

// The admin token is shown once, on stderr. With --data-dir it outlives the host,
// and with --stay the host answers after the league.
func TestAdminTokenAndStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	brief := start(t, dir, "host", "--listen", "127.0.0.1:0", "--field", "random*2", "--legs", "1")
	url := brief.until("listening")["manager"].(string)
	var tokens []string
	until(t, "the token", func() bool {
		text, err := os.ReadFile(brief.stderr.Name())
		tokens = regexp.MustCompile("admin-[0-9a-f]{32}").FindAllString(string(text), -1)
		return err == nil && len(tokens) > 0
	})
	run1(t, dir, exitOK, "start", "--manager", url, "--admin-token", tokens[0])
	if code := brief.ended(); code != exitOK || len(tokens) != 1 {
		t.Errorf("it ended with %d and has shown %q", code, tokens)
	}

	args := []string{"host", "--listen", "127.0.0.1:0", "--field", "random*2", "--legs", "120", "--data-dir", "data", "--stay"}
	host := start(t, dir, append(slices.Clone(args), "--pace", "1s")...) // so it plays for minutes if it is not killed
	file := filepath.Join("data", "data", "leagues", "league_2025_even_odd", "admin-token")
	run1(t, dir, exitOK, "start", "--manager", host.until("listening")["manager"].(string), "--admin-token-file", file)
	host.until("round_completed")
	host.signal(syscall.SIGKILL)
	host.ended()
	if info, err := os.Stat(filepath.Join(dir, file)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the token: %v, %v", info, err)
	}
	host = start(t, dir, args...)
	url = host.until("listening")["manager"].(string)
	host.until("league_completed")
	resumed := slices.IndexFunc(host.seen, func(e map[string]any) bool { return e["event"] == "league_resumed" })
	if resumed < 0 || host.seen[resumed]["round"].(float64) < 2 || host.seen[resumed]["total_rounds"].(float64) != 120 {
		t.Errorf("that it resumed is missing or wrong (event %d)", resumed)
	}
	run1(t, dir, exitOK, "query", "players", "--manager", url, "--admin-token-file", file)
	if out := run1(t, dir, exitOK, "query", "schedule", "--round", "120", "--manager", url); !strings.Contains(out, "finished") {
		t.Errorf("after the league, the schedule is %s", out)
	}
	if out := run1(t, dir, exitFailure, "query", "schedule", "--round", "121", "--manager", url); !strings.Contains(out, "the league has rounds 1 to 120") {
		t.Errorf("round 121 gives %s", out)
	}
	host.signal(syscall.SIGINT)
	if code := host.ended(); code != exitOK {
		t.Errorf("a host that stayed ended with %d", code)
	}
	ofOwner(t, filepath.Join(dir, "data"))
}

// Manager, referee and player each run alone, and leave on Ctrl-C.
func TestAgentsAloneAndInterrupt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	manager := start(t, dir, "manager", "--legs", "1", "--listen", "127.0.0.1:0", "--players", "3", "--data-dir", "data")
	url := manager.until("listening")["manager"].(string)
	referee := start(t, dir, "referee", "--manager", url)
	referee.until("registered")
	player := start(t, dir, "player", "--strategy", "random", "--manager", url)
	player.until("registered")
	for _, r := range []struct {
		*running
		want int
	}{{player, exitOK}, {referee, exitOK}, {manager, exitStopped}} {
		r.signal(syscall.SIGINT)
		if code := r.ended(); code != r.want {
			t.Errorf("%q ended with %d, want %d", r.cmd.Args, code, r.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "data", "config", "agents", "agents_config.json")); err != nil {
		t.Error(err)
	}
}

// Agents that are started before their manager say that they wait for it, and
// take part as soon as it is there.
func TestAgentsWaitForTheManager(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	addr := jsonrpctest.Address(t)
	early := []*running{
		start(t, dir, "referee", "--manager", "http://"+addr+"/mcp", "--retry-delay", "20ms"),
		start(t, dir, "player", "--strategy", "random", "--manager", "http://"+addr+"/mcp", "--retry-delay", "20ms", "--once"),
	}
	for _, a := range early {
		if e := a.until("waiting"); !strings.Contains(fmt.Sprint(e["error"]), "could not connect") {
			t.Errorf("it waits because of %v", e["error"])
		}
	}
	manager := start(t, dir, "host", "--legs", "1", "--listen", addr, "--field", "role", "--players", "2", "--referees", "0")
	manager.until("league_completed")
	for _, a := range append(early, manager) {
		if code := a.ended(); code != exitOK {
			t.Errorf("%q ended with %d", a.cmd.Args, code)
		}
	}
}

// A referee whose manager has died without a word leaves with --idle-exit, and
// says what it has done and whether it still owes a report.
func TestRefereeLeavesADeadLeague(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	manager := start(t, dir, "manager", "--listen", "127.0.0.1:0", "--players", "2", "--legs", "100", "--pace", "1s")
	url := manager.until("listening")["manager"].(string)
	referee := start(t, dir, "referee", "--manager", url, "--idle-exit", "300ms", "--timeout", "200ms", "--retry-delay", "20ms")
	referee.until("registered")
	for _, name := range []string{"Ada", "Bob"} {
		start(t, dir, "player", "--strategy", "random", "--name", name, "--manager", url).until("registered")
	}
	manager.until("round_completed")
	manager.signal(syscall.SIGKILL)
	manager.ended()
	if e := referee.until("deserted"); e["matches"].(float64) < 1 {
		t.Errorf("it leaves with %v", e)
	}
	code := referee.ended()
	stderr, _ := os.ReadFile(referee.stderr.Name())
	if owes := strings.Contains(string(stderr), "has not acknowledged 1 of"); code != exitOK && !owes || code == exitOK && owes {
		t.Errorf("it ended with %d: %s", code, stderr)
	}
}

// league plays by itself, and a seed makes it play the same again.
func TestLeagueCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"league", "--field", "random,role,markov-1", "--legs", "3", "--seed", "5"}
	first, second := run1(t, dir, exitOK, args...), run1(t, dir, exitOK, args...)
	table := func(out string) string { return out[strings.Index(out, "place"):] }
	if table(first) != table(second) {
		t.Errorf("the same seed gave\n%s\nand\n%s", table(first), table(second))
	}
	for _, want := range []string{"makes the draws predictable", "R9M1", "round 9 of 9 is complete", "points"} {
		if !strings.Contains(first, want) {
			t.Errorf("no %q in\n%s", want, first)
		}
	}
}
