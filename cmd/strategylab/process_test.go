package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
)

// lockedBuffer is written by others while a test reads it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string { return b.from(0) }

// from returns what has been written after some bytes.
func (b *lockedBuffer) from(at int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.buf.Bytes()[at:])
}

// in is a process in a folder, without terminals.
func in(dir string) command.Process { return command.Process{Lab: lab.Lab{Dir: dir}} }

// with is in, for a program that starts others for its strategies.
func with(dir string) command.Process {
	p := in(dir)
	p.Exe = os.Args[0]
	p.Lab = p.WithLoader()
	return p
}

// inside runs a command line in this process, as p. A clock and variables that p does not have
// are the real ones, and the seed is 512.
func inside(ctx context.Context, p command.Process, args ...string) (code int, stdout, stderr string) {
	var o, e lockedBuffer
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Entropy == nil {
		p.Entropy = func() (uint64, error) { return 1 << 20, nil }
	}
	if p.Env == nil {
		p.Env = os.Getenv
	}
	p.Args, p.Stdin, p.Stdout, p.Stderr = append([]string{"strategylab"}, args...), strings.NewReader(""), &o, &e
	p.CheckTime, p.ForBatch, p.ForLive = unhurried.check, func() {}, func() {}
	code = run(ctx, p)
	return code, o.String(), e.String()
}

// startsProcesses has the lines of a script that follow load and play strategies in other
// processes, as those of users do, and plugins play, or no longer: [!] processes.
func startsProcesses(ts *testscript.TestScript, neg bool, _ []string) {
	ts.Setenv("PROCESSES", map[bool]string{false: "yes"}[neg])
}

// runLine runs a line of a script in this process and returns its exit code.
func runLine(ts *testscript.TestScript, args []string) int {
	p := in(ts.MkAbs("."))
	if ts.Getenv("PROCESSES") != "" {
		p = with(ts.MkAbs("."))
	}
	p.Entropy, p.Env = entropy, ts.Getenv
	code, stdout, stderr := inside(context.Background(), p, args...)
	_, _ = ts.Stdout().Write([]byte(stdout))
	_, _ = ts.Stderr().Write([]byte(stderr))
	return code
}

// succeeds runs a command line that must succeed, or fail: [!] lab ARG...
func succeeds(ts *testscript.TestScript, neg bool, args []string) {
	if code := runLine(ts, args); neg != (code != 0) {
		ts.Fatalf("exit code %d", code)
	}
}

// fetch sends a request with headers, each followed by its value, and returns the answer. An empty value is no header.
func fetch(ctx context.Context, method, url, body string, header ...string) (status int, text string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	for i := 0; i < len(header); i += 2 {
		if req.Header.Set(header[i], header[i+1]); header[i+1] == "" {
			req.Header.Del(header[i])
		}
	}
	req.Host = req.Header.Get("Host")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(all), err
}

// commandLine is this test binary as strategylab (see TestMain), in a folder.
func commandLine(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Args = append([]string{"strategylab"}, args...)
	cmd.Dir = dir
	return cmd
}

// run1 runs a command line in this process that must end with an exit code, and returns what it prints.
func run1(t *testing.T, dir string, want int, args ...string) string {
	t.Helper()
	code, stdout, stderr := inside(t.Context(), with(dir), args...)
	if code != want {
		t.Fatalf("%q: exit code %d, want %d: %s%s", args, code, want, stdout, stderr)
	}
	return stdout + stderr
}

// process is a program that runs beside a test.
type process struct {
	*exec.Cmd
	t        testing.TB
	out, err stream
	gone     chan struct{} // closed when it has ended, with all that shares its streams

	read int              // bytes of the events in seen
	seen []map[string]any // events, see next
}

// stream is what a process prints.
type stream struct {
	lockedBuffer
	of *process
}

// launch starts a command line as a process that ends with the test at the latest.
func launch(t testing.TB, dir string, args ...string) *process {
	t.Helper()
	return begin(t, commandLine(t.Context(), dir, args...))
}

// begin is launch for a command that has been prepared.
func begin(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	p, err := newProcess(cmd)
	if err != nil {
		t.Fatal(err)
	}
	p.t = t
	t.Cleanup(p.kill)
	return p
}

func newProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{Cmd: cmd, gone: make(chan struct{})}
	p.out.of, p.err.of = p, p
	if cmd.Stdout == nil {
		cmd.Stdout = &p.out
	}
	cmd.Stderr = &p.err
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.gone)
		_ = cmd.Wait() // the exit code says it
	}()
	return p, nil
}

// until waits until a process has printed what a pattern matches, and returns that with its groups.
func (s *stream) until(pattern string) []string {
	p := s.of
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	var found []string
	until(p.t, pattern, func() bool {
		ended := p.over()
		if found = re.FindStringSubmatch(s.String()); found == nil && ended {
			p.t.Fatalf("%q ended (%v) before it printed %q:\n%s%s", p.Args, p.ProcessState, pattern, p.out.String(), p.err.String())
		}
		return found != nil
	})
	return found
}

// over reports whether the process has ended.
func (p *process) over() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// code waits for the end and returns the exit code; it is negative after a kill.
func (p *process) code() int {
	<-p.gone
	return p.ProcessState.ExitCode()
}

func (p *process) kill() {
	_ = p.Process.Kill()
	<-p.gone
}

// signal sends a signal to a process that runs.
func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// interrupt interrupts the process, which then has to end with a code.
func (p *process) interrupt(code int) {
	p.t.Helper()
	p.signal(os.Interrupt)
	if p.code() != code {
		p.t.Errorf("interrupted, %q ended with %v, want %d:\n%s", p.Args, p.ProcessState, code, p.err.String())
	}
}

// start starts a live command that prints events as JSON lines.
func start(t testing.TB, dir string, args ...string) *process {
	t.Helper()
	return launch(t, dir, append(args, "--format", "json")...)
}

// next returns the next event; ok is false if the process has ended without one.
func (p *process) next() (event map[string]any, ok bool) {
	p.t.Helper()
	until(p.t, "an event", func() bool {
		ended := p.over()
		line, _, whole := strings.Cut(p.out.from(p.read), "\n")
		if whole {
			p.read += len(line) + 1
			if err := json.Unmarshal([]byte(line), &event); err != nil {
				p.t.Fatalf("not JSON: %s", line)
			}
			p.seen = append(p.seen, event)
		}
		return whole || ended
	})
	return event, event != nil
}

// event returns the first event of a kind.
func (p *process) event(kind string) map[string]any {
	p.t.Helper()
	return p.events(kind)[kind]
}

// events returns the first event of each of the kinds, in whichever order they come.
func (p *process) events(kinds ...string) map[string]map[string]any {
	p.t.Helper()
	found := map[string]map[string]any{}
	for len(found) < len(kinds) {
		e, ok := p.next()
		if !ok {
			p.t.Fatalf("%q ended before the events %q; stderr: %s; events: %v", p.Args, kinds, p.err.String(), p.seen)
		}
		for _, kind := range kinds {
			if e["event"] == kind && found[kind] == nil {
				found[kind] = e
			}
		}
	}
	return found
}

// told returns the first event of a kind among those that have been read; nil if there is none.
func (p *process) told(kind string) map[string]any {
	for _, e := range p.seen {
		if e["event"] == kind {
			return e
		}
	}
	return nil
}

// end waits for the end, reads the events that are left and returns the exit code.
func (p *process) end() int {
	p.t.Helper()
	for ok := true; ok; {
		_, ok = p.next()
	}
	return p.code()
}

// ends waits for the end of a live command, which has to have a code.
func (p *process) ends(want int) {
	p.t.Helper()
	if code := p.end(); code != want {
		p.t.Errorf("%q ended with %d, want %d: %s", p.Args, code, want, p.err.String())
	}
}

// until waits for a condition of another process, at most until shortly before the time of all tests is up (-timeout).
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	var up <-chan time.Time
	if test, is := t.(*testing.T); is {
		if end, limited := test.Deadline(); limited {
			up = time.After(time.Until(end) - 10*time.Second)
		}
	}
	if !comes(up, ok) {
		t.Fatalf("waited in vain: %s", what)
	}
}

// comes waits for something that happens elsewhere, and reports whether it has
// before the end.
func comes(end <-chan time.Time, ok func() bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			return false
		}
	}
	return true
}

// program puts this test binary into a folder as strategylab (see TestMain), so
// that the processes it starts can be told from all others.
func program(t testing.TB, dir string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "strategylab")
	if os.Link(self, path) == nil {
		return path
	}
	code, err := os.ReadFile(self) // the folder is on another file system
	if err == nil {
		err = os.WriteFile(path, code, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// own is commandLine for a program of the folder, whose processes can be told from all others.
func own(t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t, dir), args...)
	cmd.Dir = dir
	return cmd
}

// running counts the processes of a program. Where the system does not tell, there are none.
func running(program string) (n int) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if exe, err := os.Readlink(link); err == nil && exe == program {
			n++
		}
	}
	return n
}

// vanishes waits until no process of a program is left.
func vanishes(t testing.TB, program string) {
	t.Helper()
	until(t, "the end of all processes", func() bool { return running(program) == 0 })
}

func digestOf(t *testing.T, document []byte) (digest string, leagues int) {
	t.Helper()
	var doc struct {
		Digest  string
		Leagues int
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatalf("%v in %q", err, document)
	}
	return doc.Digest, doc.Leagues
}

// write writes a file at once: a command that watches it never sees a part of the text.
func write(t testing.TB, dir, name, content string) {
	t.Helper()
	path, whole := filepath.Join(dir, name), filepath.Join(t.TempDir(), "whole")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(whole, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(whole, path); err != nil {
		t.Fatal(err)
	}
}

// hostsKey leads to the processes that a script has started, by the file for what they print.
type hostsKey struct{}

// starting starts a command line of a script, which ends with the script.
func starting(ts *testscript.TestScript, args ...string) *process {
	p, err := newProcess(commandLine(context.Background(), ts.MkAbs("."), args...))
	ts.Check(err)
	ts.Defer(p.kill)
	return p
}

// hosting starts a live command, until the end of the script, and sets URL and ADDR when it says where it listens:
// hosting FILE COMMAND ARG... What it prints is in the file when it has ended.
func hosting(ts *testscript.TestScript, _ bool, args []string) {
	p := starting(ts, args[1:]...)
	ts.Value(hostsKey{}).(map[string]*process)[args[0]] = p
	listens := regexp.MustCompile(`(?:listen(?:s|ing) at |"event":"listening".*)(https?://[0-9.]+:[0-9]+/mcp)`)
	var found []string
	comes(time.After(hostPatience), func() bool {
		over := p.over()
		found = listens.FindStringSubmatch(p.out.String() + p.err.String())
		return found != nil || over
	})
	if found == nil {
		ts.Fatalf("%q does not listen: %s%s", args[1:], p.out.String(), p.err.String())
	}
	setURL(ts, found[1])
}

// serving is hosting for a command whose output does not matter: serving COMMAND ARG...
func serving(ts *testscript.TestScript, _ bool, args []string) {
	hosting(ts, false, append([]string{""}, args...))
}

// ended waits for the end of what hosting has started, or brings it about by an
// interrupt: ended FILE [interrupt].
func ended(ts *testscript.TestScript, _ bool, args []string) {
	p := ts.Value(hostsKey{}).(map[string]*process)[args[0]]
	if len(args) > 1 {
		ts.Check(p.Process.Signal(os.Interrupt))
	}
	if !comes(time.After(hostPatience), p.over) {
		ts.Fatalf("it does not end: %s%s", p.out.String(), p.err.String())
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(p.out.String()+p.err.String()), 0o600))
}
