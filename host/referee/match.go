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
func (b *match) outdated(a *assignment) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.play.Phase() == game.Finished {
		return false
	}
	for side, k := range b.keys {
		if b.endpoints[side] != a.Endpoints[side] || b.dialects[side] != a.Dialects[side] || k.Send != a.Keys[side].Send || k.Expect != a.Keys[side].Expect {
			return true
		}
	}
	return false
}

// contact returns where a side is reached and the keys spoken with.
func (b *match) contact(side int) (endpoint string, keys credential.KeyPair) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.endpoints[side], b.keys[side]
}

// dialect returns the name of the dialect that a side speaks, empty if it is by
// the book.
func (b *match) dialect(side int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dialects[side]
}

// updateContacts takes on how the players are reached by a repeated assignment.
func (b *match) updateContacts(a *assignment) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endpoints, b.keys, b.dialects = a.Endpoints, a.Keys, a.Dialects
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
func (b *match) expect(side int, kind protocol.Type, stop context.CancelFunc) *expected {
	e := &expected{kind: kind, got: make(chan posted, 1), stop: stop}
	b.mu.Lock()
	b.waiting[side] = e
	b.mu.Unlock()
	return e
}

func (b *match) stopExpecting(side int) {
	b.mu.Lock()
	b.waiting[side] = nil
	b.mu.Unlock()
}

// deliver hands over an answer that was posted. It reports whether the answer
// was waited for; a late one, or a second one, is not.
func (b *match) deliver(side int, kind protocol.Type, p posted) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.waiting[side]
	if e == nil || e.kind != kind {
		return false
	}
	b.waiting[side] = nil
	e.got <- p
	e.stop()
	return true
}

// enter begins to play, unless somebody does already or there is nothing left
// to do.
func (b *match) enter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running || b.reported {
		return false
	}
	b.running = true
	return true
}

func (b *match) leave(reported bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running, b.reported = false, reported
}

// reportAgain makes a match whose report the manager has lost ready to be
// reported again.
func (b *match) reportAgain() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.running {
		b.reported = false
	}
}

// setOnce sets a flag of the match, and reports whether it was not set yet.
func (b *match) setOnce(flag *bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := *flag
	*flag = true
	return !was
}

// change applies a step to the match's state.
func (b *match) change(step func(p *game.Play) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return step(&b.play)
}

// state returns a copy of the match's state.
func (b *match) state() game.Play {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.play
}

// progress reports whether the match has been brought to its end, and whether
// its report has been taken.
func (b *match) progress() (told, reported bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.notified || b.reported, b.reported
}
