package peertest

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// network is where a league runs whose programs count on the ports of the
// course: 8000 for the manager, 800N for REF0N, 810N for P0N.
type network struct {
	work chan func()   // runs on the thread that is in the network; nil: everywhere
	gone chan struct{} // closed when that thread takes no more
}

// alone is held by a league that uses the ports of the machine itself.
var alone sync.Mutex

// joinNetwork returns a network for one league. Where leagues cannot have one each
// they run one after another on the machine's own ports, and are skipped if
// another program uses these.
func joinNetwork(t testing.TB) *network {
	t.Helper()
	if n, ok := isolated(t); ok {
		return n
	}
	alone.Lock()
	t.Cleanup(alone.Unlock)
	for _, addr := range []string{"127.0.0.1:8000", "127.0.0.1:8001", "127.0.0.1:8101", "127.0.0.1:8102", "127.0.0.1:8103", "127.0.0.1:8104"} {
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			t.Skipf("another program uses the ports of the course, and no network namespace can be made: %v", err)
		}
		_ = ln.Close()
	}
	return new(network)
}

// do runs f in the network, unless the league is over.
func (n *network) do(f func()) {
	if n.work == nil {
		f()
		return
	}
	done := make(chan struct{})
	select {
	case n.work <- func() {
		defer close(done)
		f()
	}:
		<-done
	case <-n.gone: // the HTTP client dials on even if nobody waits for it any more
	}
}

func (n *network) listen(addr string) (ln net.Listener, err error) {
	err = net.ErrClosed
	n.do(func() { ln, err = net.Listen("tcp4", addr) })
	return ln, err
}

// client returns an HTTP client of the network; localhost is 127.0.0.1.
func (n *network) client() *http.Client {
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, addr string) (conn net.Conn, err error) {
			addr = strings.Replace(addr, "localhost", "127.0.0.1", 1)
			err = net.ErrClosed
			n.do(func() { conn, err = new(net.Dialer).DialContext(ctx, "tcp4", addr) })
			return conn, err
		},
	}}
}

// listening waits until somebody listens at a URL.
func (w *world) listening(url string) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	addr := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	for {
		transport, _ := w.http.Transport.(*http.Transport)
		conn, err := transport.DialContext(w.ctx, "tcp", addr)
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-tick.C:
		case <-w.ctx.Done():
			return
		}
	}
}
