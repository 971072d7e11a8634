package web_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/strategylab/strategylab/host/web"
)

// noting is a listener whose connections note the sizes of what is written to them.
type noting struct {
	net.Listener
	mu    sync.Mutex
	sizes []int
}

func (l *noting) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return &noted{conn, l}, err
}

type noted struct {
	net.Conn
	to *noting
}

func (c *noted) Write(b []byte) (int, error) {
	c.to.mu.Lock()
	c.to.sizes = append(c.to.sizes, len(b))
	c.to.mu.Unlock()
	return c.Conn.Write(b)
}

// An update of several large parts is one write for each spectator, and has the same
// bytes for all that have the same version.
func TestAnUpdateIsOneWrite(t *testing.T) {
	const large = 20_000
	s := newSite(t, func(c *web.Config) {
		inner := c.Data
		c.Data = func() any {
			n := inner().(counter).Count
			return counter{strings.Repeat("x", large) + strings.Repeat("y", int(n)), n}
		}
	})
	at := httptest.NewUnstartedServer(s.page)
	heard := &noting{Listener: at.Listener}
	at.Listener = heard
	at.Start()
	t.Cleanup(at.Close)
	s.URL = at.URL
	_, body := s.get(t, "/")
	since := version.FindStringSubmatch(body)[1]
	one, two := s.listen(t, t.Context(), since), s.listen(t, t.Context(), since)
	heard.mu.Lock()
	before := len(heard.sizes)
	heard.mu.Unlock()
	s.count.Store(7)
	s.page.Touch()
	first, id := until(t, one, `"count"`)
	second, same := until(t, two, `"count"`)
	if first != second || id != same || id == "" {
		t.Errorf("one spectator gets %s as %s, the other %s as %s", first, id, second, same)
	}
	heard.mu.Lock()
	defer heard.mu.Unlock()
	if got := heard.sizes[before:]; len(got) != 2 || got[0] != got[1] || got[0] < large {
		t.Errorf("two spectators are sent an update in writes of %v bytes, want one each", got)
	}
}

// One of the spectators sees to the rendering. When it leaves, another one does: the
// others get what comes after.
func TestWhoeverLeavesTheOthersAreServed(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	_, body := s.get(t, "/")
	since := version.FindStringSubmatch(body)[1]
	const all = 4
	var spectators [all]*bufio.Scanner
	var leave [all]context.CancelFunc
	for i := range all {
		var ctx context.Context
		ctx, leave[i] = context.WithCancel(t.Context())
		defer leave[i]()
		spectators[i] = s.listen(t, ctx, since)
	}
	for gone := range all {
		s.count.Store(int64(100 + gone))
		s.page.Touch()
		for i := gone; i < all; i++ {
			for shown := ""; !strings.Contains(shown, fmt.Sprint(100+gone)); {
				shown, _ = until(t, spectators[i], `"count"`)
			}
		}
		leave[gone]()
	}
}
