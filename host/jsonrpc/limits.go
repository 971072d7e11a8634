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
	inFlight   int            // all that have entered
	bounded    int            // those of them that the limits concern,
	peers      map[string]int // and these by address
	maxTotal   int
	maxPerPeer int
	closed     bool
	empty      chan struct{} // closed once closed is set and nothing is in flight
}

func newGate(maxTotal, maxPerPeer int) *gate {
	return &gate{peers: make(map[string]int), maxTotal: maxTotal, maxPerPeer: maxPerPeer, empty: make(chan struct{})}
}

// enter admits a request of a peer, for which leave must be called, or returns the reason why not.
// The limits concern only what is bounded.
func (g *gate) enter(peer string, bounded bool) (leave func(), refused *Refusal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return nil, refusal(ReasonBusy, "the server is shutting down")
	case bounded && g.bounded >= g.maxTotal:
		return nil, refusal(ReasonBusy, "too many requests at once: try again in a moment")
	case bounded && g.peers[peer] >= g.maxPerPeer:
		return nil, refusal(ReasonBusy, "too many requests at once from this address: try again in a moment")
	}
	g.count(peer, bounded, 1)
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.count(peer, bounded, -1)
		g.checkEmpty()
	}, nil
}

func (g *gate) count(peer string, bounded bool, n int) {
	g.inFlight += n
	if !bounded {
		return
	}
	g.bounded += n
	if g.peers[peer] += n; g.peers[peer] == 0 {
		delete(g.peers, peer)
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
