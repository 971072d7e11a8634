package jsonrpc

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// gate counts the requests in flight, and lets a server that ends wait until its handlers
// have returned. The zero value is open.
type gate struct {
	mu       sync.Mutex // of closed, which nobody may set while a request enters
	closed   bool
	inFlight atomic.Int64
	handlers sync.WaitGroup
}

// enter admits a request, for which leave must be called, unless the gate is closed.
func (g *gate) enter() (leave func(), refused *Refusal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, refusal(ReasonBusy, "the server is shutting down")
	}
	g.inFlight.Add(1)
	g.handlers.Add(1)
	return func() {
		g.inFlight.Add(-1)
		g.handlers.Done()
	}, nil
}

// close closes the gate, and returns a channel that is closed when everything admitted has left.
func (g *gate) close() <-chan struct{} {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	empty := make(chan struct{})
	go func() {
		g.handlers.Wait()
		close(empty)
	}()
	return empty
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
	if n := g.inFlight.Load(); n > 0 {
		return fmt.Errorf("jsonrpc: draining %s: %d requests were cut off after %v", where, n, period)
	}
	return nil
}

// peerOf returns an address without its port.
func peerOf(remoteAddr string) string {
	host, _, err := net.SplitHostPort(remoteAddr)
	if err != nil {
		return remoteAddr
	}
	return host
}
