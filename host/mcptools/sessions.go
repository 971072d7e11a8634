package mcptools

import (
	"errors"
	"sync"
	"time"
)

// sessions tracks the peer and the last use of each HTTP session, which the SDK
// itself keeps.
type sessions struct {
	server *Server

	mu      sync.Mutex
	known   map[string]*session
	opening map[string]int // by peer
	pending int            // all that are opening
}

type session struct {
	peer  string
	used  time.Time
	inUse int
}

func newSessions(s *Server) *sessions {
	return &sessions{server: s, known: map[string]*session{}, opening: map[string]int{}}
}

var errFull = errors.New("too many sessions: try again in a moment, and end sessions that are not needed")

// admit makes room for a session of a peer. done must be called with the id of the
// new session, or with "" if there is none.
func (t *sessions) admit(peer string) (done func(id string), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget()
	if t.opening[peer]+t.countOf(peer) >= t.server.cfg.MaxSessionsPerPeer && !t.evict(peer) {
		return nil, errFull
	}
	if t.pending+len(t.known) >= t.server.cfg.MaxSessions {
		return nil, errFull
	}
	t.opening[peer]++
	t.pending++
	return func(id string) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.pending--
		if t.opening[peer]--; t.opening[peer] == 0 {
			delete(t.opening, peer)
		}
		if id != "" {
			t.known[id] = &session{peer: peer, used: time.Now()}
		}
	}, nil
}

// use marks a session as in use until done is called.
func (t *sessions) use(id string) (done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.known[id]
	if s == nil {
		return func() {}
	}
	s.inUse++
	s.used = time.Now()
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		s.inUse--
		s.used = time.Now()
	}
}

func (t *sessions) countOf(peer string) int {
	n := 0
	for _, s := range t.known {
		if s.peer == peer {
			n++
		}
	}
	return n
}

// forget drops the sessions that have ended.
func (t *sessions) forget() {
	alive := map[string]bool{}
	for s := range t.server.sdk.Sessions() {
		alive[s.ID()] = true
	}
	for id := range t.known {
		if !alive[id] {
			delete(t.known, id)
		}
	}
}

// evict ends the session of a peer that has been idle longest. It reports false if
// all are in use.
func (t *sessions) evict(peer string) bool {
	oldest := ""
	for id, s := range t.known {
		if s.peer == peer && s.inUse == 0 && (oldest == "" || s.used.Before(t.known[oldest].used)) {
			oldest = id
		}
	}
	if oldest == "" {
		return false
	}
	delete(t.known, oldest)
	t.server.cancelCalls(oldest)
	if !t.server.hold() {
		return false
	}
	go func() {
		defer t.server.held.Done()
		for s := range t.server.sdk.Sessions() {
			if s.ID() == oldest {
				// It has no request in flight; a call whose client disconnected has just
				// been cancelled.
				_ = s.Close()
			}
		}
	}()
	return true
}
