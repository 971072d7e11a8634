package conformance

import (
	"sync"
	"time"
)

// board is where a side writes down what its stations hear. Checks wait on it.
type board struct {
	mu     sync.Mutex
	change chan struct{} // closed and replaced when something was written
}

func newBoard() board { return board{change: make(chan struct{})} }

// notify wakes who waits for something to be heard. The lock is held.
func (b *board) notify() {
	close(b.change)
	b.change = make(chan struct{})
}

// until waits until something holds of what was heard, under the lock, and
// reports whether it came to that.
func (b *board) until(within time.Duration, holds func() bool) bool {
	late := time.NewTimer(within)
	defer late.Stop()
	for {
		b.mu.Lock()
		done, change := holds(), b.change
		b.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-change:
		case <-late.C:
			return false
		}
	}
}
