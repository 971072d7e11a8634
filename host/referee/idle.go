package referee

import (
	"fmt"
	"time"
)

// touch notes that something has happened in the league.
func (r *Referee) touch() { r.last.Store(int64(time.Since(r.began))) }

// idling returns what tells that it is time to see whether the league has ended
// without a word, and what ends that; nil if that is not to be seen.
func (r *Referee) idling() (<-chan time.Time, func()) {
	if r.cfg.IdleExit <= 0 {
		return nil, func() {}
	}
	ticker := time.NewTicker(max(r.cfg.IdleExit/4, time.Millisecond))
	return ticker.C, ticker.Stop
}

// deserted reports whether the agent has conducted matches, conducts none, and
// has heard nothing for so long that nothing will come any more.
func (r *Referee) deserted() bool {
	silence := time.Since(r.began) - time.Duration(r.last.Load())
	if silence < r.cfg.IdleExit || r.conducting.Load() > 0 {
		return false
	}
	done, _ := r.conducted()
	if done == 0 {
		return false
	}
	r.tell(Event{Kind: Deserted, Matches: done})
	return true
}

// conducted returns how many matches of the league the agent has brought to an
// end, and how many of their reports the manager has not taken.
func (r *Referee) conducted() (done, owed int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.matches {
		if told, reported := b.progress(); told {
			done++
			if !reported {
				owed++
			}
		}
	}
	return done, owed
}

// quit is the error of a referee that leaves a silent league: none, unless it
// still owes reports.
func (r *Referee) quit() error {
	if done, owed := r.conducted(); owed > 0 {
		return fmt.Errorf("the manager at %s has been silent for %v and has not taken %d of %d reports", r.cfg.Manager.URL, r.cfg.IdleExit, owed, done)
	}
	return nil
}
