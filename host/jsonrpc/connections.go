package jsonrpc

import (
	"net"
	"net/http"
	"sync"
)

// connections is a listener that keeps no more than a number of connections
// open. It needs track as the http.Server's ConnState, which tells it when a
// connection ends.
type connections struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}
	once   sync.Once

	mu     sync.Mutex
	unused map[net.Conn]struct{} // have not sent a byte yet
}

func newConnections(ln net.Listener, limit int) *connections {
	return &connections{
		Listener: ln,
		slots:    make(chan struct{}, limit),
		closed:   make(chan struct{}),
		unused:   make(map[net.Conn]struct{}),
	}
}

// Accept waits for a free slot and then for a connection.
func (c *connections) Accept() (net.Conn, error) {
	select {
	case c.slots <- struct{}{}:
	case <-c.closed:
		return nil, net.ErrClosed
	}
	conn, err := c.Listener.Accept()
	if err != nil {
		<-c.slots
		return nil, err
	}
	return conn, nil
}

// Close stops Accept.
func (c *connections) Close() error {
	err := net.ErrClosed
	c.once.Do(func() {
		close(c.closed)
		err = c.Listener.Close()
	})
	return err
}

// track is told of every change of state by the http.Server.
func (c *connections) track(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	if state == http.StateNew {
		c.unused[conn] = struct{}{}
	} else {
		delete(c.unused, conn)
	}
	c.mu.Unlock()
	if state == http.StateClosed || state == http.StateHijacked {
		<-c.slots
	}
}

// closeUnused closes connections on which nothing was ever sent. HTTP clients
// keep such connections in reserve, and http.Server.Shutdown would wait five
// seconds for each to become a request.
func (c *connections) closeUnused() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.unused {
		_ = conn.Close() // its server goroutine sees the failure and ends
	}
}
