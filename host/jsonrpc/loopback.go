package jsonrpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
)

// Loopback is a network inside the process: servers listen on it under a host name, callers reach
// them by URL, and the messages are the bytes that HTTP would carry, under the same limits. The
// zero value is an empty network, ready for use. It is safe for concurrent use.
type Loopback struct {
	mu      sync.RWMutex
	servers map[string]*LoopbackServer // by URL
}

// LoopbackServer is a Server on a Loopback.
type LoopbackServer struct {
	responder
	net   *Loopback
	url   string
	host  string
	gate  gate
	ready chan struct{}   // closed when the handler is set
	gone  context.Context // ends when the server waits for nothing any more
	end   context.CancelFunc

	// The goroutines that handle requests are reused, since growing the stack of a new
	// one costs a good part of a request.
	jobs    chan func()
	workers sync.WaitGroup
}

// Listen opens a server under a host name ("P01", "manager:8000"). A name in use is an error.
// Callers wait until Serve is called.
func (l *Loopback) Listen(host string, cfg Config) (*LoopbackServer, error) {
	cfg = cfg.withDefaults()
	l.mu.Lock()
	defer l.mu.Unlock()
	u := url.URL{Scheme: "http", Host: host, Path: cfg.Path}
	s := &LoopbackServer{
		responder: responder{cfg: cfg}, net: l, url: u.String(), host: host,
		ready: make(chan struct{}), jobs: make(chan func()),
	}
	if _, taken := l.servers[s.url]; taken {
		return nil, fmt.Errorf("jsonrpc: cannot listen on %s: the name is taken on this loopback", s.url)
	}
	s.gone, s.end = context.WithCancel(context.Background())
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
	s.end()
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
	s.handler = h
	close(s.ready)
	<-ctx.Done()
	s.unlist()
	err := s.gate.drain(ctx, s.cfg.Drain, s.url, s.end)
	s.end()
	close(s.jobs)
	s.workers.Wait()
	return err
}

// do runs a job on a goroutine that is idle, or on a new one.
func (s *LoopbackServer) do(job func()) {
	select {
	case s.jobs <- job:
	default:
		s.workers.Go(func() {
			job()
			for job := range s.jobs {
				job()
			}
		})
	}
}

// From returns a round tripper that calls the servers of the network; peer is the name by which
// they know the caller (Request.RemoteAddr).
func (l *Loopback) From(peer string) RoundTripper { return &loopbackCaller{net: l, peer: peer} }

type loopbackCaller struct {
	net  *Loopback
	peer string
}

// Close does nothing: there are no connections.
func (c *loopbackCaller) Close() error { return nil }

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
	case <-s.gone.Done():
		return nil, s.ended(ErrConnect)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	rep, err := s.deliver(ctx, c.peer, out)
	if err != nil {
		return nil, err
	}
	if int64(len(rep.Body)) > out.MaxAnswer {
		return nil, errAnswerTooLarge(out.MaxAnswer, rep.Status)
	}
	rep.Body = bytes.Clone(rep.Body) // the handler may send its own again
	return &rep, nil
}

func (s *LoopbackServer) ended(kind error) error {
	return &CallError{Kind: kind, Err: errors.New("the server ended")}
}

func (s *LoopbackServer) deliver(ctx context.Context, peer string, out *Outgoing) (Reply, error) {
	req := &Request{Transport: TransportLoopback, Route: s.cfg.Path, RemoteAddr: peer, Host: s.host, Header: out.Header.Clone()}
	leave, refused := s.gate.enter()
	if refused != nil {
		return s.serve(ctx, req, refused), nil
	}
	if int64(len(out.Body)) > s.cfg.MaxBody {
		defer leave()
		return s.serve(ctx, req, bodyTooLarge(s.cfg.MaxBody)), nil
	}
	// The handler may keep the body, and the caller may reuse its own.
	req.Raw = bytes.Clone(out.Body)
	answer := make(chan Reply, 1)
	s.do(func() {
		defer leave()
		if rep := s.serve(ctx, req, nil); ctx.Err() == nil { // else the caller has gone, or goes
			answer <- rep
		}
	})
	return s.await(ctx, answer)
}

// await waits for the answer to a request, the end of the caller's context, or the end of the drain
// period. A server that ends has given every answer before, if its handlers have returned in time.
func (s *LoopbackServer) await(ctx context.Context, answer <-chan Reply) (Reply, error) {
	select {
	case rep := <-answer:
		return rep, nil
	case <-ctx.Done():
		return Reply{}, ctx.Err()
	case <-s.gone.Done():
	}
	select {
	case rep := <-answer:
		return rep, nil
	default:
		return Reply{}, s.ended(ErrClosed)
	}
}
