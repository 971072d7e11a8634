package jsonrpc

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// gate counts the requests in flight, refuses those above the limits, and lets
// a server that ends wait until its handlers have returned.
type gate struct {
	mu         sync.Mutex
	total      int // admitted by enter
	peers      map[string]int
	unlimited  int // admitted by follow
	maxTotal   int
	maxPerPeer int
	closed     bool
	empty      chan struct{} // closed once closed is set and nothing is in flight
}

func newGate(maxTotal, maxPerPeer int) *gate {
	return &gate{peers: make(map[string]int), maxTotal: maxTotal, maxPerPeer: maxPerPeer, empty: make(chan struct{})}
}

// enter admits a request of a peer, for which leave must be called, or returns the reason why not.
func (g *gate) enter(peer string) *Refusal {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return refusal(ReasonBusy, "the server is shutting down")
	case g.total >= g.maxTotal:
		return refusal(ReasonBusy, "too many requests at once: try again in a moment")
	case g.peers[peer] >= g.maxPerPeer:
		return refusal(ReasonBusy, "too many requests at once from this address: try again in a moment")
	}
	g.total++
	g.peers[peer]++
	return nil
}

func (g *gate) leave(peer string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.total--
	if n := g.peers[peer] - 1; n > 0 {
		g.peers[peer] = n
	} else {
		delete(g.peers, peer)
	}
	g.checkEmpty()
}

// follow counts something that the limits do not concern; done must be called
// when it ends. follow returns nil once the gate is closed.
func (g *gate) follow() (done func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	g.unlimited++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.unlimited--
		g.checkEmpty()
	}
}

// close closes the gate and returns a channel that is closed when everything admitted has left.
func (g *gate) close() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.closed = true
		g.checkEmpty()
	}
	return g.empty
}

// drain closes the gate and waits until everything admitted has left: while ctx lives, for the drain
// period after it (a negative one never ends), and then, having called cut, for as long as it takes.
func (g *gate) drain(ctx context.Context, period time.Duration, where string, cut func()) error {
	empty := g.close()
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
	}
	ctx, cancel := withDrain(ctx, period)
	defer cancel()
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
	}
	err := fmt.Errorf("jsonrpc: draining %s: %d requests were cut off after %v", where, g.inFlight(), period)
	cut()
	<-empty
	return err
}

func (g *gate) inFlight() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.total + g.unlimited
}

func (g *gate) checkEmpty() {
	if g.closed && g.total+g.unlimited == 0 {
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
