package plugins_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
)

// leagues keeps what a run has recorded.
type leagues struct{ all []results.League }

func (l *leagues) Append(r *results.League) error {
	c := *r
	c.Seats, c.Matches = append([]int(nil), r.Seats...), append([]results.Match(nil), r.Matches...)
	c.Notes = append([]results.Note(nil), r.Notes...)
	l.all = append(l.all, c)
	return nil
}

// logged is a log that can be read while it is written.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// processes returns how many processes have the mark in their command line.
func processes(t *testing.T, mark string) (n int) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("it looks for processes in /proc")
	}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if line, err := os.ReadFile(f); err == nil && bytes.Contains(line, []byte(mark)) {
			n++
		}
	}
	return n
}

// wantNobody waits until no process with the mark is left.
func wantNobody(t *testing.T, mark string) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for n := processes(t, mark); n > 0; n = processes(t, mark) {
		if now := <-look.C; now.After(deadline) {
			t.Fatalf("%d processes are left behind", n)
		}
	}
}

// TestMisbehaviour has a plugin spoil its own results, and nobody else's.
func TestMisbehaviour(t *testing.T) {
	t.Parallel()
	honest := named([]string{"random", "always-odd"})
	type misbehaviour struct {
		fault game.Fault
		says  string // in a note, or in the log if there are no faults
		aside bool
	}
	for how, tc := range map[string]misbehaviour{
		"exit":            {game.FaultCrash, "exit status 3", true},
		"dead on arrival": {game.FaultCrash, "exit status 4", true},
		"panic elsewhere": {game.FaultCrash, "panic: oh no", true},
		"leave a child":   {game.FaultCrash, "exit status 3", true},
		"hang":            {game.FaultTimeout, "did not answer within", true},
		"late":            {game.FaultTimeout, "did not answer within", true},
		"tardy":           {game.FaultTimeout, "more than 50ms", false},
		"nonsense":        {game.FaultInvalid, "NaN", false},
		"panic":           {game.FaultError, "panic: oh no", false},
		"flood":           {game.NoFault, "plugin output shortened", false},
	} {
		if os.Getenv("WHOLE_TESTS") == "" && !slices.Contains([]string{"leave a child", "hang", "tardy", "flood"}, how) {
			continue
		}
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			mark := t.TempDir()
			var log logged
			c := plugins.Config{
				Command: []string{os.Args[0], "misbehave", how, mark}, Restarts: 2, Backoff: time.Millisecond,
				CallTime: time.Minute, StartTimeout: 5 * time.Minute, Log: slog.New(slog.NewTextHandler(&log, nil)),
			}
			if tc.fault == game.FaultTimeout {
				c.CallTime = 50 * time.Millisecond
			}
			all, err := plugins.Open(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			field := []strategies.Factory{all[0], honest[0], honest[1]}
			var there, without leagues
			p := plan(20, 4, field)
			p.Schema = results.PlanSchema1 // 20 leagues are too few for the experiment to quarantine it
			played(t, p, field, arena.Config{Block: 2}, &there)
			if err := all[0].Close(); err != nil {
				t.Error(err)
			}
			wantNobody(t, mark)
			played(t, p, []strategies.Factory{honest[1], honest[0], honest[1]}, arena.Config{}, &without)
			faults, notes := compare(t, there.all, without.all)
			if tc.fault == game.NoFault && len(faults) > 0 || tc.fault != game.NoFault && faults[tc.fault] == 0 {
				t.Errorf("faults %v, want %v", faults, tc.fault)
			}
			if told := notes + log.String(); !strings.Contains(told, tc.says) {
				t.Errorf("nothing says %q:\n%s", tc.says, told)
			}
			if aside := strings.Contains(notes, "failed 3 times"); aside != tc.aside || aside != (faults[game.FaultQuarantined] > 0) {
				t.Errorf("quarantined %v, want %v; faults %v, notes:\n%s", aside, tc.aside, faults, notes)
			}
		})
	}
}

// compare counts the faults of player 0 and gathers what is noted of it. The
// matches of the others among themselves have to be those of a field without
// it.
func compare(t *testing.T, there, without []results.League) (faults map[game.Fault]int, notes string) {
	t.Helper()
	faults = map[game.Fault]int{}
	for i, l := range there {
		sched, err := game.NewSchedule(len(l.Seats), 4)
		if err != nil {
			t.Fatal(err)
		}
		for j, m := range sched.Matches() {
			switch {
			case l.Seats[m.A] == 0 && l.Matches[j].A.Fault != 0:
				faults[l.Matches[j].A.Fault]++
			case l.Seats[m.B] == 0 && l.Matches[j].B.Fault != 0:
				faults[l.Matches[j].B.Fault]++
			case l.Seats[m.A] != 0 && l.Seats[m.B] != 0 && l.Matches[j] != without[i].Matches[j]:
				t.Fatalf("league %d, match %s of the others: %+v, without the plugin %+v", i, m.ID, l.Matches[j], without[i].Matches[j])
			}
		}
		for _, n := range l.Notes {
			if n.Field != 0 {
				t.Errorf("a note on player %d: %s", n.Field, n.Text)
			}
			notes += n.Text + "\n"
		}
	}
	return faults, notes
}

// TestDoesNotStart has the reason told.
func TestDoesNotStart(t *testing.T) {
	t.Parallel()
	for how, says := range map[string]string{
		"quit":     "it ended before the handshake (exit status 3); last output: error: no licence",
		"junk":     `its first line of output is "hello, world"`,
		"silence":  "no handshake within",
		"tomorrow": "protocol version 99, want 1; rebuild the plugin",
		"crowd":    "it serves 1001 strategies, want 1 to 1000",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			mark := t.TempDir()
			c := plugins.Config{Command: []string{os.Args[0], "misbehave", how, mark}, StartTimeout: 5 * time.Minute}
			if how == "silence" {
				c.StartTimeout = 2 * time.Second
			}
			_, err := plugins.Open(t.Context(), c)
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("error %v, want one that says %q", err, says)
			}
			wantNobody(t, mark)
		})
	}
	t.Run("is not there", func(t *testing.T) {
		t.Parallel()
		if _, err := plugins.Open(t.Context(), plugins.Config{Command: []string{filepath.Join(t.TempDir(), "nothing")}}); err == nil {
			t.Error("a program that is not there was opened")
		}
	})
	t.Run("is another", func(t *testing.T) {
		t.Parallel()
		c := plugin("random")
		c.Sum = strings.Repeat("0", 64)
		_, err := plugins.Open(t.Context(), c)
		var unlocked *plugins.UnlockedError
		if !errors.As(err, &unlocked) || unlocked.Want != c.Sum || len(unlocked.Got) != 64 {
			t.Errorf("error %v, want both sums", err)
		}
	})
	t.Run("gives up with its caller", func(t *testing.T) {
		t.Parallel()
		mark := t.TempDir()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := plugins.Open(ctx, plugins.Config{Command: []string{os.Args[0], "misbehave", "silence", mark}})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the context's", err)
		}
		wantNobody(t, mark)
	})
}

// TestNoisyStart sees that a plugin that writes and writes still starts, and
// does not fill the log.
func TestNoisyStart(t *testing.T) {
	t.Parallel()
	var log logged
	all := open(t, plugins.Config{
		Command: []string{os.Args[0], "misbehave", "noisy start", t.TempDir()}, Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if len(all) != 1 || all[0].Info().Name != "rogue" {
		t.Errorf("it plays %v", all)
	}
	if n := len(log.String()); n < 1000 || n > 1<<20 {
		t.Errorf("%d bytes in the log", n)
	}
}

// TestNothingOfOurs looks at what a plugin has been handed.
func TestNothingOfOurs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it looks into /proc")
	}
	t.Setenv("STRATEGYLAB_TEST_SECRET", "sesame")
	mark := t.TempDir()
	open(t, plugins.Config{Command: []string{os.Args[0], "misbehave", "nothing", mark}})
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	seen := 0
	for _, f := range files {
		if line, err := os.ReadFile(f); err != nil || !bytes.Contains(line, []byte(mark)) {
			continue
		}
		seen++
		env, err := os.ReadFile(filepath.Join(filepath.Dir(f), "environ"))
		if err != nil || bytes.Contains(env, []byte("sesame")) || bytes.Contains(env, []byte("HOME=")) {
			t.Errorf("environment %q, %v", env, err)
		}
		if in, err := os.Readlink(filepath.Join(filepath.Dir(f), "fd", "0")); err != nil || in != "/dev/null" {
			t.Errorf("standard input %q, %v", in, err)
		}
	}
	if seen != 1 {
		t.Errorf("%d processes, want 1", seen)
	}
}

// misbehave is a plugin that does args[0]. args[1] is a mark by which its
// process can be found.
func misbehave(args []string) {
	switch args[0] {
	case "quit":
		fmt.Fprintln(os.Stderr, "error: no licence")
		os.Exit(3)
	case "junk":
		fmt.Println("hello, world")
		_, _ = io.Copy(io.Discard, os.NewFile(3, "parent"))
	case "silence":
		_, _ = io.Copy(io.Discard, os.NewFile(3, "parent"))
	case "tomorrow":
		fmt.Println("1|99|unix|/nowhere|grpc|")
		_, _ = io.Copy(io.Discard, os.NewFile(3, "parent"))
	case "crowd":
		plugins.Serve(slices.Repeat([]strategies.Factory{&rogue{}}, 1001)...)
	case "family": // it has a child in its group and one of its own session
		for _, apart := range []string{"env", "setsid"} {
			child := exec.Command(apart, "/bin/sh", "-c", "sleep 3600; :", args[len(args)-1])
			if err := child.Start(); err != nil {
				panic(err)
			}
		}
	case "noisy start":
		for range 20_000 {
			fmt.Fprintln(os.Stderr, strings.Repeat("noise ", 100))
		}
		fmt.Fprint(os.Stderr, strings.Repeat("x", 1<<20))
	}
	plugins.Serve(&rogue{how: args[0], mark: args[len(args)-1]})
}

// rogue plays even until its tenth choice in this process, and then does
// something else.
type rogue struct {
	how, mark string
	asked     atomic.Int64
}

func (r *rogue) Info() strategies.Info { return strategies.Info{Name: "rogue", Fingerprint: "1"} }
func (r *rogue) Close() error          { return nil }

func (r *rogue) New(context.Context, strategies.Setup) (strategies.Strategy, error) {
	if r.how == "dead on arrival" {
		os.Exit(4)
	}
	return &rogueSeat{r}, nil
}

type rogueSeat struct{ *rogue }

func (s *rogueSeat) Observe(context.Context, *strategies.Outcome) error { return nil }

func (s *rogueSeat) Choose(context.Context, *strategies.Turn) (strategies.Choice, error) {
	if s.asked.Add(1) < 10 {
		return strategies.Even, nil
	}
	switch s.how {
	case "exit":
		os.Exit(3)
	case "panic elsewhere":
		go func() { panic("oh no") }()
		select {}
	case "hang":
		select {}
	case "late":
		time.Sleep(time.Hour)
	case "tardy":
		time.Sleep(100 * time.Millisecond)
	case "nonsense":
		return strategies.Choice(math.NaN()), nil
	case "panic":
		panic("oh no")
	case "flood":
		for range 500 {
			fmt.Fprintln(os.Stderr, "flood")
		}
	case "leave a child":
		child := exec.Command(os.Args[0], "misbehave", "silence", s.mark)
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		_ = child.Start()
		os.Exit(3)
	}
	return strategies.Even, nil
}

// TestDescendants looks for the children of a plugin after its host was killed, and after it
// was closed.
func TestDescendants(t *testing.T) {
	t.Parallel()
	killed := t.TempDir()
	cmd := exec.Command(os.Args[0], "host", killed, "family")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	says := bufio.NewReader(stderr)
	for _, want := range []string{"begins\n", "has opened\n"} {
		if line, err := says.ReadString('\n'); err != nil || line != want {
			t.Errorf("the host says %q, %v", line, err)
		}
	}
	for processes(t, killed) < 3 { // the host, a plugin and its children, between two rounds of the host
		time.Sleep(time.Millisecond)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	wantNobody(t, killed)

	closed := t.TempDir()
	all, err := plugins.Open(t.Context(), plugins.Config{Command: []string{os.Args[0], "misbehave", "family", closed}})
	if err != nil {
		t.Fatal(err)
	}
	if n := processes(t, closed); n < 3 {
		t.Errorf("%d processes, want the plugin and two children", n)
	}
	if err := all[0].Close(); err != nil {
		t.Error(err)
	}
	wantNobody(t, closed)
}
