package referee

import (
	"context"
	"sync"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// assignment is a match as the manager hands it out.
type assignment struct {
	League    string              `json:"league_id"`
	Match     string              `json:"match_id"`
	Round     int                 `json:"round_id"`
	Players   [2]string           `json:"players"` // A, B
	Endpoints [2]string           `json:"endpoints"`
	Keys      [2]protocol.KeyPair `json:"keys"`
}

// bout is one match under way.
type bout struct {
	assignment

	mu       sync.Mutex
	play     game.Play
	waiting  [2]*expected // what each side is expected to answer
	running  bool
	reported bool
}

// expected is an answer that may come in two ways: as the answer to a request,
// or posted by the player.
type expected struct {
	kind protocol.Type
	got  chan protocol.Message
	stop context.CancelFunc // ends the request, which is no longer needed
}

// side returns the index of a player, or -1.
func (b *bout) side(player string) int {
	for i, id := range b.Players {
		if id == player {
			return i
		}
	}
	return -1
}

// expect says that a side is about to be asked for something.
func (b *bout) expect(side int, kind protocol.Type, stop context.CancelFunc) *expected {
	e := &expected{kind: kind, got: make(chan protocol.Message, 1), stop: stop}
	b.mu.Lock()
	b.waiting[side] = e
	b.mu.Unlock()
	return e
}

func (b *bout) expectNothing(side int) {
	b.mu.Lock()
	b.waiting[side] = nil
	b.mu.Unlock()
}

// deliver hands over an answer that was posted. It reports whether the answer
// was waited for; a late one, or a second one, is not.
func (b *bout) deliver(side int, m protocol.Message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.waiting[side]
	if e == nil || e.kind != m.Head().MessageType {
		return false
	}
	select {
	case e.got <- m:
		e.stop()
		return true
	default:
		return false
	}
}

// enter begins to play, unless somebody does already.
func (b *bout) enter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running {
		return false
	}
	b.running = true
	return true
}

func (b *bout) leave(reported bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running, b.reported = false, reported
}

// reportAgain makes a match whose report the manager has lost ready to be
// reported again; false if it is still under way.
func (b *bout) reportAgain() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running {
		return false
	}
	b.reported = false
	return true
}

// change applies a step to the match's state.
func (b *bout) change(step func(p *game.Play) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return step(&b.play)
}

// state returns a copy of the match's state.
func (b *bout) state() game.Play {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.play
}
