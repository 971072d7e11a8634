package peertest

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// network is where a league runs whose programs count on the ports of the
// course: 8000 for the manager, 800N for REF0N, 810N for P0N.
type network struct {
	work chan func()   // runs on the thread that is in the network
	gone chan struct{} // closed when that thread takes no more
}

// joinNetwork returns a network for one league. Where the system grants none, the test is
// skipped: the ports of the course may belong to somebody on this machine.
func joinNetwork(t testing.TB) *network {
	t.Helper()
	n, err := isolated()
	if err != nil {
		t.Skipf("every league plays on the ports of the course, in a network of its own, which this system does not grant: %v; try as root on Linux", err)
	}
	t.Cleanup(func() { close(n.gone) })
	return n
}

// do runs f in the network, unless the league is over.
func (n *network) do(f func()) {
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
