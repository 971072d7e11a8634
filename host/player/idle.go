package player

import (
	"context"
	"time"
)

// idling returns what tells that it is time to see whether the league has ended
// without a word, and what ends that; nil if that is not to be seen.
func (p *Player) idling() (<-chan time.Time, func()) {
	if p.cfg.IdleExit <= 0 {
		return nil, func() {}
	}
	ticker := time.NewTicker(max(p.cfg.IdleExit/4, time.Millisecond))
	return ticker.C, ticker.Stop
}

// deserted reports whether the agent has played and heard nothing since for so
// long that nothing will come any more, and ends the league then.
func (p *Player) deserted(ctx context.Context) bool {
	p.mu.Lock()
	s := p.season
	played := s.stand.Played > 0
	for _, m := range s.matches {
		played = played || m.asked
	}
	over := s.completed
	p.mu.Unlock()
	silence := time.Since(p.began) - time.Duration(p.last.Load())
	if silence < p.cfg.IdleExit || !played && !over {
		return false
	}
	p.conclude(ctx, Deserted, 0)
	return true
}
