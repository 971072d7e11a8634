package referee

import (
	"context"
	"reflect"
	"sync"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// assignment is a match as the manager assigns it.
type assignment struct {
	League       string    `json:"league_id"`
	Match        string    `json:"match_id"`
	Round        int       `json:"round_id"`
	Conversation string    `json:"conversation_id"` // of all messages to its players
	Players      [2]string `json:"players"`         // A, B
	contacts
	DrawKey string `json:"draw_key,omitzero"` // of a verifiable draw; that of the first assignment counts
}

// contacts is how the players of a match, A and B, are reached and treated.
type contacts struct {
	Endpoints [2]string             `json:"endpoints"`
	Keys      [2]credential.KeyPair `json:"keys"`              // spoken with
	Dialects  [2]string             `json:"dialects,omitzero"` // where they do not speak the standard one
	Forfeits  [2]bool               `json:"forfeits,omitzero"` // a player is not asked, and loses
	Absent    [2]bool               `json:"absent,omitzero"`   // it did not answer lately, and is asked to join once
}

// match is one match. What it is about never changes; its contacts, and the rest, are
// guarded by its lock.
type match struct {
	assignment

	mu       sync.Mutex
	play     game.Play
	proof    proof
	waiting  [2]*expected          // what each side is expected to answer
	telling  [2]context.CancelFunc // ends the wait for a side to hear the result
	unjoined [2]bool               // it has acknowledged its invitation and not joined
	running  bool
	recorded bool // its result is journaled
	notified bool // GAME_OVER has been sent
	reported bool
}

func newMatch(a *assignment) *match {
	return &match{assignment: *a, proof: proof{key: a.DrawKey}}
}

// outdated reports whether an assignment says something new of a match that is
// not finished: the players' endpoints, the keys or how a player is treated have changed.
func (m *match) outdated(a *assignment) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	was, now := m.contacts, a.contacts
	return m.play.Phase() != game.Finished && !reflect.DeepEqual(was, now)
}

// reach returns how the players are reached and treated now.
func (m *match) reach() contacts {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.contacts
}

// updateContacts takes on how the players are reached by a repeated assignment.
func (m *match) updateContacts(a *assignment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.contacts = a.contacts
	for side, forfeits := range m.Forfeits {
		if e := m.waiting[side]; forfeits && e != nil {
			e.stop()
		}
		if stop := m.telling[side]; forfeits && stop != nil {
			stop()
		}
	}
}

// await says how the wait for a side to hear the result can be ended; nil that it has ended.
func (m *match) await(side int, stop context.CancelFunc) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.telling[side] = stop
	if stop != nil && m.Forfeits[side] {
		stop()
	}
}

// expected is an answer that may come in two ways: as the answer to a request,
// or posted by the player.
type expected struct {
	kind protocol.Type
	got  chan posted
	stop context.CancelFunc // ends the request, which is no longer needed
}

// posted is an answer that a player has posted: a message, or an invalid choice.
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
	if m.Forfeits[side] {
		stop()
	}
	m.mu.Unlock()
	return e
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

// enter begins to play, unless somebody does already or there is nothing left to do.
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

// reportAgain makes a match whose report the manager has lost ready to be reported again.
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
