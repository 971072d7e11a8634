package agent

import (
	"net"
	"slices"
	"sync"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/wire"
)

// AnswerDialects remembers the dialect in which each peer reads answers. A peer is
// answered in the dialect that it speaks until it shows that it has
// not read the answer; then in the next of a few ways, until it shows that it
// has. It is safe for concurrent use; the zero value knows nobody.
type AnswerDialects struct {
	mu     sync.Mutex
	common string // the way that registration has shown, for everybody
	known  map[string]*answerDialect
}

// answerDialect is how one peer is answered.
type answerDialect struct {
	way  int  // index into ways
	read bool // the peer has shown that it reads this
}

// ways are the traits of answers, in the order in which they are tried. What
// harms nobody else comes first.
var ways = []string{"", dialect.TraitAsync, dialect.TraitRequests}

// SenderOf returns by which name the sender of a request is remembered.
func SenderOf(in *wire.Exchange) string {
	if in.Header.Sender != "" {
		return in.Header.Sender
	}
	host, _, err := net.SplitHostPort(in.RPC.RemoteAddr)
	if err != nil {
		return in.RPC.RemoteAddr
	}
	return host
}

// SetDefault sets the way in which everybody is answered to begin with: one of the
// protocol's traits.
func (m *AnswerDialects) SetDefault(trait string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.common = trait
}

// of returns what is remembered of a peer. The lock is held.
func (m *AnswerDialects) of(who string) *answerDialect {
	if m.known == nil {
		m.known = make(map[string]*answerDialect)
	}
	known := m.known[who]
	if known == nil {
		known = &answerDialect{way: max(slices.Index(ways, m.common), 0)}
		m.known[who] = known
	}
	return known
}

// Dialect returns the dialect in which a peer that spoke in d is answered.
func (m *AnswerDialects) Dialect(who string, d *dialect.Dialect) *dialect.Dialect {
	m.mu.Lock()
	defer m.mu.Unlock()
	if way := ways[m.of(who).way]; way != "" {
		return d.With(way)
	}
	return d
}

// Missed notes that a peer has not read an answer. It reports whether the
// peer is answered in another way from now on.
func (m *AnswerDialects) Missed(who string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.of(who)
	if known.read {
		return false // it was the answer that was lost
	}
	known.way = (known.way + 1) % len(ways)
	return true
}

// Read notes that a peer has read an answer, and so will read others of
// the kind.
func (m *AnswerDialects) Read(who string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(who).read = true
}

// ReadBy notes that a peer has read an answer that was given in two ways:
// the one it would be given in now, and another. Which of them it has read cannot
// be known, so that the other replaces the usual way only; a way that
// the peer has shown to need stays.
func (m *AnswerDialects) ReadBy(who, trait string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.of(who)
	if known.read {
		return
	}
	known.read = true
	if known.way == 0 {
		known.way = max(slices.Index(ways, trait), 0)
	}
}
