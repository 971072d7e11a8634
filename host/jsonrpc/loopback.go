package jsonrpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Loopback is a network inside the process: servers listen on it under a host name, callers reach
// them by URL, and the messages are the bytes that HTTP would carry, under the same limits. The
// zero value is an empty network, ready for use. It is safe for concurrent use.
type Loopback struct {
	// Workers, if set before the first server listens, handle the requests of
	// all servers, and outlive them. Else each server has its own.
	Workers *Workers

	mu      sync.RWMutex
	servers map[string]*LoopbackServer // by URL
	made    int
}

// LoopbackServer is a Server on a Loopback.
type LoopbackServer struct {
	net   *Loopback
	url   string
	route string
	host  string
	gate  *gate

	responder responder
	ready     chan struct{} // closed when responder.handler is set
	gone      chan struct{} // closed when the server waits for nothing any more
	close     sync.Once
	workers   *Workers // its own, or the network's
}

// Listen opens a server under a host name ("P01", "manager:8000"), or under a new name if that is
// empty. A name in use is an error. Callers wait until Serve is called.
func (l *Loopback) Listen(host string, cfg Config) (*LoopbackServer, error) {
	cfg = cfg.withDefaults()
	l.mu.Lock()
	defer l.mu.Unlock()
	if host == "" {
		l.made++
		host = "loopback-" + strconv.Itoa(l.made)
	}
	u := url.URL{Scheme: "http", Host: host, Path: cfg.Path}
	s := &LoopbackServer{
		net: l, url: u.String(), route: cfg.Path, host: host, gate: newGate(cfg.MaxConcurrent, cfg.MaxPerPeer), responder: responder{cfg: cfg},
		ready: make(chan struct{}), gone: make(chan struct{}), workers: cmp.Or(l.Workers, new(Workers)),
	}
	if _, taken := l.servers[s.url]; taken {
		return nil, fmt.Errorf("jsonrpc: cannot listen on %s: the name is taken on this loopback", s.url)
	}
	if l.servers == nil {
		l.servers = make(map[string]*LoopbackServer)
	}
	l.servers[s.url] = s
	return s, nil
}

// URL returns the URL of the endpoint.
func (s *LoopbackServer) URL() string { return s.url }

// Close frees the name and fails the calls that wait. It is needed only if Serve is never called.
func (s *LoopbackServer) Close() error {
	s.unlist()
	s.close.Do(func() { close(s.gone) })
	return nil
}

// unlist makes the server unreachable for new callers.
func (s *LoopbackServer) unlist() {
	s.net.mu.Lock()
	defer s.net.mu.Unlock()
	if s.net.servers[s.url] == s {
		delete(s.net.servers, s.url)
	}
}

// Serve is [Server.Serve] without sockets. Since handlers have the contexts of
// their callers, the end of the drain period fails the calls but does not cancel
// the handlers; Serve still waits for them.
func (s *LoopbackServer) Serve(ctx context.Context, h Handler) error {
	s.responder.handler = h
	close(s.ready)
	<-ctx.Done()

	s.unlist()
	empty := s.gate.close()
	ctx, cancel := withDrain(ctx, s.responder.cfg.Drain)
	defer cancel()
	var err error
	select {
	case <-empty:
	case <-ctx.Done():
		err = fmt.Errorf("jsonrpc: draining %s: %d requests were cut off after %v", s.url, s.gate.inFlight(), s.responder.cfg.Drain)
	}
	s.close.Do(func() { close(s.gone) })
	<-empty
	if s.workers != s.net.Workers {
		s.workers.Close()
	}
	return err
}

// From returns a round tripper that calls the servers of the network; peer is the name by which
// they know the caller (Request.RemoteAddr) and count its requests.
func (l *Loopback) From(peer string) RoundTripper { return &loopbackCaller{net: l, peer: peer} }

type loopbackCaller struct {
	net  *Loopback
	peer string
}

// Close does nothing: there are no connections.
func (c *loopbackCaller) Close() error { return nil }

// Transport implements RoundTripper.
func (c *loopbackCaller) Transport() Transport { return TransportLoopback }

var errServerGone = errors.New("the server ended")

// RoundTrip implements RoundTripper.
func (c *loopbackCaller) RoundTrip(ctx context.Context, out *Outgoing) (*Reply, error) {
	c.net.mu.RLock()
	s := c.net.servers[out.URL]
	c.net.mu.RUnlock()
	if s == nil {
		return nil, &CallError{Kind: ErrConnect, Err: errors.New("no server listens there on this loopback")}
	}
	if out.Method == http.MethodGet {
		return &Reply{Status: http.StatusMethodNotAllowed}, nil
	}
	select {
	case <-s.ready:
	case <-s.gone:
		return nil, &CallError{Kind: ErrConnect, Err: errServerGone}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	rep, err := s.deliver(ctx, c.peer, out)
	if err != nil {
		return nil, err
	}
	if int64(len(rep.body)) > out.MaxAnswer {
		return nil, errAnswerTooLarge(out.MaxAnswer, rep.status)
	}
	reply := &Reply{Status: rep.status, Body: rep.body}
	if rep.status == http.StatusServiceUnavailable {
		reply.Header = http.Header{"Retry-After": {retryAfter}}
	}
	return reply, nil
}

func (s *LoopbackServer) deliver(ctx context.Context, peer string, out *Outgoing) (reply, error) {
	req := &Request{Transport: TransportLoopback, Route: s.route, RemoteAddr: peer, Host: s.host, Header: out.Header.Clone()}
	if refused := s.gate.enter(peer); refused != nil {
		return s.responder.refuse(ctx, req, refused), nil
	}
	if int64(len(out.Body)) > s.responder.cfg.MaxBody {
		defer s.gate.leave(peer)
		return s.responder.refuse(ctx, req, bodyTooLarge(s.responder.cfg.MaxBody)), nil
	}
	// The handler may keep the body, and the caller may reuse its own.
	req.Raw = append(make(jsontext.Value, 0, len(out.Body)), out.Body...)
	answer := make(chan reply, 1)
	s.workers.submit(job{s, ctx, req, peer, answer})
	return s.await(ctx, answer)
}

// await waits for the answer to a request, the end of the caller's context, or the end of the drain
// period. A server that ends has given every answer before, if its handlers have returned in time.
func (s *LoopbackServer) await(ctx context.Context, answer <-chan reply) (reply, error) {
	select {
	case rep := <-answer:
		return rep, nil
	case <-ctx.Done():
		return reply{}, ctx.Err()
	case <-s.gone:
	}
	select {
	case rep := <-answer:
		return rep, nil
	default:
		return reply{}, &CallError{Kind: ErrClosed, Err: errServerGone}
	}
}

// Workers are the goroutines on which the servers of a Loopback handle requests. They are reused,
// since growing the stack of a new goroutine costs a good part of a request. The zero value is
// ready for use. It is safe for concurrent use.
type Workers struct {
	mu      sync.Mutex
	idle    []chan job // of workers that wait for a request
	running sync.WaitGroup
}

type job struct {
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

func (w *Workers) submit(e job) {
	var errands chan job
	w.mu.Lock()
	if n := len(w.idle); n > 0 {
		errands, w.idle = w.idle[n-1], w.idle[:n-1]
	}
	w.mu.Unlock()
	if errands == nil {
		errands = make(chan job, 1)
		w.running.Go(func() { w.work(errands) })
	}
	errands <- e
}

// work serves requests until Close. A worker is idle again before its request
// leaves the gate, so that all are idle once the servers have ended.
func (w *Workers) work(errands chan job) {
	for e := range errands {
		rep := e.server.responder.serve(e.ctx, e.req).own()
		w.mu.Lock()
		w.idle = append(w.idle, errands)
		w.mu.Unlock()
		e.answer <- rep
		e.server.gate.leave(e.peer)
	}
}
