//go:build linux

package wall_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/web/wall"
)

// crowdVariable, where it is set, makes a process of the test binary that of spectators:
// "ADDRESS VERSION NUMBER".
const crowdVariable = "WALL_TEST_CROWD"

func TestMain(m *testing.M) {
	if task := os.Getenv(crowdVariable); task != "" {
		if err := watchAll(task); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// watchAll watches a page with some spectators, one of which reads nothing, until it
// ends. It writes a line when all are connected.
func watchAll(task string) error {
	var address, since string
	var n int
	if _, err := fmt.Sscan(task, &address, &since, &n); err != nil {
		return err
	}
	var following sync.WaitGroup
	for i := range n {
		// One address may have 256 connections, and Linux has many loopback addresses.
		events, err := watch(address, since, byte(1+i/200))
		if err != nil {
			return fmt.Errorf("spectator %d: %w", i, err)
		}
		if i > 0 {
			following.Go(func() { _, _ = io.Copy(io.Discard, events) })
		}
	}
	fmt.Println("ready")
	following.Wait()
	return nil
}

// watch opens the events of a page after a version.
func watch(address, since string, from byte) (*bufio.Reader, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, from)}}
	conn, err := dialer.Dial("tcp", address) // is closed by the end of the page
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(conn, "GET /events?since=%s HTTP/1.1\r\nHost: %s\r\n\r\n", since, address)
	events := bufio.NewReaderSize(conn, 64<<10)
	line, err := events.ReadString('\n')
	if err == nil && !strings.Contains(line, "200 OK") {
		err = errors.New(line)
	}
	return events, err
}

var played = regexp.MustCompile(`(\d+) of \d+ matches played`)

// follow reads events until they end, and hands on how many matches they say were played.
func follow(from *bufio.Reader, saw func(matches int)) {
	for {
		line, err := from.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull || bytes.HasPrefix(line, []byte("event: end")) {
			return
		}
		if m := played.FindSubmatch(line); m != nil && bytes.HasPrefix(line, []byte(`data: {"part":"heading"`)) {
			n, _ := strconv.Atoi(string(m[1])) // is a number
			saw(n)
		}
	}
}

// gather starts a process of spectators, which yields to the league where it can.
func gather(b *testing.B, address, since string, n int) (wait func() error) {
	cmd := exec.Command(os.Args[0])
	if nice, err := exec.LookPath("nice"); err == nil {
		cmd = exec.Command(nice, "-n", "19", os.Args[0])
	}
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d", crowdVariable, address, since, n))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		b.Fatalf("the spectators are not connected, but say %q: %v", line, errors.Join(err, cmd.Wait()))
	}
	return cmd.Wait
}

// cost is what a league has taken.
type cost struct {
	wall, cpu time.Duration // of this process
	delays    []time.Duration
}

// cpu is the time that this process has computed.
func cpu(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// playBefore plays a league of 20 before spectators.
func playBefore(b *testing.B, spectators int, pace time.Duration) cost {
	names := make([]string, 20)
	for i := range names {
		names[i] = fmt.Sprintf("player %d", i+1)
	}
	h := hangWith(wall.Config{}, names...)
	h.Manager.Pace = pace
	if pace == 0 {
		h.Manager.Legs = 5 // long enough to measure
	}
	paused, ready := true, make(chan struct{})
	var m *manager.Manager
	serve := h.Web
	h.Web = func(own *manager.Manager) http.Handler {
		m = own
		if err := m.SetPace(b.Context(), &paused, nil); err != nil { // until all are connected
			b.Error(err)
		}
		return serve(m)
	}
	var mu sync.Mutex
	var reported []time.Time
	h.Manager.Events = func(e manager.Event) {
		if e.Kind == manager.MatchReported {
			mu.Lock()
			reported = append(reported, time.Now())
			mu.Unlock()
		}
		if e.Kind == manager.LeagueStarted {
			close(ready)
		}
		h.wall.Managed(e)
	}
	var took cost
	wait := func() error { return nil }
	var seen sync.WaitGroup
	var began time.Time
	var before time.Duration
	h.Started = func(at string, _ bool) {
		<-ready // nothing changes from here on
		since := regexp.MustCompile(`data-version="([^"]*)"`).FindStringSubmatch(h.shown())[1]
		if spectators > 0 {
			address := strings.TrimSuffix(strings.TrimPrefix(at, "http://"), "/mcp")
			wait = gather(b, address, since, spectators-1)
			events, err := watch(address, since, 9) // one of them is here, and notes how late the page is
			if err != nil {
				b.Error(err)
				return
			}
			seen.Go(func() {
				follow(events, func(matches int) {
					mu.Lock()
					defer mu.Unlock()
					if matches > 0 && matches <= len(reported) {
						took.delays = append(took.delays, time.Since(reported[matches-1]))
					}
				})
			})
		}
		began, before, paused = time.Now(), cpu(b), false
		if err := m.SetPace(b.Context(), &paused, nil); err != nil {
			b.Error(err)
		}
	}
	h.Stay = func(*host.Played) { took.wall, took.cpu = time.Since(began), cpu(b)-before }
	if _, err := h.Play(b.Context()); err != nil {
		b.Fatal(err)
	}
	seen.Wait()
	if err := wait(); err != nil {
		b.Fatal(err)
	}
	return took
}

// BenchmarkSpectators plays a league of 20, without spectators and before 500 in another
// process, alternately, and gives how much longer it takes and how much more this process computes,
// when an event has reached a page in the median, and how much memory the league needs at
// its end.
func BenchmarkSpectators(b *testing.B) {
	for _, pace := range []time.Duration{0, 250 * time.Millisecond} {
		b.Run(fmt.Sprintf("pace=%v", pace), func(b *testing.B) {
			playBefore(b, 0, 0) // what is computed once
			var alone, before cost
			for i := 0; b.Loop(); i++ {
				for turn := range 2 { // now one first, now the other
					sum, spectators := &alone, 0
					if (i+turn)%2 == 1 {
						sum, spectators = &before, 500
					}
					one := playBefore(b, spectators, pace)
					sum.wall, sum.cpu, sum.delays = sum.wall+one.wall, sum.cpu+one.cpu, append(sum.delays, one.delays...)
				}
			}
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			if len(before.delays) == 0 {
				b.Fatal("no spectator has seen a match")
			}
			slices.Sort(before.delays)
			b.ReportMetric(alone.wall.Seconds()/float64(b.N), "s-alone")
			b.ReportMetric(float64(before.wall)/float64(alone.wall), "times-longer")
			b.ReportMetric(float64(before.cpu)/float64(alone.cpu), "times-cpu")
			b.ReportMetric(float64(before.delays[len(before.delays)/2])/1e6, "ms-median")
			b.ReportMetric(float64(before.delays[len(before.delays)*99/100])/1e6, "ms-p99")
			b.ReportMetric(float64(memory.Sys)/(1<<20), "MiB")
		})
	}
}
