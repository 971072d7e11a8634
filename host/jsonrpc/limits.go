package jsonrpc

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// gate counts the requests in flight, and lets a server that ends wait until its handlers
// have returned.
type gate struct {
	mu       sync.Mutex
	inFlight int
	closed   bool
	empty    chan struct{} // closed once closed is set and nothing is in flight
}

func newGate() *gate { return &gate{empty: make(chan struct{})} }

// enter admits a request, for which leave must be called, unless the gate is closed.
func (g *gate) enter() (leave func(), refused *Refusal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, refusal(ReasonBusy, "the server is shutting down")
	}
	g.inFlight++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.inFlight--
		g.checkEmpty()
	}, nil
}

// close closes the gate, once, and returns a channel that is closed when everything admitted has left.
func (g *gate) close() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.checkEmpty()
	return g.empty
}

// drain closes the gate and waits until everything admitted has left: while ctx lives, for the drain
// period after it, and then, having called cut, for as long as it takes.
func (g *gate) drain(ctx context.Context, period time.Duration, where string, cut func()) error {
	empty := g.close()
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-empty:
		return nil
	case <-time.After(period):
	}
	err := g.cutOff(where, period)
	cut()
	<-empty
	return err
}

// cutOff returns the error of a drain period that was too short, or nil if nothing is in flight.
func (g *gate) cutOff(where string, period time.Duration) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inFlight == 0 {
		return nil
	}
	return fmt.Errorf("jsonrpc: draining %s: %d requests were cut off after %v", where, g.inFlight, period)
}

func (g *gate) checkEmpty() {
	if g.closed && g.inFlight == 0 {
		close(g.empty)
	}
}

// peerOf returns an address without its port.
func peerOf(remoteAddr string) string {
	host, _, err := net.SplitHostPort(remoteAddr)
	if err != nil {
		return remoteAddr
	}
	return host
}
