package wall_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/web/wall"
)

// crowd are spectators of a league, some of whom note when they see what.
type crowd struct {
	mu       sync.Mutex
	reported []time.Time // when a number of matches had been reported, by that number
	delays   []time.Duration
	all      sync.WaitGroup
}

// report notes that one more match is over.
func (c *crowd) report(e manager.Event) {
	if e.Kind != manager.MatchReported {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reported = append(c.reported, time.Now())
}

var played = regexp.MustCompile(`(\d+) of \d+ matches played`)

// watch lets n spectators watch the page at an address until it ends. One of ten notes
// delays, and one reads nothing.
func (c *crowd) watch(b *testing.B, address, since string, n int) {
	for i := range n {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(conn, "GET /events?since=%s HTTP/1.1\r\nHost: %s\r\n\r\n", since, address)
		if i == 0 {
			b.Cleanup(func() { conn.Close() })
			continue
		}
		c.all.Go(func() {
			defer conn.Close()
			c.follow(bufio.NewReaderSize(conn, 64<<10), i%10 == 1)
		})
	}
}

// follow reads events until they end.
func (c *crowd) follow(from *bufio.Reader, notes bool) {
	seen := 0
	for {
		line, err := from.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
		case err != nil, bytes.HasPrefix(line, []byte("event: end")):
			return
		}
		if !bytes.HasPrefix(line, []byte(`data: {"part":"heading"`)) {
			continue
		}
		if bytes.Contains(line, []byte("data-over")) {
			return
		}
		if m := played.FindSubmatch(line); notes && m != nil {
			now := time.Now()
			n, _ := strconv.Atoi(string(m[1])) // the pattern has only digits
			c.mu.Lock()
			for ; seen < min(n, len(c.reported)); seen++ {
				c.delays = append(c.delays, now.Sub(c.reported[seen]))
			}
			c.mu.Unlock()
		}
	}
}

// playBefore plays a league of 20 before spectators and returns how long it took.
func playBefore(b *testing.B, c *crowd, spectators int, pace time.Duration) time.Duration {
	names := make([]string, 20)
	for i := range names {
		names[i] = fmt.Sprintf("player %d", i+1)
	}
	h := hangWith(wall.Config{}, names...)
	h.Manager.Pace = pace
	h.Manager.Events = func(e manager.Event) {
		c.report(e)
		h.wall.Managed(e)
	}
	var began time.Time
	var took time.Duration
	h.Started = func(at string) {
		since := regexp.MustCompile(`data-version="([^"]*)"`).FindStringSubmatch(h.shown())[1]
		c.watch(b, strings.TrimSuffix(strings.TrimPrefix(at, "http://"), "/mcp"), since, spectators)
		began = time.Now()
	}
	h.Stay = func(*host.Played) { took = time.Since(began) }
	if _, err := h.Play(b.Context()); err != nil {
		b.Fatal(err)
	}
	c.all.Wait()
	return took
}

// BenchmarkSpectators plays a league of 20, without spectators and before 500, and gives
// how much longer it takes, when an event has reached a page in the median, and how much
// memory the league needs at its end.
func BenchmarkSpectators(b *testing.B) {
	for _, pace := range []time.Duration{0, 250 * time.Millisecond} {
		b.Run(fmt.Sprintf("pace=%v", pace), func(b *testing.B) {
			for b.Loop() {
				alone := playBefore(b, new(crowd), 0, pace)
				c := new(crowd)
				before := playBefore(b, c, 500, pace)
				var memory runtime.MemStats
				runtime.ReadMemStats(&memory)
				if len(c.delays) == 0 {
					b.Fatal("no spectator has seen a match")
				}
				slices.Sort(c.delays)
				b.ReportMetric(alone.Seconds(), "s-alone")
				b.ReportMetric(float64(before)/float64(alone), "times-longer")
				b.ReportMetric(float64(c.delays[len(c.delays)/2])/1e6, "ms-median")
				b.ReportMetric(float64(c.delays[len(c.delays)*99/100])/1e6, "ms-p99")
				b.ReportMetric(float64(memory.Sys)/(1<<20), "MiB")
			}
		})
	}
}
