package command

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgressLine(t *testing.T) {
	t.Parallel()
	p := &Progress{term: Terminal{Columns: 60}, total: 1000, from: 200}
	got := p.line(600, 2*time.Second)
	if !strings.HasSuffix(got, " 600/1000 leagues  200/s  2s left") {
		t.Errorf("%q does not count from the 200 leagues recorded before", got)
	}
	p = &Progress{term: Terminal{Columns: 80}, total: 20_000, atMost: true}
	if got := p.line(600, 2*time.Second); !strings.HasSuffix(got, "] 600 of at most 20000 leagues  300/s") {
		t.Errorf("%q promises an end", got)
	}
	for _, columns := range []int{20, 30, 40, 60, 80, 200} {
		p := &Progress{term: Terminal{Columns: columns}, total: 1000}
		for _, done := range []int{0, 1, 999, 1000} {
			if line := p.line(done, time.Second); len(line) != columns-1 {
				t.Errorf("%d columns, %d leagues: %d characters: %q", columns, done, len(line), line)
			}
		}
	}
}

func TestProgressIsRemoved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := startProgress(&out, Terminal{Columns: 60}, time.Now, 0, 10, false)
		time.Sleep(time.Second) // the fake clock of the bubble
		_ = p.Append(nil)
		time.Sleep(time.Second)
		p.Stop()
		text := out.String()
		if !strings.Contains(text, " 0/10 leagues") || !strings.Contains(text, " 1/10 leagues  1/s  16s left") {
			t.Errorf("drawn: %q", text)
		}
		if !strings.HasSuffix(text, "\r"+strings.Repeat(" ", 59)+"\r") {
			t.Errorf("the bar was left behind: %q", text)
		}
	})
}

// screen is written by the goroutine that draws and read by a test.
type screen struct {
	mu   sync.Mutex
	text []byte
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, p...)
	return len(p), nil
}

// take returns what was written since the last call.
func (s *screen) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := string(s.text)
	s.text = nil
	return text
}

// The lines above the bar are drawn at once the first time, then a few times a second,
// each time over the old ones, and are gone in the end.
func TestStandingsAreRedrawn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out screen
		p := startProgress(&out, Terminal{Columns: 60, Rows: 24, Cursor: true}, time.Now, 0, 1000, false)
		drawn := func() string {
			synctest.Wait()
			return out.take()
		}
		if !p.Wanted() {
			t.Error("no first frame is wanted")
		}
		p.Renew(func() []string { return []string{"head", "one"} })
		if got := drawn(); !strings.HasPrefix(got, "\rhead\x1b[K\none\x1b[K\n[") || !strings.HasSuffix(got, "\x1b[J") {
			t.Errorf("first %q", got)
		}
		p.Renew(func() []string { return []string{"head", "one", "two"} })
		if got := drawn(); got != "" || p.Wanted() {
			t.Errorf("drawn too early: %q, or another frame is wanted", got)
		}
		time.Sleep(300 * time.Millisecond) // the fake clock of the bubble
		if got := drawn(); !strings.HasPrefix(got, "\r\x1b[2Ahead\x1b[K\none\x1b[K\ntwo\x1b[K\n[") || !p.Wanted() {
			t.Errorf("then %q", got)
		}
		p.Stop()
		if got := drawn(); got != "\r\x1b[3A\x1b[J" {
			t.Errorf("in the end %q", got)
		}
	})
}
