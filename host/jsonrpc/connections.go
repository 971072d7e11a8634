package jsonrpc

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// connections are the open connections of a server.
type connections struct {
	total, perPeer int

	mu    sync.Mutex
	open  map[net.Conn]*connection
	clock uint64 // counts what connections have done
}

type connection struct {
	conn   net.Conn
	peer   string
	last   uint64      // when it was opened or answered last
	unused bool        // it has not sent a byte yet
	busy   atomic.Bool // a request is being answered
}

type connectionKey struct{}

// LimitConnections limits the open connections of a server, of all addresses together and of each
// one; it comes before Serve. A connection beyond a limit takes the place of the oldest one that no
// request is being answered on, and is closed if all are busy. So nobody keeps others out by
// connections that do nothing, or that send a request slowly. A handler whose request has arrived
// calls [Answering].
//
// closeUnused closes connections on which nothing was ever sent. HTTP clients keep such connections
// in reserve, and http.Server.Shutdown would wait five seconds for each.
func LimitConnections(hs *http.Server, total, perPeer int) (closeUnused func()) {
	c := &connections{total: total, perPeer: perPeer, open: make(map[net.Conn]*connection)}
	hs.ConnState = c.track
	hs.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connectionKey{}, c.add(conn))
	}
	return c.closeUnused
}

// Answering keeps the connection of a request open until it has been answered. ctx is that
// of the request.
func Answering(ctx context.Context) {
	if e, ok := ctx.Value(connectionKey{}).(*connection); ok {
		e.busy.Store(true)
	}
}

// add counts a new connection, and makes room for it: the oldest one that no request is being
// answered on is ended, which may be the new one itself.
func (c *connections) add(conn net.Conn) *connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	e := &connection{conn: conn, peer: peerOf(conn.RemoteAddr().String()), last: c.clock, unused: true}
	of, oldest := 0, e
	for _, other := range c.open {
		if other.peer == e.peer {
			of++
		}
	}
	c.open[conn] = e
	if of < c.perPeer && len(c.open) <= c.total {
		return e
	}
	for _, other := range c.open {
		if !other.busy.Load() && other.last < oldest.last && (of < c.perPeer || other.peer == e.peer) {
			oldest = other
		}
	}
	c.end(oldest)
	return e
}

// end closes a connection at once: TLS would wait to say goodbye. Its server goroutine sees
// the failure and ends.
func (c *connections) end(e *connection) {
	delete(c.open, e.conn)
	conn := e.conn
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	_ = conn.Close()
}

func (c *connections) track(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.open[conn]
	c.clock++
	switch {
	case e == nil: // it was ended
	case state == http.StateActive:
		e.unused = false
	case state == http.StateIdle:
		e.busy.Store(false)
		e.last = c.clock
	case state == http.StateClosed || state == http.StateHijacked:
		delete(c.open, conn)
	}
}

func (c *connections) closeUnused() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.open {
		if e.unused {
			c.end(e)
		}
	}
}
