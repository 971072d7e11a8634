package plugins

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/plugins/subprocess"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// TestEndOfScript: what the runtime writes when it has no memory left becomes one
// sentence for the script's author, and nobody sees the rest.
func TestEndOfScript(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	for words, want := range map[string]string{
		"fatal error: runtime: out of memory\n\ngoroutine 1 [running]:":                                 "out of memory, of which a script has 256 MiB",
		"runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\nPC=0x7f": "out of memory, of which a script has 256 MiB",
		"SIGSEGV: segmentation violation\nPC=0x43a8dd m=8 sigcode=1 addr=0x0":                           "out of memory, of which a script has 256 MiB",
		"panic: oh no\n\ngoroutine 1 [running]:":                                                        "exit status 2; last output: panic: oh no",
		"":                                                                                              "exit status 2",
	} {
		p := &process{
			own: true, config: &Config{Script: new(Script), Memory: 256 << 20},
			output: &output{log: slog.New(slog.NewTextHandler(&log, nil)), own: true},
		}
		p.output.read(strings.NewReader(words))
		p.output.end()
		if got := p.ended("exit status 2").Error(); got != strategies.ErrCrashed.Error()+": "+want {
			t.Errorf("after %q it says %q, want %q", words, got, want)
		}
	}
	if log.Len() > 0 {
		t.Errorf("it warns of\n%s", log.String())
	}
}

// TestHalvedTimeSurvivesRestarts: a call that ends its process must not get the whole
// time again in the next.
func TestHalvedTimeSurvivesRestarts(t *testing.T) {
	t.Parallel()
	script := &Script{Limits: budget.Limits{Time: 800 * time.Millisecond}}
	k := &supervisor{config: Config{Script: script}}
	for stuck, want := range map[int]time.Duration{0: 800, 1: 400, 3: 100, 20: 50} {
		k.stuck = stuck
		if got := k.halved().Script.Limits.Time; got != want*time.Millisecond {
			t.Errorf("after %d stuck calls: %v, want %d ms", stuck, got, want)
		}
	}
	if script.Limits.Time != 800*time.Millisecond {
		t.Errorf("the limit of the configuration became %v", script.Limits.Time)
	}
}

// TestFloodOfOutput: the warnings are bounded and end with the last line; the
// trace of a panic is none of them, but the author finds it in the debug log.
func TestFloodOfOutput(t *testing.T) {
	t.Parallel()
	numbered := func(prefix string, n int) []string {
		lines := make([]string, n)
		for i := range lines {
			lines[i] = fmt.Sprint(prefix, i)
		}
		return lines
	}
	trace := slices.Concat([]string{"starting", "panic: oh no"}, numbered("goroutine ", 1000))
	for name, tc := range map[string]struct {
		lines    []string
		warnings []string // the last with the number of lines and the last of them
		debug    int
	}{
		"few":                      {numbered("note ", burstLines), numbered("note ", burstLines), 0},
		"flood":                    {numbered("note ", 1000), append(numbered("note ", burstLines), "plugin output shortened 980 note 999"), mostBurst - burstLines},
		"panic":                    {trace, []string{"starting", "panic: oh no", "plugin output shortened 1000 goroutine 999"}, mostBurst - 2},
		"short panic":              {trace[:4], []string{"starting", "panic: oh no", "plugin output shortened 2 goroutine 1"}, 2},
		"long, empty and coloured": {[]string{strings.Repeat("x", 100_000), "", "red \x1b[31m"}, []string{strategies.OneLine(strings.Repeat("x", 2*mostText), mostText), strategies.OneLine("red \x1b[31m", mostText)}, 0},
		"of go-plugin": {[]string{
			`{"@level":"debug","@message":"plugin address","@timestamp":"2026-01-01T00:00:00.000000Z","address":"/tmp/plugin1"}`,
			`2026-01-01T00:00:00.000Z [INFO]  plugin: started`, `2026-01-01T00:00:00.000Z [WARN]  plugin: late`, `debugging`,
		}, []string{`2026-01-01T00:00:00.000Z [WARN]  plugin: late`, `debugging`}, 2},
		"only an error": {[]string{"fatal error: all goroutines are asleep"}, []string{"fatal error: all goroutines are asleep"}, 0},
	} {
		var warnings []string
		debug := 0
		o := &output{log: slog.New(recorded(func(r slog.Record) {
			if r.Level < slog.LevelWarn {
				debug++
				return
			}
			text := r.Message
			r.Attrs(func(a slog.Attr) bool { text += " " + a.Value.String(); return true })
			warnings = append(warnings, text)
		}))}
		synctest.Test(t, func(*testing.T) { // all in one burst
			o.read(strings.NewReader(strings.Join(tc.lines, "\n")))
			o.end()
		})
		if strings.Contains(strings.Join(warnings, ""), "\x1b") || !slices.Equal(warnings, tc.warnings) || debug != tc.debug {
			t.Errorf("%s: %d debug lines and the warnings\n%s\nwant %d and\n%s", name, debug, strings.Join(warnings, "\n"), tc.debug, strings.Join(tc.warnings, "\n"))
		}
	}
}

// recorded passes records to a function.
type recorded func(slog.Record)

func (h recorded) Enabled(context.Context, slog.Level) bool      { return true }
func (h recorded) Handle(_ context.Context, r slog.Record) error { h(r); return nil }
func (h recorded) WithAttrs([]slog.Attr) slog.Handler            { return h }
func (h recorded) WithGroup(string) slog.Handler                 { return h }

func TestLogLines(t *testing.T) {
	t.Parallel()
	var lines logLines
	log := slog.New(&logHandler{lines: &lines, seat: 7}).With("who", "P01").WithGroup("g")
	log.Warn("careful", "n", 3)
	for range 2 * mostLines {
		log.Info("more")
	}
	got := lines.take()
	if len(got) != mostLines || lines.take() != nil {
		t.Fatalf("%d lines, want %d and then none", len(got), mostLines)
	}
	first := got[0]
	if first.GetSeat() != 7 || first.GetText() != "careful" || slog.Level(first.GetLevel()) != slog.LevelWarn ||
		!slices.Equal(first.GetAttributes(), []string{"who", "P01", "g.n", "3"}) {
		t.Errorf("line %v", first)
	}
	var out bytes.Buffer
	forward(slog.New(slog.NewTextHandler(&out, nil)), &pb.LogLine{Text: "hi", Attributes: []string{"a\nb", "1", "odd one"}})
	if !strings.Contains(out.String(), `msg=hi "a b"=1`) || strings.Contains(out.String(), "odd one") {
		t.Errorf("log %q", out.String())
	}
	forward(nil, first) // nobody wants it
}

// TestWorkOfAPlugin: what a plugin makes the host wait counts in full unless the machine was busy.
func TestWorkOfAPlugin(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says how long a process has waited for a processor")
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	p := &process{child: &child{cmd: &exec.Cmd{Process: self}, done: make(chan struct{})}}
	before, _ := p.delays()
	const waited = 100 * time.Hour // beside which what this process waits meanwhile is nothing
	p.waited.Store(int64(waited))
	setup := strategies.Setup{Field: make([]string, 11), Legs: 1, Totals: 2}
	for _, tt := range []struct {
		totals         int
		spent, delayed time.Duration
		over           bool
	}{
		{2, 200 * time.Millisecond, 0, true}, // it may work for 40 ms
		{2, 30 * time.Millisecond, 0, false},
		{2, 200 * time.Millisecond, waited * 9 / 10, false},
		{2, 200 * time.Millisecond, 2 * waited, false}, // of several threads
		{2, 500 * time.Millisecond, waited, true},      // it may keep the host waiting for 350 ms
		{1, 200 * time.Millisecond, 0, false},
		{1, 500 * time.Millisecond, 0, true},
	} {
		setup.Totals, p.delayed = tt.totals, before-tt.delayed
		cost := newSeatCost(time.Second, &setup)
		cost.spent = tt.spent
		if got := cost.share(p); got.Over() != tt.over || got.Exact {
			t.Errorf("totals %d, %v while processors were waited for %v of %v: %+v", tt.totals, tt.spent, tt.delayed, waited, got)
		}
	}
}

// TestPoolClosedAsItRests: what ends at that moment for want of work has ended after Close.
func TestPoolClosedAsItRests(t *testing.T) {
	t.Parallel()
	p := NewPool(Config{Command: []string{os.Args[0], "tasks", "-"}, StartTimeout: 5 * time.Minute}, time.Nanosecond)
	w, err := p.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	waits := func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.idle) > 0
	}
	for p.Give(w); waits(); {
		<-time.After(time.Microsecond)
	}
	_ = p.Close()
	if _, err := os.Stat(w.process.folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder is there after Close: %v", err)
	}
}

// sweep removes the folders of hosts that have ended, and no others. Not
// parallel: it sets TMPDIR.
func TestSweep(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ended := "999999999" // above the largest process id
	unwaited := exec.Command(os.Args[0], "-test.run", "^$")
	if err := unwaited.Start(); err != nil {
		t.Fatal(err)
	}
	defer unwaited.Wait()
	zombie := strconv.Itoa(unwaited.Process.Pid)
	if runtime.GOOS != "linux" { // only there init may leave it so
		zombie = ended
	} else {
		for subprocess.Identify(unwaited.Process.Pid) != "" {
			<-time.After(time.Millisecond)
		}
	}
	mine, reused := subprocess.Identify(os.Getpid()), ended
	if runtime.GOOS == "linux" { // which says when it began
		reused = mine[:len(mine)-1] // earlier, and its digits begin as those of the host do
	}
	for _, host := range []string{ended, zombie, mine, reused, "nonsense"} {
		if err := os.MkdirAll(filepath.Join(temp, folderPrefix+host+"-1"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(temp, folderPrefix+ended+"-2"), nil, 0o600); err != nil { // of another program
		t.Fatal(err)
	}
	sweep()
	left, err := os.ReadDir(temp)
	var names []string
	for _, d := range left {
		names = append(names, strings.TrimPrefix(d.Name(), folderPrefix))
	}
	if want := []string{ended + "-2", mine + "-1", "nonsense-1"}; err != nil || len(names) != len(want) || !slices.Equal(names, slices.Sorted(slices.Values(want))) {
		t.Errorf("left are %v, %v; want %v", names, err, want)
	}
}

// A process that reports progress for ever does not keep the host waiting for longer than all
// calls of the step may take.
func TestEndlessProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(&Config{Command: []string{"none"}, CallTime: time.Second, Log: slog.New(slog.DiscardHandler)}, false)
		p.progress = true
		c := &call{ctx: t.Context(), entries: 9, done: make(chan *pb.StepReply, 1)}
		var reports sync.WaitGroup
		defer reports.Wait()
		reports.Go(func() {
			for ; p.failure() == nil; time.Sleep(100 * time.Millisecond) {
				c.made.Add(1)
			}
		})
		begun := time.Now()
		if _, err := p.await(c); !errors.Is(err, strategies.ErrTimeout) || time.Since(begun) != 9*time.Second+grace {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
	})
}

// TestLate judges how long steps took.
func TestLate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		entries int
		took    time.Duration
		script  *Script
		late    bool
	}{
		{1, 1500 * time.Millisecond, nil, true},
		{0, 1500 * time.Millisecond, nil, true},
		{1, 1100 * time.Millisecond, nil, false},
		{2, 1500 * time.Millisecond, nil, false},
		{3, 4500 * time.Millisecond, nil, true},
		{1, 1500 * time.Millisecond, &Script{}, false},
	} {
		p := &process{config: &Config{CallTime: time.Second, Script: tt.script}}
		if err := p.late(tt.entries, tt.took); (err != nil) != tt.late || err != nil && !errors.Is(err, strategies.ErrTimeout) {
			t.Errorf("%d calls after %v, script %v: %v", tt.entries, tt.took, tt.script != nil, err)
		}
	}
}
