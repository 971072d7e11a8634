package referee

import (
	"context"
	"sync"
)

// place is the right of a match to be one of Config.Concurrent. A match gives it back when an
// attempt to invite a player fails, so that no number of dead endpoints holds up the matches of
// others, and takes it again before it asks for choices. A nil place gives nothing back.
type place struct {
	of chan struct{} // of the referee

	mu   sync.Mutex
	held bool
}

// take waits for the place, unless the match has it.
func (p *place) take(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held {
		return nil
	}
	select {
	case p.of <- struct{}{}:
		p.held = true
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// give gives the place back, if the match has it.
func (p *place) give() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held {
		p.held = false
		<-p.of
	}
}
