package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// brokerURL is what brokers and experiments print for workers.
var brokerURL = regexp.MustCompile(`(nats|tls)://\S+`)

// broker starts a broker that ends with the script, and sets CLUSTER: broker ARG...
func broker(ts *testscript.TestScript, _ bool, args []string) {
	b := &process{Cmd: ownProcess(ts.MkAbs("."), append([]string{"broker", "--listen", "127.0.0.1:0"}, args...)...)}
	ts.Check(b.start(false))
	ts.Defer(b.kill)
	ts.Setenv("CLUSTER", b.url)
	ts.Setenv("BROKER", b.url[strings.LastIndex(b.url, "@")+1:])
}

// worker starts a worker of the cluster that ends with the script: worker ARG...
func worker(ts *testscript.TestScript, _ bool, args []string) {
	w := ownProcess(ts.MkAbs("."), append([]string{"worker", "--cluster", ts.Getenv("CLUSTER")}, args...)...)
	ts.Check(w.Start())
	ts.Defer(func() {
		_ = w.Process.Kill()
		_ = w.Wait()
	})
}

// ownProcess is this program as a process, in a folder.
func ownProcess(dir string, args ...string) *exec.Cmd {
	return &exec.Cmd{Path: os.Args[0], Args: append([]string{"strategylab"}, args...), Dir: dir}
}

// process is a program that prints the address of a broker.
type process struct {
	*exec.Cmd
	url  string
	rest chan struct{} // closed when its output has ended
}

// start starts the program and returns when it has printed the address, on stderr or on
// stdout.
func (p *process) start(stderr bool) error {
	open := p.StdoutPipe
	if stderr {
		open = p.StderrPipe
	}
	out, err := open()
	if err != nil {
		return err
	}
	if err := p.Start(); err != nil {
		return err
	}
	p.rest = make(chan struct{})
	var text strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		text.WriteString(lines.Text() + "\n")
		if p.url = brokerURL.FindString(lines.Text()); p.url != "" {
			go func() {
				defer close(p.rest)
				_, _ = io.Copy(io.Discard, out)
			}()
			return nil
		}
	}
	return &os.PathError{Op: "print an address", Path: text.String(), Err: p.Wait()}
}

func (p *process) kill() {
	_ = p.Process.Kill()
	<-p.rest
	_ = p.Wait()
}

// clusterFolder returns a folder with scripts, and the arguments of an experiment with
// every kind of strategy, of which one faults and one hangs.
func clusterFolder(t *testing.T) (dir string, args []string) {
	t.Helper()
	dir = t.TempDir()
	for name, source := range map[string]string{
		"plain.lua":   `local n = 0 function choose() n = n + 1 return n % 2 == 0 and "even" or math.random() end`,
		"copycat.js":  `let last = "odd"; function choose() { return last; } function observe(o) { last = o.opponent_choice || last; }`,
		"faulty.lua":  `function choose(t) if t.round % 3 == 0 then error("no idea") end return "odd" end`,
		"hanging.lua": `function choose(t) while true do end end`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, []string{"experiment", "--runs", "1500", "--legs", "2", "--seed", "11", "--no-report", "--format", "json", "--time-limit", "1m",
		"--instructions", "20000", "--field", "random,markov-2,plain.lua,copycat.js,faulty.lua,hanging.lua,frequency-plugin"}
}

// alone plays the experiment on this machine.
func alone(t *testing.T, dir string, args []string) string {
	t.Helper()
	out, err := ownProcess(dir, append(args, "--quiet", "--out", "alone")...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("%v: %s", err, exit.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	digest, _ := digestOf(t, out)
	return digest
}

// startWorker starts a worker that ends with the test.
func startWorker(t *testing.T, dir, url string) *exec.Cmd {
	t.Helper()
	w := ownProcess(dir, "worker", "--cluster", url, "--workers", "1", "--time-limit", "1h", "--quiet")
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.Process.Kill()
		_ = w.Wait()
	})
	return w
}

// TestClusterKills plays an experiment whose coordinator, broker and workers are killed
// and started again: no league is lost or counted twice.
func TestClusterKills(t *testing.T) {
	t.Parallel()
	dir, args := clusterFolder(t)
	want := alone(t, dir, args)
	kills, each := 1, 1
	if os.Getenv("WHOLE_TESTS") != "" {
		kills, each = 10, 10
	}
	b := startBroker(t, dir, "127.0.0.1:0")
	defer func() { b.kill() }()
	workers := []*exec.Cmd{startWorker(t, dir, b.url), startWorker(t, t.TempDir(), b.url)}
	flags := []string{"--cluster", b.url, "--workers", "0"}
	play := append(append(args, "--out", "many"), flags...)
	killed, workersKilled := 0, 0
	for {
		e := ownProcess(dir, play...)
		var out strings.Builder
		e.Stdout = &out
		if err := e.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- e.Wait() }()
		for range each {
			if killed < kills && grows(dir, ended) {
				k := workersKilled % len(workers)
				_ = workers[k].Process.Kill()
				_ = workers[k].Wait()
				workers[k] = startWorker(t, dir, b.url)
				workersKilled++
			}
		}
		if killed == kills || !grows(dir, ended) {
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if digest, _ := digestOf(t, []byte(out.String())); digest != want {
				t.Fatalf("digest %s, want %s", digest, want)
			}
			t.Logf("killed: %d coordinators, %d brokers, %d workers", killed, killed, workersKilled)
			return
		}
		_ = e.Process.Kill()
		<-ended
		address := b.url[strings.LastIndex(b.url, "@")+1:]
		b.kill()
		b = startBroker(t, dir, address)
		killed++
		play = append([]string{"experiment", "--resume", "many", "--no-report", "--format", "json", "--time-limit", "1m", "--instructions", "20000"}, flags...)
	}
}

// startBroker starts a broker that keeps its data.
func startBroker(t *testing.T, dir, listen string) *process {
	t.Helper()
	b := &process{Cmd: ownProcess(dir, "broker", "--listen", listen, "--data-dir", "broker")}
	if err := b.start(false); err != nil {
		t.Fatal(err)
	}
	return b
}

// grows waits until the run "many" has some leagues more; false if it ended before.
func grows(dir string, ended chan error) bool {
	size := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "many", "leagues.bin"))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for begun := size(); ; {
		select {
		case err := <-ended:
			ended <- err
			return false
		case <-tick.C:
			if size() > begun+1000 {
				return true
			}
		}
	}
}

// TestClusterEmbedded has an experiment start its own broker, with workers of its own,
// and workers that come while it plays.
func TestClusterEmbedded(t *testing.T) {
	t.Parallel()
	dir, args := clusterFolder(t)
	want := alone(t, dir, args)
	for _, own := range []string{"1", "0"} {
		e := &process{Cmd: ownProcess(dir, append(args, "--cluster", "embedded", "--workers", own, "--out", "own"+own)...)}
		var out strings.Builder
		e.Stdout = &out
		if err := e.start(true); err != nil {
			t.Fatal(err)
		}
		if own == "0" {
			startWorker(t, t.TempDir(), e.url)
			startWorker(t, t.TempDir(), e.url)
		}
		<-e.rest
		if err := e.Wait(); err != nil {
			t.Fatal(err)
		}
		if digest, _ := digestOf(t, []byte(out.String())); digest != want {
			t.Errorf("--workers %s: digest %s, want %s", own, digest, want)
		}
	}
}
