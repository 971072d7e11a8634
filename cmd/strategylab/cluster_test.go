package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/experiments/cluster"
	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// brokerURL is what brokers and experiments print for workers.
var brokerURL = regexp.MustCompile(`(nats|tls)://\S+`)

// scriptBroker starts a broker that ends with the script, and sets CLUSTER: broker ARG...
func scriptBroker(ts *testscript.TestScript, _ bool, args []string) {
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
	rest chan struct{} // closed when the output that has the address has ended
	gone chan struct{} // closed when the other output has ended: the broker's process has it, too
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
	p.rest, p.gone = make(chan struct{}), make(chan struct{})
	if stderr {
		close(p.gone)
	} else {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		defer w.Close()
		p.Stderr = w
		go func() {
			defer close(p.gone)
			defer r.Close()
			_, _ = io.Copy(io.Discard, r)
		}()
	}
	if err := p.Start(); err != nil {
		return err
	}
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

// kill kills the program and waits until its broker has ended as well, whose address is
// free then.
func (p *process) kill() {
	_ = p.Process.Kill()
	<-p.rest
	<-p.gone
	_ = p.Wait()
}

// clusterFolder returns a folder with scripts, and the arguments of an experiment with
// every kind of strategy, of which one faults and one hangs.
func clusterFolder(t *testing.T, runs string) (dir string, args []string) {
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
	return dir, []string{"experiment", "--runs", runs, "--legs", "2", "--seed", "11", "--no-report", "--format", "json", "--time-limit", "1m",
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
	return startWorkerChanged(t, func(*exec.Cmd) {}, dir, url)
}

// startWorkerChanged is startWorker, with the command changed before it runs.
func startWorkerChanged(t *testing.T, change func(*exec.Cmd), dir, url string) *exec.Cmd {
	t.Helper()
	w := ownProcess(dir, "worker", "--cluster", url, "--workers", "1", "--time-limit", "1h", "--quiet")
	change(w)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.Process.Kill()
		_ = w.Wait()
	})
	return w
}

// longTests has tests take minutes: make cluster-tests and make crash-tests.
var longTests = os.Getenv("LONG_TESTS") != ""

// TestCrashOfACluster plays an experiment whose coordinator, broker and workers are killed
// at random moments and started again: no league is lost or counted twice.
func TestCrashOfACluster(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	workers, runs := []int{2}, "600"
	if someKills() > 2 {
		runs = "6000"
	}
	if longTests {
		workers = []int{1, 2, 7}
	}
	dir, args := clusterFolder(t, runs)
	want := alone(t, dir, args)
	for i, number := range workers {
		k := killing{t: t, dir: dir, traces: newTraces(t), rnd: rand.New(rand.NewPCG(uint64(i), 1))}
		k.broker = k.startBroker(jsonrpctest.Address(t))
		for range number {
			k.workers = append(k.workers, k.startWorker())
		}
		runs := 0
		for ; k.rounds < someKills() || runs == 0; runs++ {
			k.out = fmt.Sprintf("many%d-%d", number, runs)
			if digest := k.play(args, someKills()); digest != want {
				t.Fatalf("%d workers, %s: digest %s, want %s", number, k.out, digest, want)
			}
		}
		k.broker.kill()
		for _, w := range k.workers {
			_ = w.Process.Kill()
			_ = w.Wait()
		}
		k.traces.gone(dir)
		t.Logf("crash: worker, broker, coordinator: %d kills of each with %d workers, %d runs with the digest of an undisturbed one", k.rounds, number, runs)
	}
}

// killing is a run whose processes are killed.
type killing struct {
	t        *testing.T
	dir, out string
	traces   traces
	rnd      *rand.Rand
	broker   *process
	workers  []*exec.Cmd
	rounds   int // in each of which one process of each kind is killed
}

// play plays the run and returns the digest. In every round it kills a worker and the
// broker, in any order, and then the coordinator.
func (k *killing) play(args []string, rounds int) string {
	flags := []string{"--cluster", k.broker.url, "--workers", "0", "--worker-timeout", "300ms", "--quiet"}
	play := append(append(slices.Clone(args), "--out", k.out), flags...)
	for {
		e := ownProcess(k.dir, play...)
		k.traces.keep(e)
		var out, problems strings.Builder
		e.Stdout, e.Stderr = &out, &problems
		if err := e.Start(); err != nil {
			k.t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- e.Wait() }()
		kills := []func(){k.killWorker, k.killBroker}
		k.rnd.Shuffle(len(kills), func(i, j int) { kills[i], kills[j] = kills[j], kills[i] })
		for _, kill := range append(kills, func() { _ = e.Process.Kill() }) {
			if k.rounds == rounds || !k.grows(ended) {
				if err := <-ended; err != nil {
					k.t.Fatalf("%v: %s", err, problems.String())
				}
				digest, _ := digestOf(k.t, []byte(out.String()))
				return digest
			}
			<-time.After(time.Duration(k.rnd.Int64N(int64(100 * time.Millisecond))))
			kill()
		}
		<-ended
		if e.ProcessState.Success() { // it was over before it could be killed
			digest, _ := digestOf(k.t, []byte(out.String()))
			return digest
		}
		k.rounds++
		play = append([]string{"experiment", "--resume", k.out, "--no-report", "--format", "json", "--time-limit", "1m", "--instructions", "20000"}, flags...)
	}
}

func (k *killing) killWorker() {
	w := k.rnd.IntN(len(k.workers))
	_ = k.workers[w].Process.Kill()
	_ = k.workers[w].Wait()
	k.workers[w] = k.startWorker()
}

func (k *killing) killBroker() {
	address := k.broker.url[strings.LastIndex(k.broker.url, "@")+1:]
	k.broker.kill()
	k.broker = k.startBroker(address)
}

func (k *killing) startWorker() *exec.Cmd {
	k.t.Helper()
	return startWorkerChanged(k.t, k.traces.keep, k.t.TempDir(), k.broker.url)
}

func (k *killing) startBroker(listen string) *process {
	k.t.Helper()
	return startBrokerChanged(k.t, k.traces.keep, k.dir, listen)
}

// startBroker starts a broker that keeps its data.
func startBroker(t *testing.T, dir, listen string) *process {
	t.Helper()
	return startBrokerChanged(t, func(*exec.Cmd) {}, dir, listen)
}

// startBrokerChanged is startBroker, with the command changed before it runs.
func startBrokerChanged(t *testing.T, change func(*exec.Cmd), dir, listen string) *process {
	t.Helper()
	b := &process{Cmd: ownProcess(dir, "broker", "--listen", listen, "--data-dir", "broker")}
	change(b.Cmd)
	if err := b.start(false); err != nil {
		t.Fatal(err)
	}
	return b
}

// grows waits until the run has some leagues more; false if it ended before.
func (k *killing) grows(ended chan error) bool {
	size := func() int64 {
		info, err := os.Stat(filepath.Join(k.dir, k.out, "leagues.bin"))
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
	notRaced(t, ownProcesses)
	dir, args := clusterFolder(t, "500")
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

// TestClusterInTheBrowser has the page of an experiment show what other machines play.
func TestClusterInTheBrowser(t *testing.T) {
	t.Parallel()
	cmd, stderr, page := onPage(t, t.TempDir(), "--cluster", "embedded", "--runs", "100", "--legs", "2", "--seed", "1", "--field", "random,role,markov-1", "--out", "out")
	stderr.until("the report stays at ")
	resp, err := http.Get(page)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(text), "100 leagues") {
		t.Errorf("%v: the report is %.300s", err, text)
	}
	stops(t, cmd)
}

// TestClusterAdoptsRun kills an experiment and continues it by the name that its broker
// knows it by, without its folder and its scripts.
func TestClusterAdoptsRun(t *testing.T) {
	t.Parallel()
	dir, args := clusterFolder(t, "100")
	want := alone(t, dir, args)
	b := startBroker(t, dir, jsonrpctest.Address(t))
	defer b.kill()
	e := ownProcess(dir, append(args, "--out", "lost", "--cluster", b.url, "--workers", "0")...) // nobody plays
	stderr := collect(t, "stderr")
	e.Stderr = stderr.file
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	run := regexp.MustCompile(`this is run (\S+) on the broker`).FindStringSubmatch(stderr.until("if lost is lost"))
	if run == nil {
		t.Fatal("the experiment does not name its run")
	}
	elsewhere := t.TempDir()
	resume := []string{"experiment", "--resume", run[1], "--cluster", b.url, "--no-report", "--format", "json", "--time-limit", "1m", "--instructions", "20000", "--quiet"}
	if out, err := ownProcess(elsewhere, resume...).CombinedOutput(); err == nil || !strings.Contains(string(out), "another experiment is playing it; stop that first") {
		t.Errorf("%v: %s", err, out)
	}
	remove := []string{"cluster", "remove", run[1], "--cluster", b.url}
	if out, err := ownProcess(elsewhere, remove...).CombinedOutput(); err == nil || !strings.Contains(string(out), "another experiment is playing it; stop that first") {
		t.Errorf("%v: %s", err, out)
	}
	_ = e.Process.Kill()
	_ = e.Wait()
	status := []string{"cluster", "status", "--cluster", b.url}
	if out, err := ownProcess(elsewhere, status...).CombinedOutput(); err != nil || !regexp.MustCompile(run[1]+` +\?/100 +no experiment plays it`).Match(out) {
		t.Errorf("%v: %s", err, out)
	}
	out, err := ownProcess(elsewhere, resume...).Output()
	if err != nil {
		t.Fatal(err)
	}
	if digest, leagues := digestOf(t, out); digest != want || leagues != 100 {
		t.Errorf("%d leagues with digest %s, want 100 with %s", leagues, digest, want)
	}
	if _, err := os.Stat(filepath.Join(elsewhere, "runs", run[1], "summary.json")); err != nil {
		t.Error(err)
	}
}

// TestClusterLiar has a worker change choices, which no record shows, until playing twice
// does: all that it has played is played again, and the summary says so.
func TestClusterLiar(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"experiment", "--runs", "600", "--seed", "5", "--field", "random,markov-2,frequency", "--no-report", "--format", "json"}
	want := alone(t, dir, args)
	b := startBroker(t, dir, jsonrpctest.Address(t))
	defer b.kill()
	link, err := cluster.Connect(t.Context(), cluster.Config{URL: b.url})
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	ctx, stop := context.WithCancel(t.Context())
	ended, lied := make(chan error, 1), make(chan struct{})
	once := sync.OnceFunc(func() { close(lied) })
	go func() {
		ended <- link.Serve(ctx, cluster.ServeConfig{Cores: 1, Name: "liar", Version: "test",
			Open: func(_ context.Context, job cluster.Job, _ func(string) ([]byte, error)) (experiments.Driver, func() error, error) {
				d, err := builtinDriver(job.Plan)
				return liar{d, once}, func() error { return nil }, err
			}})
	}()
	defer func() { stop(); <-ended }()
	e := ownProcess(dir, append(args, "--out", "many", "--cluster", b.url, "--workers", "0", "--verify", "1")...)
	var out, screen strings.Builder
	e.Stdout, e.Stderr = &out, &screen
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	<-lied
	startWorker(t, dir, b.url)
	if err := e.Wait(); err != nil {
		t.Fatalf("%v: %s", err, screen.String())
	}
	digest, _ := digestOf(t, []byte(out.String()))
	if digest != want || !strings.Contains(screen.String(), "worker liar (") || !strings.Contains(out.String(), `"aside": "its records cannot be right: it got other records of leagues `) {
		t.Errorf("digest %s, want %s; %s%s", digest, want, screen.String(), out.String())
	}
}

// liar plays leagues with the opposite of some choices.
type liar struct {
	experiments.Driver
	lies func() // is called when it does
}

func (l liar) NewWorker(ctx context.Context) (experiments.Worker, error) {
	w, err := l.Driver.NewWorker(ctx)
	return lyingWorker{w, l.lies}, err
}

type lyingWorker struct {
	experiments.Worker
	lies func()
}

func (w lyingWorker) Play(ctx context.Context, first int, out []results.League, quarantined []bool) error {
	err := w.Worker.Play(ctx, first, out, quarantined)
	for i := range out {
		if err == nil && out[i].Index >= 20 {
			a := &out[i].Matches[0].A
			a.Choice = 3 - a.Choice // the other of even (1) and odd (2)
			w.lies()
		}
	}
	return err
}

// builtinDriver plays a plan of built-in strategies.
func builtinDriver(plan results.Plan) (experiments.Driver, error) {
	var field []strategies.Factory
	for _, e := range plan.Field {
		f, ok := builtin.Find(e.Ref)
		if !ok {
			return nil, fmt.Errorf("no strategy %q", e.Ref)
		}
		field = append(field, f)
	}
	return arena.New(plan, field, arena.Config{})
}
