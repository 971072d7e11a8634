package mcptools

import (
	"context"
	"errors"
	"fmt"
)

// begin counts a call that begins and returns its context, which also ends
// when the session is given up or the server is closed.
func (s *Server) begin(ctx context.Context, session string) (_ context.Context, done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, nil, errors.New("the server is shutting down")
	case s.calls >= s.cfg.MaxCalls:
		return nil, nil, fmt.Errorf("%d calls are under way already: try again in a moment", s.calls)
	}
	s.calls++
	ctx, cancel := context.WithCancel(ctx)
	detach := context.AfterFunc(s.closing, cancel)
	one := &ongoing{cancel}
	if s.hanging[session] == nil {
		s.hanging[session] = map[*ongoing]bool{}
	}
	s.hanging[session][one] = true
	return ctx, func() {
		detach()
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.hanging[session], one)
		if len(s.hanging[session]) == 0 {
			delete(s.hanging, session)
		}
		if s.calls--; s.calls == 0 {
			s.idle.Broadcast()
		}
	}, nil
}

// giveUp cancels the calls of a session.
func (s *Server) giveUp(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range s.hanging[session] {
		one.cancel()
	}
}

// hold has Close wait until held.Done is called, unless it has been called.
func (s *Server) hold() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.held.Add(1)
	return true
}
