package jsonrpc

import (
	"context"
	"sync"
)

// Workers are the goroutines on which the servers of a Loopback handle
// requests. They are used again, since the stack of a new goroutine grows at
// the cost of a good part of a request. The zero value is ready for use. It is
// safe for concurrent use.
type Workers struct {
	mu      sync.Mutex
	idle    []chan errand // of workers that wait for a request
	running sync.WaitGroup
}

// errand is a request for a worker.
type errand struct {
	server *LoopbackServer
	ctx    context.Context
	req    *Request
	peer   string
	answer chan reply
}

// Close ends the workers, and waits for them. The servers must have ended.
func (w *Workers) Close() {
	w.mu.Lock()
	for _, idle := range w.idle {
		close(idle)
	}
	w.idle = nil
	w.mu.Unlock()
	w.running.Wait()
}

// hand gives a request to a worker.
func (w *Workers) hand(e errand) {
	var errands chan errand
	w.mu.Lock()
	if n := len(w.idle); n > 0 {
		errands, w.idle = w.idle[n-1], w.idle[:n-1]
	}
	w.mu.Unlock()
	if errands == nil {
		errands = make(chan errand, 1)
		w.running.Go(func() { w.work(errands) })
	}
	errands <- e
}

// work serves requests until there will be no more. A worker is idle again
// before its request is out of hand, so that all are idle once the servers have
// ended.
func (w *Workers) work(errands chan errand) {
	for e := range errands {
		rep := e.server.endpoint.serve(e.ctx, e.req).own()
		w.mu.Lock()
		w.idle = append(w.idle, errands)
		w.mu.Unlock()
		e.answer <- rep
		e.server.gate.leave(e.peer)
	}
}
