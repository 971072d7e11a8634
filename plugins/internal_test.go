package plugins

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/strategies"
)

func TestOutput(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	o := &output{log: slog.New(slog.NewTextHandler(&log, nil))}
	o.read(strings.NewReader("first\n\n" + strings.Repeat("x", 100_000) + "\nlast \x1b[31m"))
	if got := strings.Count(log.String(), "\n"); got != 3 {
		t.Errorf("%d lines in the log, want 3:\n%s", got, log.String())
	}
	if len(log.String()) > 3*(mostText+200) || strings.Contains(log.String(), "\x1b") {
		t.Errorf("lines are neither clipped nor cleaned:\n%q", log.String())
	}
	if got := o.reason(); !strings.HasPrefix(got, "last ") {
		t.Errorf("reason %q, want the last line", got)
	}
	o.line("panic: oh no")
	o.line("goroutine 1 [running]:")
	if got := o.reason(); got != "panic: oh no" {
		t.Errorf("reason %q, want the panic", got)
	}
	for range 2 * burstLines {
		o.line("flood")
	}
	o.end()
	if text := log.String(); strings.Count(text, "flood") > burstLines || !strings.Contains(text, "plugin output dropped") {
		t.Errorf("%d lines of a flood of %d, want at most %d and a note", strings.Count(text, "flood"), 2*burstLines, burstLines)
	}
	if n, err := o.Write([]byte("one\ntwo\n")); n != 8 || err != nil {
		t.Errorf("Write = %d, %v", n, err)
	}
}

func TestFirstLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"1|1|unix|/s|grpc|\nmore\n": "1|1|unix|/s|grpc|",
		"no newline":                "no newline",
		"":                          "",
	} {
		o := &output{log: slog.New(slog.DiscardHandler)}
		r, w := io.Pipe()
		got := make(chan string, 1)
		go func() {
			b, _ := io.ReadAll(r)
			got <- strings.TrimSpace(string(b))
		}()
		hello := ""
		firstLine(strings.NewReader(in), o, func(s string) { hello = s }, w)
		if line := <-got; line != want || hello != want {
			t.Errorf("first line of %q: %q and %q, want %q", in, line, hello, want)
		}
	}
}

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

func TestCallLogs(t *testing.T) {
	t.Parallel()
	d := newCallLogs()
	open := &strategies.Step{Open: []strategies.OpenSeat{{Seat: 3}, {Seat: 1}, {Seat: 2}}}
	d.open(open)
	step := &strategies.Step{
		Observe: []strategies.SeatOutcome{{Seat: 3, Outcome: strategies.Outcome{MatchID: "R1M1"}}},
		Choose:  []strategies.SeatTurn{{Seat: 3, Turn: strategies.Turn{MatchID: "R2M1", Standing: strategies.Standing{Played: 1}}}, {Seat: 1}},
		Failed:  []strategies.SeatError{{Seat: 2, Op: strategies.OpObserve, Err: strategies.ErrCrashed}, {Seat: 3, Op: strategies.OpChoose, Err: strategies.ErrInvalidChoice}},
		Close:   []strategies.SeatID{1},
	}
	d.enter(step)
	if got := d.seats(); !slices.Equal(got, []strategies.SeatID{3}) {
		t.Fatalf("open seats %v, want 3 alone: 2 failed, 1 was closed", got)
	}
	calls := d.of[3].calls
	if len(calls) != 2 || calls[0] != step.Observe[0].Outcome || calls[1] != step.Choose[0].Turn {
		t.Errorf("calls %+v, want the outcome and the turn", calls)
	}
	// Calls leave in as few steps as their order allows.
	var again strategies.Step
	left := take(&again, 3, append(calls, calls...))
	if len(again.Observe) != 1 || len(again.Choose) != 1 || len(left) != 2 {
		t.Errorf("a step of %d outcomes and %d turns, %d calls left; want 1, 1 and 2", len(again.Observe), len(again.Choose), len(left))
	}
	sub, places := part(step, []strategies.SeatID{1})
	if len(sub.Observe) != 0 || len(sub.Choose) != 1 || !slices.Equal(places, []int{1}) {
		t.Errorf("the part of seat 1: %+v at %v", sub, places)
	}
}

func TestQuarantine(t *testing.T) {
	t.Parallel()
	k := &supervisor{config: Config{Name: "mine", Restarts: 2, Backoff: -1, Log: slog.New(slog.DiscardHandler)}}
	for k.failed = range 3 {
		if err := k.quarantine(nil); err != nil {
			t.Errorf("after %d failures: %v", k.failed, err)
		}
	}
	k.failed = 3
	err := k.quarantine(io.ErrUnexpectedEOF)
	if err == nil || err.Error() != "quarantined for the rest of the run: plugin mine failed 3 times, after 2 restarts; last failure: unexpected EOF" {
		t.Errorf("after 3 failures: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k.config.Backoff = 1 << 40
	if err := k.pause(ctx); err == nil {
		t.Error("a pause outlasts its context")
	}
}

// sweep removes the folders of hosts that have ended, and no others. Not
// parallel: it sets TMPDIR.
func TestSweep(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ended := "999999999" // above the largest process id
	for folder, host := range map[string]string{
		"plugin-dir1": ended, "plugin-dir2": strconv.Itoa(os.Getpid()), "plugin-dir3": "nonsense", "other": ended,
	} {
		dir := filepath.Join(temp, folder)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, hostMark), []byte(host), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	left, err := filepath.Glob(filepath.Join(temp, "*"))
	if err != nil || len(left) != 3 || slices.Contains(left, filepath.Join(temp, "plugin-dir1")) {
		t.Errorf("left are %v, %v; want all but plugin-dir1", left, err)
	}
}
