package referee

import (
	"context"
	"sync"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// assignment is a match as the manager assigns it.
type assignment struct {
	League       string                `json:"league_id"`
	Match        string                `json:"match_id"`
	Round        int                   `json:"round_id"`
	Conversation string                `json:"conversation_id"` // of all messages to its players
	Players      [2]string             `json:"players"`         // A, B
	Endpoints    [2]string             `json:"endpoints"`
	Keys         [2]credential.KeyPair `json:"keys"`
	Dialects     [2]string             `json:"dialects,omitzero"` // of the players, where they do not speak the standard one
}

// match is one match. What it is about never changes; how its players are
// reached, and the rest, is guarded by its lock.
type match struct {
	League       string
	Match        string
	Round        int
	Conversation string
	Players      [2]string

	mu        sync.Mutex
	endpoints [2]string
	keys      [2]credential.KeyPair
	dialects  [2]string
	play      game.Play
	waiting   [2]*expected // what each side is expected to answer
	unjoined  [2]bool      // it has acknowledged its invitation and not joined
	running   bool
	recorded  bool // its result is journaled
	notified  bool // GAME_OVER has been sent
	reported  bool
}

func newMatch(a *assignment) *match {
	return &match{
		League: a.League, Match: a.Match, Round: a.Round, Conversation: a.Conversation, Players: a.Players,
		endpoints: a.Endpoints, keys: a.Keys, dialects: a.Dialects,
	}
}

// outdated reports whether an assignment says something new of a match that is
// not finished: the players' endpoints or the keys have changed.
func (m *match) outdated(a *assignment) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.play.Phase() == game.Finished {
		return false
	}
	for side, k := range m.keys {
		if m.endpoints[side] != a.Endpoints[side] || m.dialects[side] != a.Dialects[side] || k.Send != a.Keys[side].Send || k.Expect != a.Keys[side].Expect {
			return true
		}
	}
	return false
}

// contact returns where a side is reached, the name of the dialect that it
// speaks, empty if it is by the book, and the keys spoken with.
func (m *match) contact(side int) (endpoint, dialect string, keys credential.KeyPair) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.endpoints[side], m.dialects[side], m.keys[side]
}

// updateContacts takes on how the players are reached by a repeated assignment.
func (m *match) updateContacts(a *assignment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.endpoints, m.keys, m.dialects = a.Endpoints, a.Keys, a.Dialects
}

// expected is an answer that may come in two ways: as the answer to a request,
// or posted by the player.
type expected struct {
	kind protocol.Type
	got  chan posted
	stop context.CancelFunc // ends the request, which is no longer needed
}

// posted is an answer that a player has posted: a message, or an
// invalid choice.
type posted struct {
	message protocol.Message
	err     error
}

// expect says that a side is about to be asked for something, until the
// answer has been had or given up.
func (m *match) expect(side int, kind protocol.Type, stop context.CancelFunc) *expected {
	e := &expected{kind: kind, got: make(chan posted, 1), stop: stop}
	m.mu.Lock()
	m.waiting[side] = e
	m.mu.Unlock()
	return e
}

func (m *match) stopExpecting(side int) {
	m.mu.Lock()
	m.waiting[side] = nil
	m.mu.Unlock()
}

// deliver hands over an answer that was posted. It reports whether the answer
// was waited for; a late one, or a second one, is not, except the late join of a
// player that has been called on without it.
func (m *match) deliver(side int, kind protocol.Type, p posted) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.waiting[side]
	if e == nil || e.kind != kind {
		return kind == protocol.TypeGameJoinAck && m.unjoined[side]
	}
	m.waiting[side] = nil
	e.got <- p
	e.stop()
	return true
}

// enter begins to play, unless somebody does already or there is nothing left
// to do.
func (m *match) enter() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running || m.reported {
		return false
	}
	m.running = true
	return true
}

func (m *match) leave(reported bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running, m.reported = false, reported
}

// reportAgain makes a match whose report the manager has lost ready to be
// reported again.
func (m *match) reportAgain() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.running {
		m.reported = false
	}
}

// setOnce sets a flag of the match, and reports whether it was not set yet.
func (m *match) setOnce(flag *bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	was := *flag
	*flag = true
	return !was
}

// change applies a step to the match's state.
func (m *match) change(step func(p *game.Play) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return step(&m.play)
}

// state returns a copy of the match's state.
func (m *match) state() game.Play {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.play
}

// progress reports whether the match has been brought to its end, and whether
// its report has been taken.
func (m *match) progress() (told, reported bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.notified || m.reported, m.reported
}
