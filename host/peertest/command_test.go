package peertest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// binary is where the program under test is built, once.
var binary struct {
	once sync.Once
	path string
	err  error
}

// TestMain runs many tests at the same time: most of them wait for peers to give up,
// which needs no processor.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "12"); err != nil { // -parallel overrides it
		panic(err)
	}
	code, ran := inUserNamespace()
	if !ran {
		code = m.Run()
	}
	if binary.path != "" {
		_ = os.RemoveAll(filepath.Dir(binary.path))
	}
	os.Exit(code)
}

// build builds the command; it is what users run.
func build(t testing.TB) string {
	t.Helper()
	binary.once.Do(func() {
		dir, err := os.MkdirTemp("", "peertest")
		if err != nil {
			binary.err = err
			return
		}
		binary.path = filepath.Join(dir, "strategylab")
		// Go keeps what it has linked to run it.
		out, err := exec.Command("go", "run", "-exec", "cp", "../../cmd/strategylab", binary.path).CombinedOutput()
		if err != nil {
			binary.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if binary.err != nil {
		t.Fatal(binary.err)
	}
	return binary.path
}

// screen is what a command has printed so far.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// command is a command of ours in a league.
type command struct {
	cmd    *exec.Cmd
	out    screen // stdout and stderr
	record string
	ended  chan struct{}
	err    error
}

// strategylab starts a command line in the network of the league. What it records
// is audited when it has ended.
func (w *world) strategylab(args ...string) *command {
	w.Helper()
	record := filepath.Join(w.TempDir(), "league.jsonl")
	c := w.launch(append(args, "--record", record)...)
	c.record = record
	return c
}

// launch starts a command line in the network of the league.
func (w *world) launch(args ...string) *command {
	w.Helper()
	c := &command{ended: make(chan struct{})}
	c.cmd = exec.Command(build(w), args...)
	c.cmd.Dir, c.cmd.Stdout, c.cmd.Stderr = w.TempDir(), &c.out, &c.out
	var err error
	w.do(func() { err = c.cmd.Start() })
	if err != nil {
		w.Fatal(err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.ended)
	}()
	w.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		<-c.ended
		if w.Failed() {
			w.Logf("strategylab %v: %v\n%s", args, c.err, &c.out)
		}
	})
	return c
}

// wait waits until the command ends by itself.
func (w *world) wait(c *command) {
	w.Helper()
	select {
	case <-c.ended:
	case <-w.ctx.Done():
		w.Errorf("%v has not ended", c.cmd.Args[1:])
	}
}

// stop interrupts a command as a user does, unless it ends by itself soon.
func (w *world) stop(c *command) {
	w.Helper()
	_ = c.cmd.Process.Signal(os.Interrupt)
	w.wait(c)
}

// auditFailure begins the failures that the audit reports.
const auditFailure = "the audit: "

// audited fails the test for each rule that the audit of a recording calls broken.
func (w *world) audited(c *command) {
	w.Helper()
	cmd := exec.Command(build(w), "trace", "audit", c.record, "--format", "json")
	raw, err := cmd.Output()
	var doc struct {
		Leagues []struct {
			Checks []struct {
				Rule, Verdict string
				Findings      []string
			}
		}
	}
	if jerr := json.Unmarshal(raw, &doc); jerr != nil {
		w.Errorf("audit: %v: %v: %s", err, jerr, raw)
		return
	}
	for _, l := range doc.Leagues {
		for _, check := range l.Checks {
			if check.Verdict == "broken" {
				w.Errorf("%s%q is broken: %q", auditFailure, check.Rule, check.Findings)
			}
		}
	}
}

// lastWords is the error that the command has ended with; a nil command has none.
func (c *command) lastWords() string {
	if c == nil {
		return ""
	}
	_, text, _ := strings.Cut(c.out.String(), "strategylab: ")
	return ": " + strings.Join(strings.Fields(text), " ")
}

// hostedLeague is what a host of ours has printed as JSON.
type hostedLeague struct {
	matches   map[string][]string // players that brought no choice, by match
	completed bool
}

// league reads the events of a host.
func (c *command) league() hostedLeague {
	l := hostedLeague{matches: make(map[string][]string)}
	for line := range strings.Lines(c.out.String()) {
		var e struct {
			Event string
			Match struct {
				ID      string `json:"match_id"`
				A       string `json:"player_A_id"`
				B       string `json:"player_B_id"`
				Choices map[string]string
			}
		}
		if json.Unmarshal([]byte(line), &e) != nil {
			continue
		}
		switch e.Event {
		case "league_completed":
			l.completed = true
		case "match_reported":
			l.matches[e.Match.ID] = nil
			for _, id := range []string{e.Match.A, e.Match.B} {
				if e.Match.Choices[id] == "" {
					l.matches[e.Match.ID] = append(l.matches[e.Match.ID], id)
				}
			}
		}
	}
	return l
}

// prints waits until the command has printed a text.
func (w *world) prints(c *command, text string) {
	w.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(c.out.String(), text) {
		select {
		case <-tick.C:
		case <-c.ended:
			if !strings.Contains(c.out.String(), text) {
				w.Fatalf("%v ended without printing %q: %v\n%s", c.cmd.Args[1:], text, c.err, &c.out)
			}
			return
		case <-w.ctx.Done():
			w.Fatalf("%v does not print %q:\n%s", c.cmd.Args[1:], text, &c.out)
		}
	}
}
