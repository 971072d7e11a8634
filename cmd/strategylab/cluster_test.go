package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
)

// brokerURL is what brokers and experiments print for workers.
const brokerURL = `((?:nats|tls)://\S+)\s`

// scriptBroker starts a broker that ends with the script, and sets CLUSTER: broker ARG...
func scriptBroker(ts *testscript.TestScript, _ bool, args []string) {
	b := starting(ts, append([]string{"broker", "--listen", "127.0.0.1:0"}, args...)...)
	var url []string
	comes(time.After(hostPatience), func() bool {
		url = regexp.MustCompile(brokerURL).FindStringSubmatch(b.out.String())
		return url != nil || b.over()
	})
	if url == nil {
		ts.Fatalf("the broker does not listen: %s", b.err.String())
	}
	ts.Setenv("CLUSTER", url[1])
	ts.Setenv("BROKER", url[1][strings.LastIndex(url[1], "@")+1:])
}

// worker starts a worker of the cluster that ends with the script: worker ARG...
func worker(ts *testscript.TestScript, _ bool, args []string) {
	starting(ts, append([]string{"worker", "--cluster", ts.Getenv("CLUSTER")}, args...)...)
}

// clusterFolder returns a folder with scripts, and the arguments of an experiment with
// every kind of strategy, but for plugins in a plain run, of which one faults and one hangs.
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
	field := "random,markov-2,plain.lua,copycat.js,faulty.lua,hanging.lua"
	if wholeSets {
		field += ",frequency-plugin" // each process computes the digest of its program
	}
	return dir, []string{"experiment", "--runs", runs, "--legs", "2", "--seed", "11", "--no-report", "--format", "json", "--time-limit", "1m",
		"--instructions", "20000", "--field", field}
}

// alone plays the experiment on this machine.
func alone(t *testing.T, dir string, args []string) string {
	t.Helper()
	digest, _ := played(t, commandLine(t.Context(), dir, append(args, "--quiet", "--out", "alone")...))
	return digest
}

// played runs a command that succeeds and prints a run as JSON.
func played(t *testing.T, cmd *exec.Cmd) (digest string, leagues int) {
	t.Helper()
	p := begin(t, cmd)
	if code := p.code(); code != exitOK {
		t.Fatalf("%q: exit code %d: %s", p.Args, code, p.err.String())
	}
	return digestOf(t, []byte(p.out.String()))
}

// aWorker is the command line of a worker.
func aWorker(t *testing.T, dir, url string) *exec.Cmd {
	return commandLine(t.Context(), dir, "worker", "--cluster", url, "--workers", "1", "--time-limit", "1h", "--quiet")
}

// startBroker starts a broker that keeps its data and returns its address.
func startBroker(t *testing.T, cmd *exec.Cmd) (b *process, url string) {
	t.Helper()
	b = begin(t, cmd)
	return b, b.out.until(brokerURL)[1]
}

// aBroker is the command line of a broker that keeps its data.
func aBroker(t *testing.T, dir, listen string) *exec.Cmd {
	return commandLine(t.Context(), dir, "broker", "--listen", listen, "--data-dir", "broker")
}

// longTests has tests take minutes: make cluster-tests and make crash-tests.
var longTests = os.Getenv("LONG_TESTS") != ""

// TestCrashOfACluster plays an experiment whose coordinator, broker and workers are killed
// at random moments and started again: no league is lost or counted twice.
func TestCrashOfACluster(t *testing.T) {
	t.Parallel()
	whole(t, "those of experiments/cluster lose workers, brokers and coordinators in one process")
	notRaced(t, ownProcesses)
	workers, runs := []int{2}, "300"
	if longTests {
		workers, runs = []int{1, 2, 7}, "6000"
	}
	dir, args := clusterFolder(t, runs)
	want := alone(t, dir, args)
	for i, number := range workers {
		k := killing{t: t, dir: dir, traces: newTraces(t), rnd: rand.New(rand.NewPCG(uint64(i), 1))}
		k.startBroker(jsonrpctest.Address(t))
		for range number {
			k.workers = append(k.workers, k.startWorker())
		}
		runs := 0
		for ; k.rounds < someKills() || runs == 0; runs++ {
			k.out = fmt.Sprintf("many%d-%d", number, runs)
			if digest, document := k.play(args, someKills()); digest != want {
				t.Fatalf("%d workers, %s: digest %s, want %s: %s", number, k.out, digest, want, document)
			}
		}
		for _, p := range append(k.workers, k.broker) {
			p.kill()
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
	url      string
	broker   *process
	workers  []*process
	rounds   int // in each of which one process of each kind is killed
}

// play plays the run and returns the digest. In every round it kills a worker and the
// broker, in any order, and then the coordinator.
func (k *killing) play(args []string, rounds int) (digest, document string) {
	flags := []string{"--cluster", k.url, "--workers", "0", "--worker-timeout", "300ms", "--quiet"}
	play := slices.Concat(args, []string{"--out", k.out}, flags)
	for {
		e := begin(k.t, k.traces.keep(commandLine(k.t.Context(), k.dir, play...)))
		kills := []func(){k.killWorker, k.killBroker}
		k.rnd.Shuffle(len(kills), func(i, j int) { kills[i], kills[j] = kills[j], kills[i] })
		for _, kill := range append(kills, e.kill) {
			if k.rounds == rounds || !grows(k.t, e, filepath.Join(k.dir, k.out)) {
				break
			}
			<-time.After(time.Duration(k.rnd.Int64N(int64(100 * time.Millisecond))))
			kill()
		}
		if code := e.code(); code == exitOK { // perhaps before it could be killed
			digest, _ = digestOf(k.t, []byte(e.out.String()))
			return digest, e.out.String()
		} else if code >= 0 {
			k.t.Fatalf("exit code %d: %s", code, e.err.String())
		}
		k.rounds++
		play = append(resuming(k.out), flags...)
	}
}

// resuming are the arguments that continue a run of clusterFolder.
func resuming(out string) []string {
	return []string{"experiment", "--resume", out, "--no-report", "--format", "json", "--time-limit", "1m", "--instructions", "20000"}
}

func (k *killing) killWorker() {
	w := k.rnd.IntN(len(k.workers))
	k.workers[w].kill()
	k.workers[w] = k.startWorker()
}

func (k *killing) killBroker() {
	k.broker.kill()
	k.startBroker(k.url[strings.LastIndex(k.url, "@")+1:])
}

func (k *killing) startWorker() *process {
	k.t.Helper()
	return begin(k.t, k.traces.keep(aWorker(k.t, k.t.TempDir(), k.url)))
}

func (k *killing) startBroker(listen string) {
	k.t.Helper()
	k.broker, k.url = startBroker(k.t, k.traces.keep(aBroker(k.t, k.dir, listen)))
}

// grows waits until a run has some leagues more; false if its process ended before.
func grows(t *testing.T, e *process, out string) (more bool) {
	t.Helper()
	size := func() int64 {
		info, err := os.Stat(filepath.Join(out, "leagues.bin"))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	begun := size()
	until(t, "leagues on disk", func() bool {
		more = size() > begun+1000
		return more || e.over()
	})
	return more
}

// TestClusterEmbedded has an experiment start its own broker, with a worker of its own, or
// with workers that come while it plays. A plain run has the latter.
func TestClusterEmbedded(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	dir, args := clusterFolder(t, "100")
	want := alone(t, dir, args)
	for _, own := range []string{"0", "1"} {
		if own == "1" && !wholeSets {
			continue
		}
		e := launch(t, dir, append(args, "--cluster", "embedded", "--workers", own, "--out", "own"+own)...)
		url := e.err.until(brokerURL)[1]
		if own == "0" {
			begin(t, aWorker(t, t.TempDir(), url))
			begin(t, aWorker(t, t.TempDir(), url))
		}
		if code := e.code(); code != exitOK {
			t.Fatalf("exit code %d: %s", code, e.err.String())
		}
		if digest, _ := digestOf(t, []byte(e.out.String())); digest != want {
			t.Errorf("--workers %s: digest %s, want %s", own, digest, want)
		}
	}
}

// TestClusterAdoptsRun kills an experiment and continues it by the name that its broker
// knows it by, without its folder and its scripts.
func TestClusterAdoptsRun(t *testing.T) {
	t.Parallel()
	whole(t, "TestCrashOfACluster resumes a run whose folder is there")
	dir, args := clusterFolder(t, "50")
	want := alone(t, dir, args)
	_, url := startBroker(t, aBroker(t, dir, "127.0.0.1:0"))
	e := launch(t, dir, append(args, "--out", "lost", "--cluster", url, "--workers", "0")...) // nobody plays
	run := e.err.until(`this is run (\S+) on the broker[\s\S]*if lost is lost`)[1]
	elsewhere := t.TempDir()
	resume := append(resuming(run), "--cluster", url, "--quiet")
	for _, line := range [][]string{resume, {"cluster", "remove", run, "--cluster", url}} {
		if out := run1(t, elsewhere, exitFailure, line...); !strings.Contains(out, "another experiment is playing it; stop that first") {
			t.Errorf("%q: %s", line, out)
		}
	}
	e.kill()
	if out := run1(t, elsewhere, exitOK, "cluster", "status", "--cluster", url); !regexp.MustCompile(run + ` +\?/50 +no experiment plays it`).MatchString(out) {
		t.Error(out)
	}
	if digest, leagues := played(t, commandLine(t.Context(), elsewhere, resume...)); digest != want || leagues != 50 {
		t.Errorf("%d leagues with digest %s, want 50 with %s", leagues, digest, want)
	}
	if _, err := os.Stat(filepath.Join(elsewhere, "runs", run, "summary.json")); err != nil {
		t.Error(err)
	}
}

// embedded is the command line of an experiment with a broker of its own and no workers. What a broker that is killed
// leaves is in the folder.
func embedded(t *testing.T, dir string) *exec.Cmd {
	e := commandLine(t.Context(), dir, "experiment", "--cluster", "embedded", "--workers", "0", "--runs", "10", "--field", "random,role", "--no-report")
	e.Env = append(os.Environ(), "TMPDIR="+dir)
	return e
}

// TestBrokerStops interrupts a broker, which removes its temporary folder.
func TestBrokerStops(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		dir := t.TempDir()
		cmd := commandLine(t.Context(), dir, "broker", "--listen", "127.0.0.1:0", "--quiet")
		cmd.Env = append(os.Environ(), "TMPDIR="+dir)
		b, _ := startBroker(t, cmd)
		if kept, _ := filepath.Glob(filepath.Join(dir, "*", "token")); len(kept) != 1 {
			t.Errorf("the broker keeps its token in %q", kept)
		}
		b.signal(signal)
		if code := b.code(); code != exitStopped {
			t.Errorf("after %v: exit code %d", signal, code)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("after %v the broker leaves %v, %v", signal, left, err)
		}
	}
}

// brokerOf returns the process of the broker that a program has started.
func brokerOf(t *testing.T, pid int) int {
	t.Helper()
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		children, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		for _, child := range strings.Fields(string(children)) {
			line, err := os.ReadFile(filepath.Join("/proc", child, "cmdline"))
			if program, rest, _ := bytes.Cut(line, []byte{0}); err == nil && filepath.Base(string(program)) == "strategylab-broker" {
				if len(rest) > 0 {
					t.Errorf("the broker has the arguments %q, which everybody can read", rest)
				}
				broker, err := strconv.Atoi(child)
				if err != nil {
					t.Fatal(err)
				}
				return broker
			}
		}
	}
	t.Fatalf("process %d has no broker", pid)
	return 0
}

// TestBrokerIsLost kills brokers alone: what has started them says so and ends.
func TestBrokerIsLost(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("processes of others are looked up in /proc")
	}
	dir := t.TempDir()
	broker := commandLine(t.Context(), dir, "broker", "--listen", "127.0.0.1:0")
	broker.Env = append(os.Environ(), "TMPDIR="+dir)
	for _, c := range []struct {
		cmd  *exec.Cmd
		code int
		says string
	}{
		{broker, exitFailure, `strategylab: the broker has ended \(signal: killed\)\n`},
		{embedded(t, dir), exitStopped, `strategylab: the broker has ended \(signal: killed\); what is complete is kept\n`},
	} {
		p := begin(t, c.cmd)
		p.err.until("start workers with")
		broker, err := os.FindProcess(brokerOf(t, p.Process.Pid))
		if err == nil {
			err = broker.Kill()
		}
		if err != nil {
			t.Fatal(err)
		}
		if code := p.code(); code != c.code {
			t.Errorf("exit code %d, want %d", code, c.code)
		}
		p.err.until(c.says)
	}
}

// parquetVariable has strategylab-parquet fail or hang, for tests.
const parquetVariable = "PARQUET_TEST"

// serveParquet is in place of the program strategylab-parquet, which is a module of its own:
// the file is what that program would read.
func serveParquet() {
	switch os.Getenv(parquetVariable) {
	case "fails":
		exit(errors.New("strategylab-parquet: the disk is full"))
	case "hangs":
		for range time.Tick(time.Hour) { // until it is killed
		}
	}
	_, err := io.Copy(os.Stdout, os.Stdin)
	exit(err)
}

// TestExportLeavesNothing exports with a program that fails and with one that never ends:
// no file stays that is not whole.
func TestExportLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run1(t, dir, exitOK, "experiment", "--runs", "10", "--field", "random,role", "--no-report", "--out", "run")
	left := func(what string) []string {
		found, _ := filepath.Glob(filepath.Join(dir, what))
		return found
	}
	for how, code := range map[string]int{"fails": exitUsage, "hangs": exitStopped} {
		cmd := commandLine(t.Context(), dir, "export", "run", "--out", "leagues.parquet")
		cmd.Env = append(os.Environ(), parquetVariable+"="+how)
		p := begin(t, cmd)
		if how == "fails" {
			p.err.until("strategylab: export run: exit status 1: strategylab-parquet: the disk is full\n")
		} else {
			until(t, "the file", func() bool { return len(left("leagues.parquet.*.part")) == 1 })
			p.signal(os.Interrupt)
		}
		if p.code() != code || len(left("leagues*")) > 0 {
			t.Errorf("a program that %s: %v, and it leaves %q", how, p.ProcessState, left("leagues*"))
		}
	}
}
